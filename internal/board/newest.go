package board

import (
	"context"
	"errors"
	"slices"
	"time"

	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/workspace"
)

// maxCommits is the number of commits to search for the newest change of a file.
const maxCommits = 500

var errAllFound = errors.New("all paths found")

// NewestChanges returns the newest change of files and directories. For a file with uncommitted content, that is
// the time of the file. For other paths it is the newest commit that changed them, among the last maxCommits
// commits of the branch. A path that none of these commits changed is not in the map.
func NewestChanges(ctx context.Context, w *workspace.Workspace, rep *registry.Report, paths []repo.Path) (map[repo.Path]Change, error) {
	out, err := uncommitted(ctx, w, rep, paths)
	if err != nil {
		return nil, err
	}
	wanted := make(map[repo.Path]bool)
	for _, p := range paths {
		if out[p] == (Change{}) {
			wanted[p] = true
		}
	}
	if len(wanted) == 0 || rep.Head.IsZero() {
		return out, nil
	}
	_, err = w.Git.FirstParents(ctx, rep.Head, maxCommits, func(c repo.Commit) error {
		for i := range c.Changes {
			for p := c.Changes[i].Path; p != ""; p = p.Dir() {
				if !wanted[p] {
					continue
				}
				delete(wanted, p)
				at, _ := time.Parse(time.RFC3339, c.Date) // zero if it is unknown
				out[p] = Change{Commit: c.ID, Subject: c.Subject, At: at}
			}
		}
		if len(wanted) == 0 {
			return errAllFound
		}
		return nil
	})
	if errors.Is(err, errAllFound) {
		err = nil
	}
	return out, err
}

// uncommitted returns the times of those files whose content differs from HEAD.
func uncommitted(ctx context.Context, w *workspace.Workspace, rep *registry.Report, paths []repo.Path) (map[repo.Path]Change, error) {
	snap, err := w.Git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	differs := make(map[repo.Path]bool)
	if !rep.Head.IsZero() {
		staged, err := w.Git.CompareIndex(ctx, rep.Head)
		if err != nil {
			return nil, err
		}
		for i := range staged {
			differs[staged[i].Path] = true
		}
	}
	current := make(map[repo.Path]repo.ID, len(paths))
	for _, p := range paths {
		current[p] = repo.ID{}
	}
	for i := range rep.Verdicts {
		v := &rep.Verdicts[i]
		if _, ok := current[v.RawPath()]; ok {
			current[v.RawPath()] = v.ID
		}
	}
	entries := slices.DeleteFunc(slices.Clone(snap.Index.Entries), func(e repo.Entry) bool {
		id, asked := current[e.Path]
		return !asked || id == e.ID && !differs[e.Path] && !rep.Head.IsZero()
	})
	found, err := w.Files.Stat(ctx, entries)
	if err != nil {
		return nil, err
	}
	out := make(map[repo.Path]Change)
	for i := range entries {
		if found[i].Presence == repo.RegularFile {
			out[entries[i].Path] = Change{At: time.Unix(0, found[i].Stat.Mtime)}
		}
	}
	return out, nil
}
