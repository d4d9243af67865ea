package registry

import (
	"context"
	"maps"
	"slices"

	"ken/internal/repo"
	"ken/internal/store"
)

// pairExceptions is pair for the usual case that the index is the same as at the last verification. Then only
// paths that differ from the index now, or differed then, can differ from their rows. All other rows match and are
// counted without being read. done is false if the index is another one, if rows may have the md5 of former
// bytes, or if another process changed rows.
func (v *verification) pairExceptions(ctx context.Context) (items []item, done bool, err error) {
	snap := v.view.snap
	if !v.sameIndex() || v.opts.All || v.opts.Paths != nil {
		return nil, false, nil
	}
	if v.view.converts() && !v.dry && !v.opts.Full {
		return nil, false, nil
	}
	tally, err := v.store.Counts(ctx, snap.Worktree)
	if err != nil || tally.Files != len(snap.Index.Entries) {
		return nil, false, err
	}
	rows, all, err := v.exceptional(ctx)
	if err != nil || !all {
		return nil, false, err
	}
	which := make([]int, 0, len(rows))
	for path, row := range rows {
		i, tracked := repo.FindEntry(snap.Index.Entries, path)
		if !tracked {
			return nil, false, nil
		}
		which = append(which, i)
		tally.Add(row, -1)
	}
	slices.Sort(which)
	if v.opts.Full {
		moved, err := v.differing(ctx, which)
		if err != nil {
			return nil, false, err
		}
		more, all, err := v.rowsAt(ctx, moved)
		if err != nil || !all {
			return nil, false, err
		}
		for path, row := range more {
			rows[path] = row
			tally.Add(row, -1)
		}
		which = append(which, moved...)
	}
	if same, err := v.sameRows(ctx, v.session); err != nil || !same {
		return nil, false, err
	}
	v.rep.matches(tally)
	for _, i := range which {
		row := rows[snap.Index.Entries[i].Path]
		if !v.opts.Full && !v.renewed[row.Path] && v.rowIsCurrent(i, row) {
			v.count(i, row)
		} else {
			items = append(items, item{i: i, row: &row})
		}
	}
	return items, true, nil
}

// sameIndex reports whether the rows were verified against the current index and policy.
func (v *verification) sameIndex() bool {
	tree := v.view.snap.Index.Tree
	return v.verified && v.view.policy == v.base.Policy && !tree.IsZero() && tree == v.base.Index
}

// exceptional returns the rows of every path that differs from the index now, or did at the last verification; all
// is false if one of them has no row.
func (v *verification) exceptional(ctx context.Context) (rows map[repo.Path]store.FileRow, all bool, err error) {
	if err := v.loadExceptions(ctx, v.view); err != nil {
		return nil, false, err
	}
	exceptions := v.view.exceptions
	if v.opts.Full {
		// The stored md5 of converted content may be of former bytes.
		if exceptions, err = v.store.Exceptions(ctx, v.view.snap.Worktree, store.MarksUnproven|store.MarkConverted); err != nil {
			return nil, false, err
		}
	}
	var seen []int
	for i := range v.view.states {
		if _, known := exceptions[v.view.snap.Index.Entries[i].Path]; !known {
			seen = append(seen, i)
		}
	}
	for path := range v.renewed {
		i, _ := repo.FindEntry(v.view.snap.Index.Entries, path)
		_, examined := v.view.states[i]
		if _, known := exceptions[path]; !known && !examined {
			seen = append(seen, i)
		}
	}
	rows, all, err = v.rowsAt(ctx, seen)
	if err != nil || !all {
		return nil, false, err
	}
	maps.Copy(rows, exceptions)
	return rows, true, nil
}

// rowsAt returns the rows of some entries; all is false if one has none.
func (v *verification) rowsAt(ctx context.Context, which []int) (rows map[repo.Path]store.FileRow, all bool, err error) {
	paths := make([]repo.Path, len(which))
	for k, i := range which {
		paths[k] = v.view.snap.Index.Entries[i].Path
	}
	rows, err = v.store.RowsOf(ctx, v.view.snap.Worktree, paths)
	return rows, len(rows) == len(paths), err
}

// differing reads all entries except those in but, a sorted list, and returns the entries whose content differs from
// the index. The rows of the others were made from the index and remain valid.
func (v *verification) differing(ctx context.Context, but []int) ([]int, error) {
	entries := v.view.snap.Index.Entries
	var moved []int
	which, wants := make([]int, 0, readBatch), make([]repo.ReadRequest, 0, readBatch)
	flush := func() error {
		got, err := v.files.Read(ctx, wants)
		if err != nil {
			return err
		}
		for k, i := range which {
			if got[k].Err != nil || got[k].Raw.ID != entries[i].ID {
				moved = append(moved, i)
			}
		}
		which, wants = which[:0], wants[:0]
		return nil
	}
	for i := range entries {
		e := &entries[i]
		if len(but) > 0 && but[0] == i {
			but = but[1:]
			continue
		}
		if e.Mode == repo.Gitlink {
			continue
		}
		which = append(which, i)
		wants = append(wants, repo.ReadRequest{Path: e.Path, Known: repo.Content{ID: e.ID}, Seen: v.view.found[i].Stat})
		if len(wants) == readBatch {
			if err := flush(); err != nil {
				return nil, err
			}
			v.Registry.opts.Progress(i, len(entries))
		}
	}
	return moved, flush()
}
