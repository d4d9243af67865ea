package app

import (
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"

	"ken/internal/git"
	"ken/internal/spec"
)

// places lists the directories in which something may happen, for [content.Watch].
func (p *fingerprinter) places(ctx context.Context) []string {
	g, err := git.Open(ctx, p.root)
	if err != nil {
		return nil
	}
	trees, err := g.Checkouts(ctx)
	if err != nil {
		return nil
	}
	dirs := []string{g.CommonDir()}
	for _, name := range databases(g.CommonDir()) {
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
	// When there is no room for all, the one that the server was started in has it.
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
		if s, err := openState(ctx, stateOptions{from: c.Repo.Root()}); err == nil {
			dirs = append(dirs, s.dir.Path())
			_ = s.Close()
		}
		if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
			continue // elsewhere every file of a watched directory is held open
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

// maxWatched is how many directories are watched: systems have room for few more. What
// is not watched is looked at all the same, a little later.
const maxWatched = 2048
