package parse

import "fmt"

// MaxMatches is the most comparisons of globs with paths for one answer: a few seconds. Facts that need more are
// unknown, with the reason. Tests lower it.
var MaxMatches = 20_000_000

// A MatchLimit counts the comparisons of globs with paths for one answer.
type MatchLimit struct{ done int }

// Allow reports whether n more comparisons are allowed, and counts them if so.
func (l *MatchLimit) Allow(n int) bool {
	if l.done+n > MaxMatches {
		return false
	}
	l.done += n
	return true
}

// Reason returns the reason for facts that the limit makes unknown.
func (*MatchLimit) Reason() string {
	return fmt.Sprintf("limit reached: matching all globs takes more than %d comparisons; start globs with a directory, or write fewer", MaxMatches)
}

// Key returns the entry without its spelling. Entries with the same key match the same files.
func (e Entry) Key() Entry { return Entry{Path: e.Path, Kind: e.Kind, Symbol: e.Symbol} }
