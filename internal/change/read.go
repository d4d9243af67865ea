package change

import (
	"context"
	"slices"

	"ken/internal/content"
	"ken/internal/find"
	"ken/internal/git"
	"ken/internal/outline"
	"ken/internal/repo"
)

// readOutlines outlines both versions of the changed files.
func (c *Change) readOutlines(ctx context.Context, t *find.IndexedTree) error {
	var before, after []*repo.File
	var beforeOf, afterOf, untracked []*File
	compared := 0
	for i := range c.Files {
		f := &c.Files[i]
		listed := t.Listed(f.Path)
		f.FileKind = content.KindOf(f.Path, nil)
		if listed != nil {
			f.FileKind = listed.Kind
		}
		isCode := f.FileKind != repo.KindVendored && (outline.MayHaveOutline(f.Path) || outline.MayHaveOutline(f.OldPath()))
		if f.Unmerged || !isCode {
			continue
		}
		if compared == MaxCompared {
			c.Skipped++
			continue
		}
		compared++
		if f.OldMode.SameType(repo.Regular) && !f.Old.IsZero() {
			before = append(before, &repo.File{Path: f.OldPath(), ID: f.Old})
			beforeOf = append(beforeOf, f)
		}
		switch {
		case f.NewMode == 0:
		case listed != nil:
			after = append(after, listed)
			afterOf = append(afterOf, f)
		case !f.New.IsZero():
			untracked = append(untracked, f)
		}
	}
	outlines, refs, err := t.Workspace.OutlinesAndReferences(ctx, before, t.Workspace.ReadBlobs(ctx, before))
	if err != nil {
		return err
	}
	for k, f := range beforeOf {
		f.Before = outlines[k]
		if refs[k] != nil {
			f.Imports = refs[k].Imports
		}
	}
	seen, err := t.Outlines(ctx, after)
	if err != nil {
		return err
	}
	for k, f := range afterOf {
		f.After = seen[k].Outline
	}
	return readUntracked(ctx, t.Workspace.Files, untracked)
}

// readUntracked outlines new files that are not in the index.
func readUntracked(ctx context.Context, disk *content.Tree, files []*File) error {
	paths := make([]repo.Path, len(files))
	for k, f := range files {
		paths[k] = f.Path
	}
	return disk.Bytes(ctx, paths, outline.MaxBytes, func(k int, b []byte, err error) {
		if err != nil {
			return
		}
		f := files[k]
		f.FileKind = content.KindOf(f.Path, b)
		f.Untracked = true
		o, refs, err := outline.ParseWithReferences(f.Path, b)
		if err != nil {
			return
		}
		f.After = o
		if refs != nil {
			f.NewImports = refs.Imports
		}
	})
}

// readBlob returns a content from git, nil if git does not have it or it is too large.
func readBlob(ctx context.Context, g *git.Repo, id repo.ID) (content []byte) {
	if id.IsZero() {
		return nil
	}
	err := g.EachBlob(ctx, []repo.ID{id}, func(_ int, b []byte, size int64) {
		if size >= 0 && size == int64(len(b)) {
			content = slices.Clone(b)
		}
	})
	if err != nil {
		return nil
	}
	return content
}
