package review

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/content"
	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/repo"
)

const (
	// maxCompared limits the number of changed files whose symbols are compared.
	maxCompared = 2000
	// maxUntracked limits the number of untracked files that are read.
	maxUntracked = 500
)

// compare lists the changed files.
func (c *collector) compare(ctx context.Context) ([]repo.FileChange, error) {
	if !c.span.to.IsZero() {
		return c.Workspace.Git.Compare(ctx, c.span.from, c.span.to)
	}
	staged, err := c.Workspace.Git.CompareIndex(ctx, c.span.from)
	if err != nil {
		return nil, err
	}
	snapshot, err := c.Workspace.Git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	edited, err := c.edited(ctx, snapshot.Index.Entries)
	if err != nil {
		return nil, err
	}
	list := c.withEdits(staged, edited)
	return c.withUntracked(ctx, list)
}

// edited returns the index entries whose file in the work tree is missing or has other content.
func (c *collector) edited(ctx context.Context, entries []repo.Entry) (map[repo.Path]repo.Entry, error) {
	edited := make(map[repo.Path]repo.Entry)
	suspects := make(map[repo.Path]repo.Entry)
	var list []repo.Entry
	for _, e := range entries {
		f := c.t.Listed(e.Path)
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
	paths, err := c.Workspace.Files.Edited(ctx, list)
	for _, p := range paths {
		edited[p] = suspects[p]
	}
	return edited, err
}

// withEdits adds unstaged edits to the staged changes.
func (c *collector) withEdits(staged []repo.FileChange, edited map[repo.Path]repo.Entry) []repo.FileChange {
	var list []repo.FileChange
	for _, f := range staged {
		entry, isEdited := edited[f.Path]
		delete(edited, f.Path)
		if isEdited {
			f = c.asEdited(f, entry)
		}
		unchanged := f.Kind == repo.Modified && f.From == "" && f.Old == f.New && f.OldMode == f.NewMode && !f.Unmerged
		neverWas := f.OldMode == 0 && f.NewMode == 0
		if !unchanged && !neverWas {
			list = append(list, f)
		}
	}
	for _, entry := range edited {
		f := repo.FileChange{Change: repo.Change{Path: entry.Path, Old: entry.ID, New: entry.ID, OldMode: entry.Mode, NewMode: entry.Mode}}
		f.Unmerged = entry.Flags.Has(repo.Conflicted)
		list = append(list, c.asEdited(f, entry))
	}
	sortChanges(list)
	return list
}

// asEdited returns a staged change with the content of the work tree.
func (c *collector) asEdited(f repo.FileChange, entry repo.Entry) repo.FileChange {
	now := c.t.Listed(entry.Path)
	if now != nil {
		f.New = now.ID
		return f
	}
	f.Path = f.OldPath()
	f.Kind, f.New, f.NewMode, f.From = repo.Deleted, repo.ID{}, 0, ""
	return f
}

func sortChanges(list []repo.FileChange) {
	slices.SortFunc(list, func(a, b repo.FileChange) int { return strings.Compare(string(a.Path), string(b.Path)) })
}

// withUntracked adds the new files that git neither tracks nor ignores. A new file with the content of a deleted
// one counts as a rename.
func (c *collector) withUntracked(ctx context.Context, list []repo.FileChange) ([]repo.FileChange, error) {
	paths, err := c.Workspace.Git.Untracked(ctx)
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, func(p repo.Path) bool { return strings.HasSuffix(string(p), "/") })
	if len(paths) == 0 {
		return list, nil
	}
	ids := make([]repo.ID, len(paths))
	some := paths[:min(len(paths), maxUntracked)]
	err = c.Workspace.Files.Bytes(ctx, some, find.MaxBytes, func(i int, b []byte, err error) {
		if err == nil {
			ids[i] = c.Workspace.Git.ObjectFormat().Blob(b)
		}
	})
	if err != nil {
		return nil, err
	}
	deleted := make(map[repo.ID]int)
	at := make(map[repo.Path]int)
	for i := range list {
		if list[i].Kind == repo.Deleted {
			deleted[list[i].Old] = i
			at[list[i].Path] = i
		}
	}
	dropped := make(map[int]bool)
	for k, p := range paths {
		if i, ok := at[p]; ok { // it was only removed from the index
			f := &list[i]
			f.Kind, f.New, f.NewMode = repo.Modified, ids[k], f.OldMode
			dropped[i] = f.New == f.Old
			continue
		}
		if i, ok := deleted[ids[k]]; ok && !ids[k].IsZero() && list[i].Kind == repo.Deleted {
			f := &list[i]
			f.From, f.Path, f.Kind, f.New, f.NewMode = f.Path, p, repo.Modified, f.Old, f.OldMode
			continue
		}
		list = append(list, repo.FileChange{Change: repo.Change{Path: p, Kind: repo.Added, New: ids[k], NewMode: repo.Regular}})
	}
	kept := list[:0]
	for i, f := range list {
		if !dropped[i] {
			kept = append(kept, f)
		}
	}
	sortChanges(kept)
	return kept, nil
}

// readChanges parses both versions of the changed files.
func (c *collector) readChanges(ctx context.Context, list []repo.FileChange) error {
	c.changes = make([]Change, len(list))
	var before, after []*repo.File
	var beforeOf, afterOf, untracked []int
	compared, unmerged := 0, 0
	for i, f := range list {
		change := &c.changes[i]
		change.FileChange = f
		change.FileKind = c.Workspace.Files.KindByName(f.Path)
		listed := c.t.Listed(f.Path)
		if listed != nil {
			change.FileKind = listed.Kind
		}
		if f.Unmerged {
			change.Unread = "its merge is not resolved"
			unmerged++
			continue
		}
		if change.FileKind == repo.KindVendored || !outline.MayHaveOutline(f.Path) && !outline.MayHaveOutline(f.OldPath()) {
			continue
		}
		compared++
		if compared > maxCompared {
			change.Unread = "too many files changed"
			continue
		}
		if f.OldMode.SameType(repo.Regular) && !f.Old.IsZero() {
			before = append(before, &repo.File{Path: f.OldPath(), ID: f.Old})
			beforeOf = append(beforeOf, i)
		}
		switch {
		case f.NewMode == 0:
		case listed != nil:
			after = append(after, listed)
			afterOf = append(afterOf, i)
		case !f.New.IsZero():
			untracked = append(untracked, i)
		}
	}
	if compared > maxCompared {
		c.unknown = append(c.unknown, Unknown{
			Kind:   Broken,
			Reason: fmt.Sprintf("%d files changed; ken compared the symbols of the first %d", compared, maxCompared),
		})
	}
	if unmerged > 0 {
		reason := "1 file has a merge conflict"
		if unmerged > 1 {
			reason = fmt.Sprintf("%d files have merge conflicts", unmerged)
		}
		c.unknown = append(c.unknown, Unknown{Kind: Broken, Reason: reason, Command: "git status"})
	}
	outlines, refs, err := c.Workspace.OutlinesAndReferences(ctx, before, c.Workspace.ReadBlobs(ctx, before))
	if err != nil {
		return err
	}
	for k, i := range beforeOf {
		c.changes[i].Before = outlines[k]
		if refs[k] != nil {
			c.changes[i].Imports = refs[k].Imports
		}
	}
	seen, err := c.t.Outlines(ctx, after)
	if err != nil {
		return err
	}
	for k, i := range afterOf {
		c.changes[i].After = seen[k].Outline
	}
	return c.readUntracked(ctx, untracked)
}

// readUntracked reads new files that are not in the index.
func (c *collector) readUntracked(ctx context.Context, which []int) error {
	paths := make([]repo.Path, len(which))
	for k, i := range which {
		paths[k] = c.changes[i].Path
	}
	return c.Workspace.Files.Bytes(ctx, paths, outline.MaxBytes, func(k int, b []byte, err error) {
		if err != nil {
			return
		}
		change := &c.changes[which[k]]
		change.FileKind = content.KindOf(change.Path, b)
		change.Untracked = true
		o, refs, err := outline.ParseWithReferences(change.Path, b)
		if err != nil {
			return
		}
		change.After = o
		if refs != nil {
			change.NewImports = refs.Imports
		}
	})
}
