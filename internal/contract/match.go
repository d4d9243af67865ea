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

// A rule is a pattern with its literal prefix and suffix. They exclude most names
// without compiling the pattern.
type rule struct {
	Pattern
	prefix, suffix string
	regexp         func() *regexp.Regexp
}

func rulesOf(patterns []Pattern) []rule {
	rules := make([]rule, len(patterns))
	for i, p := range patterns {
		tree, err := syntax.Parse(p.Pattern, syntax.Perl)
		if err != nil {
			panic("contract: " + err.Error()) // Extend rejects such patterns
		}
		first, last := tree, tree
		if tree.Op == syntax.OpConcat {
			first, last = tree.Sub[0], tree.Sub[len(tree.Sub)-1]
		}
		compile := func() *regexp.Regexp { return regexp.MustCompile(anchored(p.Pattern)) }
		rules[i] = rule{Pattern: p, prefix: literal(first), suffix: literal(last), regexp: sync.OnceValue(compile)}
	}
	return rules
}

// anchored makes a pattern match whole names only.
func anchored(pattern string) string { return `\A(?:` + pattern + `)\z` }

// literal returns the only text that re matches, "" if there are several.
func literal(re *syntax.Regexp) string {
	if re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase != 0 {
		return ""
	}
	text := string(re.Rune)
	if strings.ContainsRune(text, utf8.RuneError) { // which matches any broken byte too
		return ""
	}
	return text
}

func (r rule) matches(name string) bool {
	return strings.HasPrefix(name, r.prefix) && strings.HasSuffix(name, r.suffix) && r.regexp().MatchString(name)
}

// matching returns the position of the first rule that matches name, or -1.
func matching(rules []rule, name string) int {
	for i := range rules {
		if rules[i].matches(name) {
			return i
		}
	}
	return -1
}

const (
	maxPattern = 1000   // bytes of a pattern
	maxWork    = 20_000 // instructions of a compiled pattern
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
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, fmt.Errorf("bad pattern: %w", err)
	}
	if len(program.Inst) > maxWork {
		return nil, fmt.Errorf("bad pattern: it repeats too much: %s", text)
	}
	re, err := regexp.Compile(anchored(text))
	if err != nil {
		return nil, err
	}
	for _, name := range meaningless {
		if re.MatchString(name) {
			return nil, fmt.Errorf("the pattern %s matches any name, such as %s; give it a fixed part", text, name)
		}
	}
	return re, nil
}

// meaningless are names that no pattern means. A pattern that matches one of them would put all
// files into its bucket.
var meaningless = []string{"Q7xq4Zw8", "Q7x-q4_Z.w8"}
