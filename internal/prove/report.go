package prove

import (
	"fmt"
	"slices"

	"ken/internal/repo"
)

// A Report is what came of a history.
type Report struct {
	Commits Commits `json:"commits"`
	// Files and Directories are how many there is a text about in the end.
	Files       int `json:"files"`
	Directories int `json:"directories"`

	Changes Grades    `json:"changes"` // of all files whose bytes changed
	Spreads Spreads   `json:"per_commit"`
	Net     Net       `json:"net"`
	Worst   []Outcome `json:"worst"` // of all commits, the worst first
	Assumed Assumed   `json:"assumed"`
	Method  string    `json:"method"`
	History []Outcome `json:"history"` // the oldest first
}

// Commits counts the commits of a history.
type Commits struct {
	Asked    int     `json:"asked"`
	Replayed int     `json:"replayed"` // all but those that are unknown
	Unknown  int     `json:"unknown"`  // contents are missing to tell
	Cut      bool    `json:"cut"`      // a shallow clone ends before as many as were asked for
	Whole    bool    `json:"whole"`    // the history has no more of them
	Valid    int     `json:"valid"`    // of those replayed, how many left everything true
	Lost     int     `json:"lost"`     // in how many the briefs were longer than all neighbours
	First    repo.ID `json:"first"`
	Last     repo.ID `json:"last"`
}

// Spreads are the figures of single commits.
type Spreads struct {
	Stale      Spread `json:"stale"` // texts of any sort
	StaleFiles Spread `json:"stale_files"`
	ByByte     Spread `json:"by_byte"`
	StaleSelf  Spread `json:"stale_self"`
	StaleBelow Spread `json:"stale_below"`
	Refresh    Spread `json:"refresh_tokens"`
	Reread     Spread `json:"reread_tokens"`
	With       Spread `json:"with_tokens"`
	Without    Spread `json:"without_tokens"`
}

// A Spread is how a figure lies over commits. Median and P90 are figures of a commit, by
// the nearest rank.
type Spread struct {
	Median int64 `json:"median"`
	P90    int64 `json:"p90"`
	Max    int64 `json:"max"`
	Total  int64 `json:"total"`
}

func spread(list []Outcome, of func(*Outcome) int64) Spread {
	var s Spread
	var values []int64
	for i := range list {
		if !list[i].Unknown {
			values = append(values, of(&list[i]))
			s.Total += values[len(values)-1]
		}
	}
	if len(values) == 0 {
		return s
	}
	slices.Sort(values)
	rank := func(percent int) int64 { return values[(len(values)*percent+99)/100-1] }
	s.Median, s.P90, s.Max = rank(50), rank(90), values[len(values)-1]
	return s
}

// Net is what all commits together cost and saved, in tokens.
type Net struct {
	Briefs     int64 `json:"brief_tokens"`
	Neighbours int64 `json:"neighbour_tokens"`
	// Describe is what a model takes to describe everything once as it is in the
	// end. It is in no balance.
	Describe int64 `json:"describe_tokens"`
	// Above is how much of Model's refresh went into directories that were stale
	// from below alone. Texts that keep their words would spare most of it.
	Above   int64   `json:"above_tokens"`
	Outline Balance `json:"outline"` // texts are outlines, which cost no token
	Model   Balance `json:"model"`   // a model writes them, and reads what changed
	Reread  Balance `json:"reread"`  // a model writes them, and reads all files of a directory
}

// A Balance is what is left of the savings.
type Balance struct {
	Refresh int64 `json:"refresh_tokens"`
	All     int64 `json:"if_all_neighbours"` // had all neighbours been read without it
	None    int64 `json:"if_no_neighbours"`  // had none been
	// Even is from which share of the neighbours on it pays, in percent, rounded
	// up; null when there are no neighbours that could have been read. Beyond 100
	// it never does.
	Even *int64 `json:"even_percent"`
}

func (n *Net) balance(refresh int64) Balance {
	cost := n.Briefs + refresh
	b := Balance{Refresh: refresh, All: n.Neighbours - cost, None: -cost}
	if n.Neighbours > 0 {
		even := (cost*100 + n.Neighbours - 1) / n.Neighbours
		b.Even = &even
	}
	return b
}

// worstListed is how many of the worst commits a report has.
const worstListed = 5

// sum fills in what follows from the history.
func (r *Report) sum() {
	c := &r.Commits
	r.Worst = []Outcome{}
	for i := range r.History {
		o := &r.History[i]
		if c.Last = o.Commit; i == 0 {
			c.First = o.Commit
		}
		if o.Unknown {
			c.Unknown++
			continue
		}
		c.Replayed++
		if o.Valid() {
			c.Valid++
		}
		if o.Briefs > o.Neighbours {
			c.Lost++
		}
		r.Changes = r.Changes.Add(o.Grades)
		r.Net.Briefs += o.Briefs
		r.Net.Neighbours += o.Neighbours
		r.Net.Above += o.Above
	}
	for _, i := range worst(r.History, worstListed) {
		r.Worst = append(r.Worst, r.History[i])
	}
	of := func(f func(*Outcome) int64) Spread { return spread(r.History, f) }
	r.Spreads = Spreads{
		Stale:      of(func(o *Outcome) int64 { return int64(o.Stale()) }),
		StaleFiles: of(func(o *Outcome) int64 { return int64(o.StaleFiles) }),
		ByByte:     of(func(o *Outcome) int64 { return int64(o.ByByte) }),
		StaleSelf:  of(func(o *Outcome) int64 { return int64(o.StaleSelf) }),
		StaleBelow: of(func(o *Outcome) int64 { return int64(o.StaleBelow) }),
		Refresh:    of(func(o *Outcome) int64 { return o.Refresh }),
		Reread:     of(func(o *Outcome) int64 { return o.Reread }),
		With:       of((*Outcome).With),
		Without:    of((*Outcome).Without),
	}
	r.Net.Outline = r.Net.balance(0)
	r.Net.Model = r.Net.balance(r.Spreads.Refresh.Total)
	r.Net.Reread = r.Net.balance(r.Spreads.Reread.Total)
}

// Method says in a paragraph how the figures come about, and what they do not tell.
func method(a Assumed) string {
	return fmt.Sprintf("Every file and directory that policy admits is taken to have a true text before the first commit, and what a commit "+
		"makes stale to be written anew after it; what lies above a text that is written anew counts as stale, which is an upper bound. "+
		"Tokens are estimated at %d bytes each, from at most %d KiB of a file. Before a commit, the files that it touches are read; "+
		"with ken also a brief of %d tokens for each directory touched, without ken the neighbours: the other files of these directories. "+
		"A refresh takes %d tokens for each stale directory, the files without a text (a model that rereads: all files of that directory), "+
		"and %d for each text that is told or written. "+
		"Whether a brief spares anybody the neighbours no history can tell: hence both ends, and the share from which on it pays.",
		a.BytesPerToken, a.ReadBytes>>10, a.Brief, a.Apart+a.Answer, a.Text)
}
