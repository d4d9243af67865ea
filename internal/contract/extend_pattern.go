package contract

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"

	"go.yaml.in/yaml/v3"
)

// pattern returns what adds a pattern to a list. Any two are different, the
// ephemeral ones included: a second would never be asked.
func (m *merger) pattern(list *[]Pattern) func(*yaml.Node, string) error {
	return func(n *yaml.Node, text string) error {
		p := Pattern{Pattern: text}
		err := m.fields(n, "a pattern", []field{
			{"pattern", ignore},
			{"example", m.text(&p.Example)},
			{"use", m.text(&p.Use)},
			{"evict", m.evict(&p.Evict)},
			{"base", m.text(&p.Base)},
		})
		if err != nil {
			return err
		}
		same := func(q Pattern) bool { return q.Pattern == text }
		re, err := compilePattern(text)
		switch {
		case err != nil:
			return wrong(n, "%w", err)
		case slices.ContainsFunc(m.c.Patterns, same) || slices.ContainsFunc(m.c.Ephemeral, same):
			return wrong(n, "the pattern %s is there already", text)
		case p.Example != "" && !re.MatchString(p.Example):
			return wrong(n, "the example %s does not match its pattern %s", p.Example, text)
		}
		*list = append(*list, p)
		m.after(n, func() string {
			if p.Base != "" && !m.listed(p.Base+".md") && !m.listed(p.Base+".json") {
				return fmt.Sprintf("no file is called %s.md or %s.json, the base of %s", p.Base, p.Base, text)
			}
			return ""
		})
		return nil
	}
}

// compilePattern makes ready a pattern that must fit the whole of a name.
func compilePattern(text string) (*regexp.Regexp, error) {
	if text == "" || len(text) > maxPattern {
		return nil, fmt.Errorf("a pattern has from 1 to %d bytes", maxPattern)
	}
	// By itself first: between the anchors, a)|(b would pass.
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

// steps counts, up to about maxWork, what a pattern is compiled into.
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
