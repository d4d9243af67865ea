package survey

import "ken/internal/repo"

// Assumed is what estimates of tokens are made with.
type Assumed struct {
	ReadBytes int64 // the most that is read of one file
	Text      int64 // tokens of a text that is told
	Apart     int64 // tokens of rules and tools, for each directory
	Answer    int64 // tokens of a directory's new text
}

// Assumptions returns what a plan's estimate is made with, for whoever else estimates.
func Assumptions() Assumed {
	return Assumed{ReadBytes: readBytes, Text: tokensPerChild, Apart: tokensApart, Answer: tokensAnswer}
}

// LeftOut reports whether a file is left out of the survey by globs or by rank: itself, or
// with a directory that it is in.
func (o Options) LeftOut(p repo.Path) bool {
	if matches(o.Exclude, p) {
		return true
	}
	for d := p.Dir(); ; d = d.Dir() {
		// What lies below one that is skipped is skipped, however it is ranked.
		if o.Ranks[d] == RankSkip || d != "" && matches(o.Exclude, d) {
			return true
		}
		if d == "" {
			return false
		}
	}
}
