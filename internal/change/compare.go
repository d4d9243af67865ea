package change

import (
	"context"
	"slices"
	"strings"

	"ken/internal/find"
	"ken/internal/repo"
)

// maxUntracked limits the untracked files that are read.
const maxUntracked = 500

// compare lists the files that differ between two trees, sorted by path.
func compare(ctx context.Context, t *find.IndexedTree, r Range) ([]repo.FileChange, error) {
	if !r.To.IsZero() {
		return t.Workspace.Git.Compare(ctx, r.From, r.To)
	}
	staged, err := t.Workspace.Git.CompareIndex(ctx, r.From)
	if err != nil {
		return nil, err
	}
	snapshot, err := t.Workspace.Git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	edited, err := editedEntries(ctx, t, snapshot.Index.Entries)
	if err != nil {
		return nil, err
	}
	list, err := withUntracked(ctx, t, withEdits(t, staged, edited))
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f repo.FileChange) bool {
		unchanged := f.Kind == repo.Modified && f.From == "" && f.Old == f.New && f.OldMode == f.NewMode && !f.Unmerged
		neverWas := f.OldMode == 0 && f.NewMode == 0
		return unchanged || neverWas
	})
	sortByPath(list)
	return list, nil
}

func sortByPath(list []repo.FileChange) {
	slices.SortFunc(list, func(a, b repo.FileChange) int { return strings.Compare(string(a.Path), string(b.Path)) })
}

// editedEntries returns the index entries whose file in the work tree is missing or has other content.
func editedEntries(ctx context.Context, t *find.IndexedTree, entries []repo.Entry) (map[repo.Path]repo.Entry, error) {
	edited := make(map[repo.Path]repo.Entry)
	suspects := make(map[repo.Path]repo.Entry)
	var list []repo.Entry
	for _, e := range entries {
		f := t.Listed(e.Path)
		switch {
		case f != nil && f.ID == e.ID:
		case e.Mode == repo.Gitlink:
			if f != nil && !f.ID.IsZero() { // another commit is checked out in the submodule
				edited[e.Path] = e
			}
		default:
			suspects[e.Path] = e
			list = append(list, e)
		}
	}
	paths, err := t.Workspace.Files.Edited(ctx, list)
	for _, p := range paths {
		edited[p] = suspects[p]
	}
	return edited, err
}

// withEdits adds unstaged edits to the staged changes.
func withEdits(t *find.IndexedTree, staged []repo.FileChange, edited map[repo.Path]repo.Entry) []repo.FileChange {
	list := slices.Clone(staged)
	for i, f := range list {
		if _, isEdited := edited[f.Path]; isEdited {
			delete(edited, f.Path)
			list[i] = asEdited(t, f)
		}
	}
	for p, entry := range edited {
		f := repo.FileChange{Change: repo.Change{Path: p, Old: entry.ID, New: entry.ID, OldMode: entry.Mode, NewMode: entry.Mode}}
		f.Unmerged = entry.Flags.Has(repo.Conflicted)
		list = append(list, asEdited(t, f))
	}
	sortByPath(list)
	return list
}

// asEdited returns a staged change with the content of the work tree.
func asEdited(t *find.IndexedTree, f repo.FileChange) repo.FileChange {
	if now := t.Listed(f.Path); now != nil {
		f.New = now.ID
		return f
	}
	return repo.FileChange{Change: repo.Change{Path: f.OldPath(), Kind: repo.Deleted, Old: f.Old, OldMode: f.OldMode}, Unmerged: f.Unmerged}
}

// withUntracked adds the new files that git neither tracks nor ignores. A new file with the content of a deleted
// one counts as a rename.
func withUntracked(ctx context.Context, t *find.IndexedTree, list []repo.FileChange) ([]repo.FileChange, error) {
	paths, err := t.Workspace.Git.Untracked(ctx)
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, func(p repo.Path) bool { return strings.HasSuffix(string(p), "/") })
	ids := make([]repo.ID, len(paths))
	some := paths[:min(len(paths), maxUntracked)]
	err = t.Workspace.Files.Bytes(ctx, some, find.MaxBytes, func(i int, b []byte, err error) {
		if err == nil {
			ids[i] = t.Workspace.Git.ObjectFormat().Blob(b)
		}
	})
	if err != nil {
		return nil, err
	}
	deleted := make(map[repo.Path]bool)
	withID := make(map[repo.ID]int) // deleted files by content
	for i, f := range list {
		if f.Kind == repo.Deleted {
			deleted[f.Path] = true
			withID[f.Old] = i
		}
	}
	delete(withID, repo.ID{})
	for k, p := range paths {
		if deleted[p] {
			continue // git no longer tracks the file
		}
		i, was := withID[ids[k]]
		if !was || list[i].Kind != repo.Deleted {
			list = append(list, repo.FileChange{Change: repo.Change{Path: p, Kind: repo.Added, New: ids[k], NewMode: repo.Regular}})
			continue
		}
		f := &list[i]
		f.From = f.Path
		f.Change = repo.Change{Path: p, Kind: repo.Modified, Old: f.Old, New: ids[k], OldMode: f.OldMode, NewMode: f.OldMode}
	}
	return list, nil
}
