package prove

import (
	"fmt"
	"slices"

	"ken/internal/repo"
)

// A Report is the result of a replay.
type Report struct {
	Commits Commits `json:"commits"`
	// Files and Directories count the summaries after the last commit.
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
	Replayed int     `json:"replayed"` // all but the unknown ones
	Unknown  int     `json:"unknown"`  // git lacks contents that it takes to tell
	Cut      bool    `json:"cut"`      // a shallow clone has fewer than were asked for
	Whole    bool    `json:"whole"`    // the history has no more of them
	Valid    int     `json:"valid"`    // commits that made nothing stale and added nothing to summarize
	Lost     int     `json:"lost"`     // commits whose briefs were longer than all neighbours
	First    repo.ID `json:"first"`
	Last     repo.ID `json:"last"`
}

// Spreads are the figures of single commits.
type Spreads struct {
	Stale      Spread `json:"stale"` // summaries of files and directories
	StaleFiles Spread `json:"stale_files"`
	ByByte     Spread `json:"by_byte"`
	StaleSelf  Spread `json:"stale_self"`
	StaleBelow Spread `json:"stale_below"`
	Refresh    Spread `json:"refresh_tokens"`
	Reread     Spread `json:"reread_tokens"`
	With       Spread `json:"with_tokens"`
	Without    Spread `json:"without_tokens"`
}

// A Spread describes a figure over all commits. Median and P90 are by nearest rank.
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
	// Describe is the cost of having a model summarize everything once, after the last
	// commit. It is in no balance.
	Describe int64 `json:"describe_tokens"`
	// Above is the part of Model's refresh for directories of which only a subdirectory
	// changed. Summaries that stay the same would save most of it.
	Above   int64   `json:"above_tokens"`
	Outline Balance `json:"outline"` // summaries are outlines, which cost no tokens
	Model   Balance `json:"model"`   // a model writes them and reads what changed
	Reread  Balance `json:"reread"`  // a model writes them and reads all files of a directory
}

// A Balance is savings minus costs.
type Balance struct {
	Refresh int64 `json:"refresh_tokens"`
	All     int64 `json:"if_all_neighbours"` // if an agent reads all neighbours without briefs
	None    int64 `json:"if_no_neighbours"`  // if it reads none
	// Even is the share of the neighbours from which it pays off, in percent, rounded up. It is
	// null when there are no neighbours. Above 100 it never pays off.
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

// worstListed is how many of the worst commits a report lists.
const worstListed = 5

// sum fills in the totals of the history.
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

// method explains in one paragraph how the figures come about, and what they do not tell.
func method(a Assumed) string {
	return fmt.Sprintf("ken assumes that every file and directory that policy admits has a current summary before the first commit, "+
		"and that after each commit the summaries that it made stale are written again. Directories above a rewritten summary count as stale, "+
		"which is an upper bound. Tokens are estimated at %d bytes each, from at most %d KiB of a file. Before a commit, an agent reads the files "+
		"that it touches; with ken also a brief of %d tokens for each touched directory, without ken the neighbours: the other files of these directories. "+
		"A refresh takes %d tokens for each stale directory, the files without a summary (a model that rereads: all files of the directory), "+
		"and %d for each summary that is read or written. "+
		"No history tells whether a brief saves an agent the neighbours: so ken prints both ends, and the share from which it pays off.",
		a.BytesPerToken, a.ReadBytes>>10, a.Brief, a.Apart+a.Answer, a.Text)
}
