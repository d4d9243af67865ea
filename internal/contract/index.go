package contract

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"
)

// An index has lookup tables that are built on first use. Most runs look up a few
// canonical names and need no patterns.
type index struct {
	namesOnce, rulesOnce sync.Once

	names               map[string]int // canonical name to position in Files
	patterns, ephemeral []rule
}

// names returns the position in Files of every canonical name.
func (c *Contract) names() map[string]int {
	c.index.namesOnce.Do(func() {
		c.index.names = make(map[string]int, len(c.Files))
		for i, f := range c.Files {
			c.index.names[f.Name] = i
		}
	})
	return c.index.names
}

// rules returns the allowed and the ephemeral patterns.
func (c *Contract) rules() (patterns, ephemeral []rule) {
	c.index.rulesOnce.Do(func() {
		c.index.patterns = rulesOf(c.Patterns)
		c.index.ephemeral = rulesOf(c.Ephemeral)
	})
	return c.index.patterns, c.index.ephemeral
}

func rulesOf(patterns []Pattern) []rule {
	rules := make([]rule, len(patterns))
	for i, p := range patterns {
		re, err := syntax.Parse(p.Pattern, syntax.Perl)
		if err != nil {
			panic("contract: " + err.Error()) // Extend rejects such patterns
		}
		prefix, suffix := literals(re)
		rules[i] = rule{
			Pattern: p,
			prefix:  prefix,
			suffix:  suffix,
			regexp: sync.OnceValue(func() *regexp.Regexp {
				return regexp.MustCompile(anchored(p.Pattern))
			}),
		}
	}
	return rules
}

// anchored makes a pattern match whole names only.
func anchored(pattern string) string { return `\A(?:` + pattern + `)\z` }

// A rule is a pattern with its literal prefix and suffix. They exclude most names
// without compiling the pattern.
type rule struct {
	Pattern
	prefix, suffix string
	regexp         func() *regexp.Regexp
}

func (r rule) matches(name string) bool {
	return strings.HasPrefix(name, r.prefix) && strings.HasSuffix(name, r.suffix) && r.regexp().MatchString(name)
}

// literals returns the literal prefix and suffix of every match of re.
func literals(re *syntax.Regexp) (prefix, suffix string) {
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	for len(parts) > 0 && parts[0].Op == syntax.OpBeginText {
		parts = parts[1:]
	}
	for len(parts) > 0 && parts[len(parts)-1].Op == syntax.OpEndText {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return "", ""
	}
	return literal(parts[0]), literal(parts[len(parts)-1])
}

// literal returns the only text that re matches, "" if there are several.
func literal(re *syntax.Regexp) string {
	if re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase != 0 {
		return ""
	}
	for _, r := range re.Rune {
		if r == utf8.RuneError { // which matches any broken byte too
			return ""
		}
	}
	return string(re.Rune)
}

const (
	maxPattern = 1000   // bytes of a pattern
	maxWork    = 20_000 // steps of a pattern with its repetitions written out
)

// compilePattern compiles a pattern that must match whole names.
func compilePattern(text string) (*regexp.Regexp, error) {
	if text == "" || len(text) > maxPattern {
		return nil, fmt.Errorf("a pattern has from 1 to %d bytes", maxPattern)
	}
	// Parse it without the anchors first: between them, a)|(b would pass.
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("bad pattern: %w", err)
	}
	if steps(tree) > maxWork {
		return nil, fmt.Errorf("bad pattern: it repeats too much: %s", text)
	}
	re, err := regexp.Compile(anchored(text))
	if err != nil {
		return nil, fmt.Errorf("bad pattern: %w", err)
	}
	return re, nil
}

// steps estimates the size of a compiled pattern, up to about maxWork.
func steps(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+steps(sub), 2*maxWork)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, 2*maxWork)
}
