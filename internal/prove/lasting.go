package prove

import (
	"math"

	"ken/internal/repo"
)

// Lasting says how long what is known lasts, by what it is about.
type Lasting struct {
	Files       Lifetime `json:"files"`       // summaries of files
	Directories Lifetime `json:"directories"` // summaries of directories
	Mentions    Lifetime `json:"mentions"`    // paths that documents mention
}

// A Lifetime describes the texts before the first commit, until each goes stale for the first
// time. A text whose file is deleted is no longer counted from then on: it is not stale.
type Lifetime struct {
	Texts int `json:"texts"`
	Stale int `json:"stale"` // of them, after the last commit
	// Half is the number of commits after which half of the texts are stale; null if
	// fewer went stale.
	Half *int `json:"half_stale_after"`
	// Hold is the share that still holds after the last commit, in percent; null if there is
	// no text.
	Hold *int `json:"hold_percent"`
}

// A cohort is the texts before the first commit, each under the path of what it is about.
type cohort struct {
	size  int
	open  map[repo.Path]bool // neither stale nor gone yet
	ended map[int]ends       // by the number of the commit
}

// ends counts the texts that one commit made stale, and those whose subject it deleted.
type ends struct{ stale, gone int }

func newCohort() cohort {
	return cohort{open: make(map[repo.Path]bool), ended: make(map[int]ends)}
}

func (c *cohort) add(p repo.Path) {
	c.size++
	c.open[p] = true
}

// stale ends a text that a commit made stale.
func (c *cohort) stale(p repo.Path, commit int) {
	if c.open[p] {
		delete(c.open, p)
		e := c.ended[commit]
		e.stale++
		c.ended[commit] = e
	}
}

// leave ends a text that can no longer go stale.
func (c *cohort) leave(p repo.Path, commit int) {
	if c.open[p] {
		delete(c.open, p)
		e := c.ended[commit]
		e.gone++
		c.ended[commit] = e
	}
}

// move has a text go along with a file that moved.
func (c *cohort) move(from, to repo.Path) {
	if c.open[from] {
		delete(c.open, from)
		c.open[to] = true
	}
}

// lasting sums up the cohort after so many commits.
func (c *cohort) lasting(commits int) Lifetime {
	return lifetime(c.size, commits, func(commit int) ends { return c.ended[commit] })
}

// lifetime estimates by Kaplan and Meier which share of some texts holds: each commit leaves
// the share that it left of the texts that could still go stale.
func lifetime(texts, commits int, endsOf func(commit int) ends) Lifetime {
	l := Lifetime{Texts: texts}
	if texts == 0 {
		return l
	}
	holds := 1.0
	followed := texts
	for commit := 1; commit <= commits; commit++ {
		e := endsOf(commit)
		if e.stale > 0 {
			holds *= 1 - float64(e.stale)/float64(followed)
		}
		l.Stale += e.stale
		followed -= e.stale + e.gone
		if holds <= 0.5 && l.Half == nil {
			l.Half = &commit
		}
	}
	percent := int(math.Floor(100*holds + 1e-9))
	l.Hold = &percent
	return l
}

// lastingMentions sums up mentions after so many commits.
func lastingMentions(list []Mention, commits int) Lifetime {
	ended := make(map[int]ends)
	for _, m := range list {
		e := ended[m.Ended]
		switch {
		case m.Ended == 0:
		case m.Stale:
			e.stale++
		default:
			e.gone++
		}
		ended[m.Ended] = e
	}
	return lifetime(len(list), commits, func(commit int) ends { return ended[commit] })
}
