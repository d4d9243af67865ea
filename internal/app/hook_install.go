package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"ken/internal/atomicfile"
	"ken/internal/fault"
	"ken/internal/install"
	"ken/internal/repo"
)

// maxHook is more than any hook, a program with all it needs included.
const maxHook = 64 << 20

// A hooksDir is the directory in which ken's part of the hooks belongs.
type hooksDir struct {
	install.HooksDir
	dir string // its path as the system spells it
}

// Install puts ken's part into the hooks, or takes it out. Everything is decided
// before anything is written; in a dry run, nothing is.
func (h *hookSpace) Install(ctx context.Context, opts install.Options) (*install.HooksResult, error) {
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
	done.Notes, err = h.repo().Notes(place.HooksDir, func(dir repo.Path) (bool, error) { return h.tracks(ctx, dir) })
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

// hooksDir finds where git looks for hooks, or whoever git hands them to, behind all
// links.
func (h *hookSpace) hooksDir(ctx context.Context) (*hooksDir, error) {
	d, err := h.git.HooksDir(ctx)
	if err != nil {
		return nil, err
	}
	looked := install.HooksDir{Path: filepath.ToSlash(d.Path), Scope: d.Scope}
	seat := looked.InstallDir(exists(filepath.Join(d.Path, "h")))
	dir := filepath.FromSlash(seat.Path)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, looked.NoDirectory()
	}
	there := existing(dir)
	real, err := filepath.EvalSymlinks(there)
	if err != nil {
		return nil, fmt.Errorf("find the git hooks: %w", err)
	}
	real = filepath.Join(real, strings.TrimPrefix(dir, there)) // what is yet to be made
	if err := h.repo().CheckLink(seat, filepath.ToSlash(real)); err != nil {
		return nil, err
	}
	seat.Path = filepath.ToSlash(real)
	return &hooksDir{seat, real}, nil
}

// repo is the directories of the repository.
func (h *hookSpace) repo() install.RepoDirs {
	return install.RepoDirs{
		Root:    filepath.ToSlash(h.git.Root()),
		GitDirs: []string{filepath.ToSlash(h.git.CommonDir()), filepath.ToSlash(h.git.GitDir())},
	}
}

// tracks reports whether git tracks anything in a directory.
func (h *hookSpace) tracks(ctx context.Context, dir repo.Path) (bool, error) {
	s, err := h.git.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(s.Index.Entries, func(e repo.Entry) bool { return e.Path.Under(dir) }), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// read looks at what lies at a hook's name. No link is followed, but to see whether
// git would run what it leads to.
func (p *hooksDir) read(name string) (install.Hook, error) {
	place := install.Hook{Name: name}
	root, err := os.OpenRoot(p.dir)
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
		to, err := os.Stat(filepath.Join(root.Name(), name)) // a link may lead out of the root
		return install.HookFile{Kind: install.Link, Exec: err == nil && runs(to)}, nil
	case !info.Mode().IsRegular():
		return install.HookFile{Kind: install.OtherKind}, nil
	}
	content, info, err := readWhole(root, name, maxHook)
	if err != nil {
		return install.HookFile{}, err
	}
	return install.HookFile{Kind: install.Regular, Content: content, Exec: runs(info)}, nil
}

// runs reports whether git would run a hook. On Windows it asks no mode.
func runs(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

// apply does to a hook what was decided, unless it is not any more what was seen.
func (p *hooksDir) apply(s install.HookStep) error {
	if s.Op == install.Nothing {
		return nil
	}
	if err := os.MkdirAll(p.dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(p.dir)
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

// setAside gives a hook its name aside. It keeps the old one until the new hook takes
// it, so that there always is a hook, and never takes a name that is taken; on file
// systems without a second name for a file, it is renamed.
func setAside(root *os.Root, name string) error {
	err := root.Link(name, name+install.AsideSuffix)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return root.Rename(name, name+install.AsideSuffix)
}

// failed says what could not be done, and what to do where the reason is that nobody
// may write there.
func (p *hooksDir) failed(name string, err error) error {
	err = fmt.Errorf("write hook %s: %w", repo.Path(filepath.Join(p.dir, name)), err)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &fault.Error{
			Hint: "make the directory writable (chmod u+w " + fault.Quote(p.dir) + "), or use another one: git config core.hooksPath .githooks",
			Err:  err,
		}
	}
	return err
}
