package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"ken/internal/board"
	"ken/internal/repo"
)

// maxCommits is the number of commits to search for the newest change of a file.
const maxCommits = 500

var errAllFound = errors.New("all paths found")

// changes returns the newest change of files and directories. For a file with uncommitted content, that is
// the time of the file. For other paths it is the newest commit that changed them, among the last maxCommits
// commits of the branch. A path that none of these commits changed is not in the map.
func (d *worktreeReader) changes(ctx context.Context, paths []repo.Path) (map[repo.Path]board.Change, error) {
	out := make(map[repo.Path]board.Change)
	if err := d.uncommitted(ctx, paths, out); err != nil {
		return nil, err
	}
	wanted := make(map[repo.Path]bool)
	for _, p := range paths {
		if out[p] == (board.Change{}) {
			wanted[p] = true
		}
	}
	if len(wanted) == 0 || d.report.Head.IsZero() {
		return out, nil
	}
	_, err := d.files.git.FirstParents(ctx, d.report.Head, maxCommits, func(c repo.Commit) error {
		for i := range c.Changes {
			for p := c.Changes[i].Path; p != ""; p = p.Dir() {
				if !wanted[p] {
					continue
				}
				delete(wanted, p)
				at, _ := time.Parse(time.RFC3339, c.Date) // zero if it is unknown
				out[p] = board.Change{Commit: c.ID, Subject: c.Subject, At: at}
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

// uncommitted adds the times of those files whose content differs from HEAD.
func (d *worktreeReader) uncommitted(ctx context.Context, paths []repo.Path, out map[repo.Path]board.Change) error {
	if _, _, err := d.read(ctx); err != nil {
		return err
	}
	snap, err := d.files.git.Snapshot(ctx)
	if err != nil {
		return err
	}
	differs := make(map[repo.Path]bool)
	if !d.report.Head.IsZero() {
		staged, err := d.files.git.CompareIndex(ctx, d.report.Head)
		if err != nil {
			return err
		}
		for i := range staged {
			differs[staged[i].Path] = true
		}
	}
	current := make(map[repo.Path]repo.ID, len(paths))
	for _, p := range paths {
		current[p] = repo.ID{}
	}
	for i := range d.report.Verdicts {
		v := &d.report.Verdicts[i]
		if _, ok := current[v.RawPath()]; ok {
			current[v.RawPath()] = v.ID
		}
	}
	entries := slices.DeleteFunc(slices.Clone(snap.Index.Entries), func(e repo.Entry) bool {
		id, asked := current[e.Path]
		return !asked || id == e.ID && !differs[e.Path] && !d.report.Head.IsZero()
	})
	found, err := d.files.files.Stat(ctx, entries)
	if err != nil {
		return err
	}
	for i := range entries {
		if found[i].Presence == repo.File {
			out[entries[i].Path] = board.Change{At: time.Unix(0, found[i].Stat.Mtime)}
		}
	}
	return nil
}

// Runs returns the surveys that workers run, nil without a team's store. It asks the server
// only if this command has just reached it; otherwise it returns the last answer. A server
// that does not answer must not delay every command.
func (w *workspace) Runs(ctx context.Context) *board.Part[board.Runs] {
	if w.team == nil {
		return nil
	}
	if !w.team.Visited() {
		var kept board.Runs
		if json.Unmarshal(w.git.LoadMemo(runsMemo), &kept) != nil {
			return nil
		}
		return board.RunsPart(&kept, nil)
	}
	cache := &runsCache{root: w.git.Root()}
	defer cache.close()
	part := cache.part(ctx, runsAnswer)
	if part != nil && part.Known != nil {
		if text, err := json.Marshal(part.Known); err == nil {
			_ = w.git.SaveMemo(runsMemo, text) // without it, the next answer has no runs
		}
	}
	return part
}

// runsMemo is the name under which the last answer about runs is kept.
const runsMemo = "runs"
