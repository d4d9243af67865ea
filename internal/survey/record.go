package survey

import (
	"errors"
	"strings"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey/describe"
	"ken/internal/survey/excerpt"
)

// record makes a record of a draft. It returns an error if the text is not valid.
func (ts *treeStatus) record(it *describe.Item, d describe.Draft, author, recipe string) (*store.DirRecord, error) {
	r := &store.DirRecord{
		Path: it.Path, Basis: it.Basis, Text: strings.TrimSpace(d.Text), Author: excerpt.OneLine(author), Recipe: recipe,
		At: ts.stamp(it.Path), Partial: d.Partial, Flags: d.Flags,
	}
	if d.Keep {
		if it.Old == nil {
			return nil, errors.New("there was no summary to keep: submit a text")
		}
		r.Text, r.Author, r.Confirmer = it.Old.Text, it.Old.Author, excerpt.OneLine(author)
		if !it.Old.IsOutline() { // an outline that the author checked gets the new recipe
			r.Recipe = it.Old.Recipe
		}
		r.Flags = append(flagsOf(it.Old), r.Flags...)
		return r, describe.CheckText(r.Text)
	}
	if !r.IsOutline() {
		return r, describe.CheckSummary(r.Text)
	}
	return r, describe.CheckText(r.Text)
}

// stamp returns the time for a new record of a directory. It is later than that of all its records, even if they
// were written with another clock.
func (ts *treeStatus) stamp(p repo.Path) time.Time {
	var earlier []time.Time
	for _, r := range ts.latest[p] {
		earlier = append(earlier, r.At)
	}
	return fresh.TimeAfter(ts.opts.Now(), earlier...)
}
