package survey

import "ken/internal/enum"

// A Rank says how a survey treats a directory, and when.
type Rank int

// The ranks, in the order of work. The zero value is no rank.
const (
	rankUnset    Rank = iota
	RankPriority      // described before all others
	RankNormal        // described in the usual order
	RankShallow       // described after all others, with less input
	RankSkip          // left out
)

var rankNames = enum.Names[Rank]{"", "priority", "normal", "shallow", "skip"}

func (r Rank) String() string { return rankNames.String(r) }

// MarshalText writes the rank's name.
func (r Rank) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the rank's name.
func (r *Rank) UnmarshalText(b []byte) error { return rankNames.Parse(b, r) }

// rank sets the ranks of a directory and everything below it. A rank applies to the whole subtree, unless a
// directory in it has its own. The order of work differs: directories below a ranked one come with it or before it,
// and a directory without a rank waits for those below it.
func (o Options) rank(d *Directory, treated, band Rank) {
	if r, ok := o.Ranks[d.Path]; ok && treated != RankSkip {
		treated = r
	}
	d.rank = treated
	if d.rank == rankUnset {
		d.rank = RankNormal
	}
	d.band = min(d.rank, band)
	if treated != rankUnset {
		band = d.band
	}
	for _, c := range d.Children {
		o.rank(c, treated, band)
		if treated == rankUnset && c.band != RankSkip {
			d.band = max(d.band, c.band)
		}
	}
}
