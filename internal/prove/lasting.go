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

// A Lifetime describes the first text about each file or directory, from the commit that it was
// written after until the commit that made it stale. A text whose file is deleted, and one that
// is fresh after the last commit, count for as long as they were followed.
type Lifetime struct {
	Texts int `json:"texts"`
	Stale int `json:"stale"` // of them, after the last commit
	// Half is the number of commits after which half of the texts are stale; null if
	// fewer went stale.
	Half *int `json:"half_stale_after"`
	// Hold is the share that holds after as many commits as were replayed, in percent; null if
	// there is no text.
	Hold *int `json:"hold_percent"`
}

// A cohort is texts that are followed until they go stale for the first time, each under the
// path of what it is about.
type cohort struct {
	size int
	born map[repo.Path]int // of those that are fresh: the number of the commit after which they were written
	ends map[int]ends      // by age, in commits
}

// ends counts the texts that went stale at an age, and those that were followed no further.
type ends struct{ stale, left int }

func newCohort() cohort {
	return cohort{born: make(map[repo.Path]int), ends: make(map[int]ends)}
}

// add begins to follow a text that was written after a commit, 0 for before the first.
func (c *cohort) add(p repo.Path, commit int) {
	if _, ok := c.born[p]; !ok {
		c.size++
		c.born[p] = commit
	}
}

// stale ends a text that a commit made stale.
func (c *cohort) stale(p repo.Path, commit int) { c.end(p, commit, ends{stale: 1}) }

// leave ends a text that can no longer go stale.
func (c *cohort) leave(p repo.Path, commit int) { c.end(p, commit, ends{left: 1}) }

func (c *cohort) end(p repo.Path, commit int, how ends) {
	born, ok := c.born[p]
	if !ok {
		return
	}
	delete(c.born, p)
	age := commit - born
	e := c.ends[age]
	c.ends[age] = ends{e.stale + how.stale, e.left + how.left}
}

// move has a text go along with a file that moved.
func (c *cohort) move(from, to repo.Path) {
	if born, ok := c.born[from]; ok {
		delete(c.born, from)
		c.born[to] = born
	}
}

// lasting ends all texts after the last commit, and sums up.
func (c *cohort) lasting(commits int) Lifetime {
	for p := range c.born {
		c.leave(p, commits)
	}
	return lifetime(c.size, commits, c.ends)
}

// lifetime estimates by Kaplan and Meier which share of some texts holds: at each age, the share
// of the texts of that age that stayed fresh. Texts that leave are counted for as long as they
// were followed.
func lifetime(texts, commits int, byAge map[int]ends) Lifetime {
	l := Lifetime{Texts: texts}
	if texts == 0 {
		return l
	}
	holds := 1.0
	followed := texts
	for age := 0; age <= commits; age++ {
		e := byAge[age]
		if e.stale > 0 {
			holds *= 1 - float64(e.stale)/float64(followed)
		}
		l.Stale += e.stale
		followed -= e.stale + e.left
		if holds <= 0.5 && l.Half == nil {
			l.Half = &age
		}
	}
	percent := int(math.Floor(100*holds + 1e-9))
	l.Hold = &percent
	return l
}

// lastingMentions sums up mentions that were followed through so many commits.
func lastingMentions(list []Mention, commits int) Lifetime {
	byAge := make(map[int]ends)
	for _, m := range list {
		e := byAge[m.Ended]
		switch {
		case m.Ended == 0:
			continue
		case m.Stale:
			e.stale++
		default:
			e.left++
		}
		byAge[m.Ended] = e
	}
	return lifetime(len(list), commits, byAge)
}
