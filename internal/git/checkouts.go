package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/repo"
)

// A Checkout is a work tree of the repository, the main one or a linked one.
type Checkout struct {
	Name string // unique among the checkouts; for people
	Here bool   // this is the opened work tree
	Head repo.Head
	// Err is set if the work tree cannot be read: its directory is missing, or its HEAD is
	// unreadable.
	Err  error
	Repo *Repo // invalid if Err is set
}

// Checkouts lists the work trees of the repository: the main one first, then the others by name. A bare
// repository has no main work tree. In ordinary layouts it starts no process.
func (r *Repo) Checkouts(ctx context.Context) ([]Checkout, error) {
	names, err := r.Worktrees()
	if err != nil {
		return nil, err
	}
	var list []Checkout
	taken := make(map[string]bool)
	for _, name := range names[1:] {
		list = append(list, r.checkout(ctx, name))
		taken[name] = true
	}
	main, ok := r.mainRepo()
	if !ok {
		return list, nil
	}
	c := Checkout{Name: filepath.Base(main.root), Here: main.gitDir == r.gitDir, Repo: main}
	for taken[c.Name] {
		c.Name += " (main)"
	}
	if !c.Here {
		main.foreign, c.Err = checkOwner(ctx, main.root, main.gitDir)
	}
	if c.Err == nil {
		c.Head, c.Err = main.Head(ctx)
	}
	return append([]Checkout{c}, list...), nil
}

// mainRepo returns the Repo of the main work tree; ok is false if there is none or it cannot be found.
func (r *Repo) mainRepo() (main *Repo, ok bool) {
	if r.gitDir == r.common {
		return r, true
	}
	root := filepath.Dir(r.common)
	if tree, moved := r.own.Last("core.worktree"); moved {
		if root = filepath.FromSlash(tree); !filepath.IsAbs(root) {
			root = filepath.Join(r.common, root)
		}
	} else if bare, _ := r.own.Bool("core.bare"); bare || filepath.Base(r.common) != ".git" {
		return nil, false
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, false
	}
	return r.sibling(real, r.common), true
}

// sibling returns the Repo of another work tree of the repository.
func (r *Repo) sibling(root, gitDir string) *Repo {
	return &Repo{
		root: root, gitDir: gitDir, common: r.common, format: r.format, own: r.own, unknownLayout: r.unknownLayout, filter: r.filter,
		detached: gitDir == r.common, trees: map[repo.ID]repo.ID{},
	}
}

// checkout returns a linked worktree by its name.
func (r *Repo) checkout(ctx context.Context, name string) Checkout {
	gitDir := filepath.Join(r.common, "worktrees", name)
	if gitDir == r.gitDir {
		head, err := r.Head(ctx)
		return Checkout{Name: name, Here: true, Head: head, Err: err, Repo: r}
	}
	c := Checkout{Name: name}
	root, err := linkedRoot(gitDir)
	if err != nil {
		c.Err = err
		return c
	}
	linked := r.sibling(root, gitDir)
	if linked.foreign, c.Err = checkOwner(ctx, root, gitDir); c.Err != nil {
		return c
	}
	if c.Head, c.Err = linked.Head(ctx); c.Err == nil {
		c.Repo = linked
	}
	return c
}

// linkedRoot returns the root of a linked worktree. The gitdir file of its git directory names it.
func linkedRoot(gitDir string) (string, error) {
	text, err := readSmall(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		return "", fmt.Errorf("find the directory of worktree %s: %w", filepath.Base(gitDir), cause(err))
	}
	dotGit := filepath.FromSlash(strings.TrimRight(text, "\r\n"))
	if !filepath.IsAbs(dotGit) {
		dotGit = filepath.Join(gitDir, dotGit)
	}
	if _, err := os.Stat(dotGit); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("it does not exist; if you removed it: git worktree prune")
		}
		return "", fmt.Errorf("%s: %w", filepath.Dir(dotGit), cause(err))
	}
	// In a copy of a repository, these files still name the worktrees of the original.
	if back, err := followPointer(dotGit); err != nil || !sameFile(back, gitDir) {
		return "", fmt.Errorf("%s: not a worktree of this repository; if you moved it: git worktree repair", filepath.Dir(dotGit))
	}
	return filepath.EvalSymlinks(filepath.Dir(dotGit))
}

// sameFile reports whether two names lead to one file or directory.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Worktrees lists the names of the worktrees: "" for the main one, then the linked ones, sorted. A worktree with a
// missing directory counts until git prunes it, since the directory may come back.
func (r *Repo) Worktrees() ([]string, error) {
	dir := filepath.Join(r.common, "worktrees")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	names := []string{""}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
