package docs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ken/internal/git"
	"ken/internal/repo"
)

// ErrAbsent says that git knows of a content and does not have it.
var ErrAbsent = errors.New("git does not have its content")

// A Commit is one commit, as a reader recognises it.
type Commit struct {
	ID      repo.ID `json:"commit"`
	Date    string  `json:"date,omitempty"` // RFC 3339
	Subject string  `json:"subject"`
}

// A past is the history behind a work tree.
type past struct {
	*git.Repo
	head     repo.ID // zero while nothing is committed
	contents *git.Contents

	remarks []string
	missing []repo.ID // contents that git does not have
	unsure  bool      // git lacks contents, and does not say which
}

// history returns the commits that HEAD reaches.
func (p *past) history(ctx context.Context) (*history, error) {
	h, err := p.History(ctx, []repo.ID{p.head})
	if err != nil {
		return nil, err
	}
	p.remarks = append(p.remarks, h.Remarks()...)
	reached := h.ReachedFrom(p.head)
	if reached == nil {
		return nil, fmt.Errorf("the history of %s does not contain it", p.head.Short())
	}
	return &history{h, reached, h.Parents()}, nil
}

// filesAt lists the files of a commit.
func (p *past) filesAt(ctx context.Context, commit repo.ID) ([]File, error) {
	entries, err := p.EntriesAt(ctx, commit)
	if err != nil {
		return nil, err
	}
	files := make([]File, len(entries))
	for i, e := range entries {
		files[i] = File{Path: e.Path, ID: e.ID, Mode: e.Mode}
	}
	return files, nil
}

// eachContent calls see with contents in order. One that git does not have is [ErrAbsent], one
// that is not read whole [ErrTooLarge].
func (p *past) eachContent(ctx context.Context, ids []repo.ID, see func(i int, content []byte, err error)) error {
	return p.EachBlob(ctx, ids, func(i int, b []byte, size int64) {
		switch {
		case size < 0:
			p.missing = append(p.missing, ids[i])
			see(i, nil, ErrAbsent)
		case size > int64(len(b)):
			see(i, nil, ErrTooLarge)
		default:
			see(i, b, nil)
		}
	})
}

// removals lists for each commit the paths that it removed.
func (p *past) removals(ctx context.Context, commits []repo.ID) ([][]repo.Removal, error) {
	list, err := p.Removals(ctx, commits)
	for _, removed := range list {
		unsearched := slices.ContainsFunc(removed, func(r repo.Removal) bool { return r.Unsearched })
		p.unsure = p.unsure || unsearched
	}
	return list, err
}

// A history is the part of a repository's history that HEAD reaches.
type history struct {
	*git.History
	reached []bool
	parents repo.ParentTable
}

// Commit returns a commit as the report names it.
func (h *history) Commit(n repo.CommitNumber) Commit {
	c := h.History.Commit(n)
	return Commit{ID: c.ID, Date: c.Date, Subject: c.Subject}
}

// Touching lists the commits that changed a path, ascending.
func (h *history) Touching(path repo.Path) []repo.Touch {
	var list []repo.Touch
	for _, t := range h.History.Touching(path) {
		if int(t.Commit) < len(h.reached) && h.reached[t.Commit] {
			list = append(list, t)
		}
	}
	return list
}
