package prove

import (
	"math"

	"ken/internal/repo"
)

// Lifetimes says how long texts stay fresh, by their kind.
type Lifetimes struct {
	Files       Lifetime `json:"files"`       // summaries of files
	Directories Lifetime `json:"directories"` // summaries of directories
	Mentions    Lifetime `json:"mentions"`    // paths that documents mention
}

// A Lifetime describes the first text about each file or directory, from the commit after which it was written
// until the commit that made it stale. A text whose file is deleted, and one that is fresh after the last commit,
// count for as long as they were followed.
type Lifetime struct {
	Texts int `json:"texts"`
	Stale int `json:"stale"` // those that are stale after the last commit
	// HalfStaleAfter is the number of commits after which half of the texts are stale; null if
	// fewer went stale.
	HalfStaleAfter *int `json:"half_stale_after"`
	// FreshPercent is the share that is fresh after all replayed commits, in percent; null if there is no text.
	FreshPercent *int `json:"hold_percent"`
}

// A cohort is a set of texts that are followed until they become stale for the first time, by the path of their
// file or directory.
type cohort struct {
	size int
	born map[repo.Path]int // for fresh texts: the number of the commit after which they were written
	ends map[int]ends      // by age, in commits
}

// ends counts the texts that became stale at an age, and those that were not followed further.
type ends struct{ stale, left int }

func newCohort() cohort {
	return cohort{born: make(map[repo.Path]int), ends: make(map[int]ends)}
}

// add starts to follow a text that was written after a commit, 0 for before the first.
func (c *cohort) add(p repo.Path, commit int) {
	if _, ok := c.born[p]; !ok {
		c.size++
		c.born[p] = commit
	}
}

// stale ends a text that a commit made stale.
func (c *cohort) stale(p repo.Path, commit int) { c.end(p, commit, ends{stale: 1}) }

// stopFollowing stops following a text that can no longer become stale.
func (c *cohort) stopFollowing(p repo.Path, commit int) { c.end(p, commit, ends{left: 1}) }

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

// move changes the path of a text whose file moved.
func (c *cohort) move(from, to repo.Path) {
	if born, ok := c.born[from]; ok {
		delete(c.born, from)
		c.born[to] = born
	}
}

// lifetime stops following all texts after the last commit and returns their lifetime.
func (c *cohort) lifetime(commits int) Lifetime {
	for p := range c.born {
		c.stopFollowing(p, commits)
	}
	return lifetime(c.size, commits, c.ends)
}

// lifetime returns the Kaplan-Meier estimate of the share of texts that stay fresh. At each age, it counts the
// share of the texts of that age that stayed fresh. Texts that leave count for as long as they were followed.
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
		if holds <= 0.5 && l.HalfStaleAfter == nil {
			l.HalfStaleAfter = &age
		}
	}
	percent := int(math.Floor(100*holds + 1e-9))
	l.FreshPercent = &percent
	return l
}

// mentionLifetime returns the lifetime of mentions that were followed through this many commits.
func mentionLifetime(list []Mention, commits int) Lifetime {
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
