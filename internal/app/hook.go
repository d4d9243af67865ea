package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ken/internal/fresh"
	"ken/internal/git"
	"ken/internal/githook/messagefile"
	"ken/internal/install/disk"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
)

// A gitHooks is a repository for git hooks. It opens stores and indexes only on demand,
// since most commits need none.
type gitHooks struct {
	disk.Hooks
	messagefile.Messages

	git *git.Repo
	dir string // where the command was run
}

func openHooks(ctx context.Context, dir string) (*gitHooks, error) {
	if dir == "" {
		dir = "."
	}
	g, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &gitHooks{
		Hooks:    disk.Hooks{Git: g},
		Messages: messagefile.Messages{Git: g, Dir: dir},
		git:      g,
		dir:      dir,
	}, nil
}

// Gate judges the staged changes. The answer is nil in a repository without specs; ken
// then starts no git.
func (h *gitHooks) Gate(ctx context.Context) (gated *spec.GateResult, strict bool, err error) {
	if some, err := h.hasSpecs(ctx); err != nil || !some {
		return nil, false, err
	}
	w, err := ken.Open(ctx, ken.Options{Dir: h.dir})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	policy := w.Config.Spec
	gated, err = w.Spec().Gate(ctx, spec.GateOptions{Threshold: int(policy.Threshold)})
	return gated, bool(policy.BlockUnknown), err
}

// hasSpecs reports whether the work tree has specs, or the index, since the work tree may
// be sparse.
func (h *gitHooks) hasSpecs(ctx context.Context) (bool, error) {
	_, err := os.Lstat(filepath.Join(h.git.Root(), string(spec.Root)))
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("look for specs: %w", err)
	}
	return h.git.Tracks(ctx, spec.Root)
}

// Close closes the commit at HEAD, and lists only the summaries that this commit made stale. It returns nil if the
// repository was never verified, since a hook does not read every file, and while git replays commits.
func (h *gitHooks) Close(ctx context.Context) (closed *registry.CloseResult, err error) {
	if !exists(filepath.Join(h.git.CommonDir(), "ken", "ken.db")) {
		return nil, nil
	}
	if replay, err := h.git.RebaseInProgress(ctx); err != nil || replay {
		return nil, err
	}
	w, err := ken.Open(ctx, ken.Options{Dir: h.dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if _, verified, err := w.Store.LastVerification(ctx, w.Git.Worktree()); err != nil || !verified {
		return nil, err
	}
	closed, err = w.Registry.Close(ctx, registry.CloseOptions{})
	if err == nil {
		closed.NeedsSummary, err = madeStale(ctx, w, closed)
	}
	return closed, err
}

// madeStale returns those of the stale summaries of a commit that were fresh for the contents that it replaced.
func madeStale(
	ctx context.Context, w *ken.Repository, closed *registry.CloseResult,
) (list []registry.FileNeedingSummary, err error) {
	var paths []repo.Path
	var stale []registry.FileNeedingSummary
	for _, n := range closed.NeedsSummary {
		p, err := n.Raw()
		if err != nil {
			return nil, err
		}
		if n.Summary == fresh.Stale {
			paths = append(paths, p)
			stale = append(stale, n)
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	parent, hasParent, err := w.Git.Resolve(ctx, closed.Commit.String()+"^")
	if err != nil || !hasParent {
		return nil, err
	}
	changes, err := w.Git.TreeChanges(ctx, parent, closed.Commit)
	if err != nil {
		return nil, err
	}
	replaced := make(map[repo.Path]repo.ID)
	removed := make(map[repo.ID]bool)
	for _, c := range changes {
		replaced[c.Path] = c.Old
		removed[c.Old] = removed[c.Old] || c.NewMode == 0
	}
	known, err := w.Registry.Show(ctx, paths)
	if err != nil {
		return nil, err
	}
	since := make([]registry.ContentChange, len(paths))
	for i, p := range paths {
		since[i] = registry.ContentChange{Path: p, From: known[i].ID, To: replaced[p]}
		if removed[known[i].ID] { // the commit renamed the file
			since[i].To = known[i].ID
		}
	}
	grades, err := registry.Grades(ctx, w.Workspace, since)
	if err != nil {
		return nil, err
	}
	for i, c := range since {
		if c.From == c.To || !w.Config.Registry.Counts(grades[i]) {
			list = append(list, stale[i])
		}
	}
	return list, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
