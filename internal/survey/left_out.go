package survey

import (
	"maps"

	"ken/internal/repo"
)

// ownDirs contain ken's own files: its configuration and specs. They are not code.
var ownDirs = []repo.Path{".ken", ".spec"}

// configFile is never part of a basis. It selects the files of a survey, so each change of it would make summaries
// stale.
const configFile repo.Path = ".ken/config.yaml"

// leftOutByDefault is the reason why a directory of ken's own files is left out.
const leftOutByDefault = "left out by default"

// withDefaults returns options that skip ken's own directories. It does not skip one that has a
// rank or contains a directory with a rank.
func (o Options) withDefaults() Options {
	ranks := make(map[repo.Path]Rank, len(o.Ranks)+len(ownDirs))
	for _, own := range ownDirs {
		ranks[own] = RankSkip
		for p := range o.Ranks {
			if p.Under(own) {
				delete(ranks, own)
			}
		}
	}
	maps.Copy(ranks, o.Ranks)
	o.Ranks = ranks
	return o
}
