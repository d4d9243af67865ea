package spec

import "fmt"

// The bounds of one answer. What lies beyond them is unknown, with the reason. They are
// lower in tests.
var (
	// maxMatches is how often globs are compared with paths: a few seconds.
	maxMatches = 20_000_000
	// maxBehind is how many files that were touched are looked at, each once for each
	// node that governs it.
	maxBehind = 500_000
)

// A matchLimit counts how often globs are compared with paths for one answer.
type matchLimit struct{ done int }

// allow reports whether so many comparisons may be done, and counts them if so.
func (l *matchLimit) allow(n int) bool {
	if l.done+n > maxMatches {
		return false
	}
	l.done += n
	return true
}

// reason says why something was left out.
func (*matchLimit) reason() string {
	return fmt.Sprintf("limit reached: matching all globs takes more than %d comparisons; start globs with a directory, or write fewer", maxMatches)
}

// key is what decides which files an entry names, however it was written.
func (e Entry) key() Entry { return Entry{Path: e.Path, Kind: e.Kind, Symbol: e.Symbol} }
