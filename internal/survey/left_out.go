package survey

import "ken/internal/repo"

// LeftOut reports whether a file is left out of the survey by globs or by rank: itself, or
// with a directory that it is in.
func (o Options) LeftOut(p repo.Path) bool {
	if matches(o.Exclude, p) {
		return true
	}
	for d := p.Dir(); ; d = d.Dir() {
		// A skipped directory skips everything below it, whatever rank that has.
		if o.Ranks[d] == RankSkip || d != "" && matches(o.Exclude, d) {
			return true
		}
		if d == "" {
			return false
		}
	}
}
