package spec

import (
	"context"
	"maps"
	"slices"

	"ken/internal/content"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/spec/parse"
	"ken/internal/workspace"
)

// A worktree is a checkout of the repository with its files.
type worktree struct {
	git.Checkout
	files *content.Tree // nil if Err is set
}

// worktrees lists the checkouts of the repository.
func (r *Reader) worktrees(ctx context.Context) ([]worktree, error) {
	checkouts, err := r.ws.Git.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]worktree, len(checkouts))
	for i, c := range checkouts {
		list[i].Checkout = c
		if c.Err == nil {
			list[i].files = content.Open(c.Repo.Root(), content.Options{Format: c.Repo.ObjectFormat()})
		}
	}
	return list, nil
}

// on reports whether the checkout is on a branch.
func (w *worktree) on(branch string) bool {
	return branch != "" && w.Head.Branch == "refs/heads/"+branch
}

// specs returns the spec files of the checkout, as specFiles does.
func (w *worktree) specs(ctx context.Context) ([]repo.LoadedFile, repo.StatDigest, error) {
	return specFiles(ctx, w.files, w.Repo)
}

// changed lists the paths that differ from a commit, sorted: committed, staged, edited and untracked ones. A file that
// was touched and has the same content is not among them.
func (r *Reader) changed(ctx context.Context, w *worktree, since repo.ID) ([]repo.Path, error) {
	snapshot, err := w.Repo.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	paths, err := r.stagedSince(ctx, w, snapshot.Index.Tree, since)
	if err != nil {
		return nil, err
	}
	untracked, err := w.Repo.Untracked(ctx)
	if err != nil {
		return nil, err
	}
	paths = append(paths, untracked...)
	edited, err := w.files.Edited(ctx, snapshot.Index.Entries)
	if err != nil {
		return nil, err
	}
	paths = append(paths, edited...)
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// stagedSince lists the paths that differ between a commit and the index of a checkout. tree is the tree of the index, zero
// if git has not written it. Two trees are compared only once.
func (r *Reader) stagedSince(ctx context.Context, w *worktree, tree, since repo.ID) ([]repo.Path, error) {
	if tree.IsZero() {
		return w.Repo.StagedSince(ctx, since)
	}
	question := since.String() + " " + tree.String()
	differ, err := cachedAnswer(ctx, r.ws, "differing-paths", question, func() (map[repo.Path]bool, bool, error) {
		paths, err := w.Repo.DifferingPaths(ctx, since, tree)
		found := make(map[repo.Path]bool, len(paths))
		for _, p := range paths {
			found[p] = true
		}
		return found, true, err
	})
	if err != nil && ctx.Err() == nil {
		return w.Repo.StagedSince(ctx, since) // the index may name a tree that git never wrote
	}
	return slices.Collect(maps.Keys(differ)), err
}

// specFiles returns the spec files of a checkout, tracked or not, and the digest of their stats. It adds the files that a
// sparse checkout leaves out, as the index has them. The digest is zero then: the files cannot be compared by it.
func specFiles(ctx context.Context, files *content.Tree, g *git.Repo) ([]repo.LoadedFile, repo.StatDigest, error) {
	found, digest, err := files.LoadNamed(ctx, parse.Root, parse.FileName)
	if err != nil || !g.Sparse() {
		return found, digest, err
	}
	loaded := make(map[repo.Path]bool, len(found))
	for _, f := range found {
		loaded[f.Path] = true
	}
	snapshot, err := g.Snapshot(ctx)
	if err != nil {
		return nil, repo.StatDigest{}, err
	}
	var ids []repo.ID
	var paths []repo.Path
	for _, e := range snapshot.Index.Entries {
		missingSpec := e.Flags.Has(repo.SkipWorktree) && parse.IsSpec(e.Path) && !loaded[e.Path]
		if missingSpec && e.Mode.SameType(repo.Regular) {
			ids = append(ids, e.ID)
			paths = append(paths, e.Path)
		}
	}
	absent, err := loadSpecs(ctx, g, paths, ids)
	return append(found, absent...), repo.StatDigest{}, err
}

// loadSpecs reads spec files from git. One whose content git lacks has a problem instead.
func loadSpecs(ctx context.Context, g *git.Repo, paths []repo.Path, ids []repo.ID) ([]repo.LoadedFile, error) {
	lacking, err := g.Lacking(ctx, ids)
	if err != nil {
		return nil, err
	}
	has := slices.DeleteFunc(slices.Clone(ids), func(id repo.ID) bool { return lacking[id] })
	contents, err := g.Blobs(ctx, has)
	if err != nil {
		return nil, err
	}
	files := make([]repo.LoadedFile, len(paths))
	for i, p := range paths {
		files[i] = repo.LoadedFile{Path: p, ID: ids[i]}
		if lacking[ids[i]] {
			files[i].Problem = workspace.LacksContent
			continue
		}
		files[i].Content, contents = contents[0], contents[1:]
	}
	return files, nil
}
