package repo

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits of a glob. Matching tries every alternative of its braces on every path.
const (
	maxGlobBytes        = 1024
	maxGlobBraces       = 64
	maxGlobDepth        = 8
	maxGlobAlternatives = 256
)

// maxGlobs is how many globs one list in the settings may have.
const maxGlobs = 1000

// A GlobError says why a glob is refused.
type GlobError struct {
	Glob string
	Why  string
}

func (e *GlobError) Error() string {
	shown := e.Glob
	if len(shown) > 60 {
		shown = strings.ToValidUTF8(shown[:60], "") + "…"
	}
	return fmt.Sprintf("glob %q %s", shown, e.Why)
}

// CheckGlob returns a [GlobError] for a glob that is malformed, or would take too long to match.
func CheckGlob(glob string) error {
	if err := CheckGlobSize(glob); err != nil {
		return err
	}
	if !doublestar.ValidatePattern(glob) {
		return &GlobError{glob, "is malformed: close every [ and {"}
	}
	return nil
}

// CheckGlobs checks a list of globs, and its length.
func CheckGlobs(globs []string) error {
	if len(globs) > maxGlobs {
		return fmt.Errorf("%d globs in one list, more than %d", len(globs), maxGlobs)
	}
	for _, g := range globs {
		if err := CheckGlob(g); err != nil {
			return err
		}
	}
	return nil
}

// CheckGlobSize returns a [GlobError] for a glob that would take too long to match.
func CheckGlobSize(glob string) error {
	refuse := func(what string, limit int) error {
		return &GlobError{glob, fmt.Sprintf("has more than %d %s", limit, what)}
	}
	if len(glob) > maxGlobBytes {
		return refuse("bytes", maxGlobBytes)
	}
	if strings.Count(glob, "{") > maxGlobBraces {
		return refuse("braces", maxGlobBraces)
	}
	alternatives := 1
	var open []int // alternatives so far of each brace that is open
	for i := range len(glob) {
		last := len(open) - 1
		switch {
		case glob[i] == '{':
			open = append(open, 1)
		case glob[i] == ',' && last >= 0:
			open[last]++
		case glob[i] == '}' && last >= 0:
			alternatives *= open[last]
			open = open[:last]
		}
		if len(open) > maxGlobDepth {
			return refuse("braces inside each other", maxGlobDepth)
		}
		if alternatives > maxGlobAlternatives {
			return refuse("alternatives in its braces", maxGlobAlternatives)
		}
	}
	return nil
}
