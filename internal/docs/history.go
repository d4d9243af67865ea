package docs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ken/internal/docs/mention"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/workspace"
)

// ErrAbsent is returned for a content that git refers to and does not have.
var ErrAbsent = errors.New(workspace.LacksContent)

// A Commit identifies a commit for people.
type Commit struct {
	ID      repo.ID `json:"commit"`
	Date    string  `json:"date,omitempty"` // RFC 3339
	Subject string  `json:"subject"`
}

// A historyReader reads the history of a work tree.
type historyReader struct {
	*git.Repo
	head     repo.ID // zero if there is no commit
	contents *git.Contents

	remark func(...string) // tells the user about a problem with reading the history
	lacks  bool            // git lacks contents
}

// history returns the commits that HEAD reaches.
func (hr *historyReader) history(ctx context.Context) (*history, error) {
	h, err := hr.History(ctx, []repo.ID{hr.head})
	if err != nil {
		return nil, err
	}
	hr.remark(h.Remarks()...)
	reached := h.ReachedFrom(hr.head)
	if reached == nil {
		return nil, fmt.Errorf("the history of %s does not contain it", hr.head.Short())
	}
	return &history{h, reached, h.Parents()}, nil
}

// eachContent calls see with the contents in order. The error is [ErrAbsent] for a content that git does not have,
// and [mention.ErrTooLarge] for one that is too large to read.
func (hr *historyReader) eachContent(ctx context.Context, ids []repo.ID, see func(i int, content []byte, err error)) error {
	return hr.EachBlob(ctx, ids, func(i int, b []byte, size int64) {
		switch {
		case size < 0:
			hr.lacks = true
			see(i, nil, ErrAbsent)
		case size > int64(len(b)):
			see(i, nil, mention.ErrTooLarge)
		default:
			see(i, b, nil)
		}
	})
}

// removals lists the paths that each commit removed.
func (hr *historyReader) removals(ctx context.Context, commits []repo.ID) ([][]repo.Removal, error) {
	list, err := hr.Removals(ctx, commits)
	for _, removed := range list {
		hr.lacks = hr.lacks || slices.ContainsFunc(removed, func(r repo.Removal) bool { return r.Unsearched })
	}
	return list, err
}

// A history is the part of a repository's history that HEAD reaches.
type history struct {
	*git.History
	reached []bool
	parents repo.ParentTable
}

// Commit returns a commit in the form for reports.
func (h *history) Commit(n repo.CommitNumber) Commit {
	c := h.History.Commit(n)
	return Commit{ID: c.ID, Date: c.Date, Subject: c.Subject}
}

// Touching lists the commits that changed a path, in ascending order.
func (h *history) Touching(path repo.Path) []repo.Touch {
	var list []repo.Touch
	for _, t := range h.History.Touching(path) {
		if int(t.Commit) < len(h.reached) && h.reached[t.Commit] {
			list = append(list, t)
		}
	}
	return list
}

// parentOfHead returns the only parent of the newest commit; zero if there are several, or none.
func (h *history) parentOfHead() repo.ID {
	for n := len(h.reached) - 1; n >= 0; n-- {
		if !h.reached[n] {
			continue
		}
		if parents := h.parents.Of(repo.CommitNumber(n)); len(parents) == 1 {
			return h.Commit(parents[0]).ID
		}
		break
	}
	return repo.ID{}
}
