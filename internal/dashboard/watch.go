package dashboard

import (
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"

	"ken/internal/git"
	"ken/internal/spec"
	"ken/internal/statedir"
)

// Places lists the directories to watch, for [content.Watch].
func (p *Fingerprinter) Places(ctx context.Context) []string {
	g, err := git.Open(ctx, p.opts.Root)
	if err != nil {
		return nil
	}
	trees, err := g.Checkouts(ctx)
	if err != nil {
		return nil
	}
	dirs := []string{g.CommonDir()}
	for _, name := range p.databases(g.CommonDir()) {
		dirs = append(dirs, filepath.Dir(name))
	}
	below := func(dir string) {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && len(dirs) < maxWatched {
				dirs = append(dirs, path)
			}
			return nil
		})
	}
	below(filepath.Join(g.CommonDir(), "refs"))
	// If the limit does not allow all worktrees, the worktree of the server comes first.
	if i := slices.IndexFunc(trees, func(c git.Checkout) bool { return c.Here }); i > 0 {
		here := trees[i]
		trees = slices.Insert(slices.Delete(trees, i, i+1), 0, here)
	}
	for _, c := range trees {
		if c.Err != nil {
			continue
		}
		dirs = append(dirs, c.Repo.GitDir())
		below(filepath.Join(c.Repo.Root(), spec.Root))
		if s, err := statedir.Open(ctx, statedir.Options{From: c.Repo.Root()}); err == nil {
			dirs = append(dirs, s.Path())
			_ = s.Close()
		}
		if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
			continue // other systems keep every file of a watched directory open
		}
		idx, err := p.index(ctx, c.Repo)
		if err != nil {
			continue
		}
		for _, d := range idx.dirs {
			if len(dirs) < maxWatched {
				dirs = append(dirs, filepath.Join(c.Repo.Root(), filepath.FromSlash(d)))
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// maxWatched is the largest number of watched directories. Systems allow few more. The dashboard notices changes in
// other directories a little later, by their fingerprint.
const maxWatched = 2048
