package contract

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

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
