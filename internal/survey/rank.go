package survey

import "fmt"

// A Rank is how much a directory matters to a plan.
type Rank int

// The ranks, from the first to be worked on to the last. Its zero value is none.
const (
	rankUnset    Rank = iota
	RankPriority      // before all others
	RankNormal        // as it comes
	RankShallow       // after all others, at a glance
	RankSkip          // not at all
)

var rankNames = [...]string{"", "priority", "normal", "shallow", "skip"}

func (r Rank) String() string {
	if r > rankUnset && int(r) < len(rankNames) {
		return rankNames[r]
	}
	return fmt.Sprintf("Rank(%d)", int(r))
}

// MarshalText writes the rank's name.
func (r Rank) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the rank's name.
func (r *Rank) UnmarshalText(b []byte) error {
	for i, name := range rankNames {
		if i > 0 && name == string(b) {
			*r = Rank(i)
			return nil
		}
	}
	return fmt.Errorf("unknown rank %q (valid: priority, normal, shallow, skip)", b)
}

// rank gives a directory and everything below it their ranks. A rank
// holds for the subtree, unless a directory below has its own. The
// order of work differs: directories below a ranked one come with it or
// before it, and a directory without a rank waits for those below it.
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
