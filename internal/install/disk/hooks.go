package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"ken/internal/atomicfile"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/install"
	"ken/internal/repo"
)

// maxHook is the limit for the size of a hook. Some are large programs.
const maxHook = 64 << 20

// Hooks installs ken in the git hooks of a repository.
type Hooks struct {
	Git *git.Repo
}

// A hooksDir is the directory in which ken installs hooks.
type hooksDir struct {
	install.HooksDir
	dir string // its path as the system spells it
}

// Install adds ken to the hooks, or removes it. It decides all changes before it writes the
// first; in a dry run it writes nothing.
func (h Hooks) Install(ctx context.Context, opts install.Options) (*install.HooksResult, error) {
	place, err := h.hooksDir(ctx)
	if err != nil {
		return nil, err
	}
	var seen []install.Hook
	for _, name := range install.GitHooks {
		p, err := place.read(name)
		if err != nil {
			return nil, err
		}
		seen = append(seen, p)
	}
	plan, err := place.Plan(seen, opts)
	if err != nil {
		return nil, err
	}
	done := h.repo().Result(place.HooksDir, plan, opts)
	if plan.Idle() {
		return done, nil
	}
	done.Notes, err = h.repo().Notes(place.HooksDir, func(dir repo.Path) (bool, error) { return h.Git.Tracks(ctx, dir) })
	if err != nil || opts.DryRun {
		return done, err
	}
	for _, s := range plan {
		if err := place.apply(s); err != nil {
			return nil, place.failed(s.Seen.Name, err)
		}
	}
	return done, nil
}

// hooksDir finds the directory where git, or a hook manager, looks for hooks. It resolves
// links.
func (h Hooks) hooksDir(ctx context.Context) (*hooksDir, error) {
	d, err := h.Git.HooksDir(ctx)
	if err != nil {
		return nil, err
	}
	looked := install.HooksDir{Path: filepath.ToSlash(d.Path), Scope: d.Scope}
	seat := looked.InstallDir(exists(filepath.Join(d.Path, "h")))
	dir := filepath.FromSlash(seat.Path)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, looked.NoDirectory()
	}
	there := git.ExistingDir(dir)
	real, err := filepath.EvalSymlinks(there)
	if err != nil {
		return nil, fmt.Errorf("find the git hooks: %w", err)
	}
	real = filepath.Join(real, strings.TrimPrefix(dir, there)) // directories that do not exist yet
	if err := h.repo().CheckLink(seat, filepath.ToSlash(real)); err != nil {
		return nil, err
	}
	seat.Path = filepath.ToSlash(real)
	return &hooksDir{seat, real}, nil
}

// repo returns the directories of the repository.
func (h Hooks) repo() install.RepoDirs {
	return install.RepoDirs{
		Root:    filepath.ToSlash(h.Git.Root()),
		GitDirs: []string{filepath.ToSlash(h.Git.CommonDir()), filepath.ToSlash(h.Git.GitDir())},
	}
}

// read reads a hook. It follows a link only to see whether git would run the target.
func (h *hooksDir) read(name string) (install.Hook, error) {
	place := install.Hook{Name: name}
	root, err := os.OpenRoot(h.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return place, nil
	}
	if err != nil {
		return place, fmt.Errorf("read the git hooks: %w", err)
	}
	defer root.Close()
	if place.At, err = readHook(root, name); err == nil {
		place.Aside, err = readHook(root, name+install.AsideSuffix)
	}
	if err != nil {
		return place, fmt.Errorf("read hook %s: %w", name, err)
	}
	return place, nil
}

func readHook(root *os.Root, name string) (install.HookFile, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return install.HookFile{}, nil
	case err != nil:
		return install.HookFile{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Stat(filepath.Join(root.Name(), name)) // the target may be outside the root
		return install.HookFile{Kind: install.Link, Exec: err == nil && runs(to)}, nil
	case !info.Mode().IsRegular():
		return install.HookFile{Kind: install.OtherKind}, nil
	}
	content, info, err := atomicfile.ReadIn(root, name, maxHook)
	if err != nil {
		return install.HookFile{}, err
	}
	return install.HookFile{Kind: install.Regular, Content: content, Exec: runs(info)}, nil
}

// runs reports whether git would run a hook. On Windows the mode does not matter.
func runs(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

// apply changes a hook, unless it changed since it was read.
func (h *hooksDir) apply(s install.HookStep) error {
	if s.Op == install.Nothing {
		return nil
	}
	if err := os.MkdirAll(h.dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(h.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	name := s.Seen.Name
	now, err := readHook(root, name)
	if err != nil {
		return err
	}
	if now.Kind != s.Seen.At.Kind || !bytes.Equal(now.Content, s.Seen.At.Content) {
		return &fault.Error{Hint: "run the command again", Err: errors.New("the file changed in the meantime")}
	}
	switch s.Op {
	case install.Create:
		return atomicfile.WriteIn(root, name, s.Text, 0o755)
	case install.Rewrite:
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		return atomicfile.WriteIn(root, name, s.Text, info.Mode().Perm())
	case install.SetAside:
		if err := setAside(root, name); err != nil {
			return err
		}
		return atomicfile.WriteIn(root, name, s.Text, 0o755)
	case install.Remove:
		return root.Remove(name)
	case install.Restore:
		return root.Rename(name+install.AsideSuffix, name)
	default:
		return fmt.Errorf("file operation %d is unknown", s.Op)
	}
}

// setAside renames a hook to its name with [install.AsideSuffix]. It links the file under
// the new name and leaves the old one for the new hook to replace, so that a hook always exists, and
// it overwrites no file. On file systems without hard links, it renames the hook.
func setAside(root *os.Root, name string) error {
	err := root.Link(name, name+install.AsideSuffix)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return root.Rename(name, name+install.AsideSuffix)
}

// failed returns the error for a hook that could not be written, with a hint if the
// directory is read-only.
func (h *hooksDir) failed(name string, err error) error {
	err = fmt.Errorf("write hook %s: %w", repo.Path(filepath.Join(h.dir, name)), err)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &fault.Error{
			Hint: "make the directory writable (chmod u+w " + fault.Quote(h.dir) + "), or use another one: git config core.hooksPath .githooks",
			Err:  err,
		}
	}
	return err
}
