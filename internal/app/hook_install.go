package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/hook"
	"ken/internal/repo"
)

// maxHook is more than any hook, a program with all it needs included.
const maxHook = 64 << 20

// A hooksPlace is the directory in which ken's part of the hooks belongs.
type hooksPlace struct {
	dir     string // canonical, as far as it exists
	sourced bool   // its files are handed to a shell, and need not be executable
	scope   string // of the configuration that names it
}

// Install puts ken's part into the hooks, or takes it out. Everything is decided
// before anything is written; with dry, nothing is.
func (h *hookSpace) Install(ctx context.Context, opts cli.InstallOptions) (*cli.Installation, error) {
	place, err := h.hooksPlace(ctx)
	if err != nil {
		return nil, err
	}
	done := &cli.Installation{Hooks: []cli.HookChange{}, DryRun: opts.DryRun}
	var steps []step
	touched := false
	for _, name := range hook.Names {
		p, err := place.read(name)
		if err != nil {
			return nil, err
		}
		c, err := p.Install()
		if opts.Uninstall {
			c, err = p.Uninstall()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", repo.Path(place.dir), err)
		}
		steps = append(steps, step{p, c})
		touched = touched || c.Deed != hook.Nothing
		done.Hooks = append(done.Hooks, cli.HookChange{Name: name, Path: h.shown(filepath.Join(place.dir, name)), Action: c.Action, Note: c.Note})
	}
	if !touched {
		return done, nil
	}
	if done.Notes, err = h.notes(ctx, place); err != nil {
		return nil, err
	}
	if opts.DryRun {
		return done, nil
	}
	for _, s := range steps {
		if err := place.apply(s); err != nil {
			return nil, place.failed(s.seen.Name, err)
		}
	}
	return done, nil
}

// A step is what is done to a hook, because of what was seen there.
type step struct {
	seen hook.Place
	hook.Change
}

// hooksPlace finds where git looks for hooks, or whoever git hands them to.
func (h *hookSpace) hooksPlace(ctx context.Context) (*hooksPlace, error) {
	d, err := h.git.HooksDir(ctx)
	if err != nil {
		return nil, err
	}
	place := &hooksPlace{dir: d.Path, scope: d.Scope}
	if filepath.Base(d.Path) == "_" && (filepath.Base(filepath.Dir(d.Path)) == ".husky" || exists(filepath.Join(d.Path, "h"))) {
		// Husky writes what lies here anew, and has a shell read what lies above.
		place.dir, place.sourced = filepath.Dir(d.Path), true
	}
	if info, err := os.Stat(place.dir); err == nil && !info.IsDir() {
		return nil, notADirectory(d)
	}
	there := existing(place.dir)
	real, err := filepath.EvalSymlinks(there)
	if err != nil {
		return nil, fmt.Errorf("look for hooks: %w", err)
	}
	real += strings.TrimPrefix(place.dir, there) // what is yet to be made
	// What somebody configured is meant; a link in the repository may lead anywhere.
	if h.inside(place.dir) && !h.inside(real) {
		return nil, &fault.Error{
			Hint: "if that is meant, say so: git config core.hooksPath " + fault.Quote(real),
			Err:  fmt.Errorf("%s leads out of the repository, to %s", h.shown(place.dir), repo.Path(real)),
		}
	}
	place.dir = real
	return place, nil
}

func notADirectory(d git.HooksDir) error {
	hint := "move it away"
	if d.Scope != "" {
		hint = "git runs no hooks as long as core.hooksPath says so; to have it run some: git config --" + d.Scope + " --unset core.hooksPath"
	}
	return &fault.Error{Hint: hint, Err: fmt.Errorf("look for hooks: %s is not a directory", repo.Path(d.Path))}
}

// inside reports whether a path lies in the work tree or in the git directory.
func (h *hookSpace) inside(path string) bool {
	for _, dir := range []string{h.git.Root(), h.git.CommonDir(), h.git.GitDir()} {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// shown is a path from the root, or absolute where it lies elsewhere.
func (h *hookSpace) shown(path string) string {
	if rel, err := filepath.Rel(h.git.Root(), path); err == nil && filepath.IsLocal(rel) {
		return repo.Path(filepath.ToSlash(rel)).String()
	}
	return repo.Path(path).String()
}

// notes says whom a change reaches beside this repository's user.
func (h *hookSpace) notes(ctx context.Context, place *hooksPlace) ([]string, error) {
	if place.scope == "global" || place.scope == "system" {
		return []string{"core.hooksPath is set in the " + place.scope + " configuration: these hooks serve other repositories too"}, nil
	}
	rel, err := filepath.Rel(h.git.Root(), place.dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, nil
	}
	s, err := h.git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	dir := repo.Path(filepath.ToSlash(rel))
	for _, e := range s.Index.Entries {
		if e.Path.Under(dir) {
			return []string{fmt.Sprintf("git tracks %s: the change will show in git status, and is for everybody once it is committed", dir)}, nil
		}
	}
	return nil, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// read looks at what lies at a hook's name. No link is followed, but to see whether
// git would run what it leads to.
func (p *hooksPlace) read(name string) (hook.Place, error) {
	place := hook.Place{Name: name, Sourced: p.sourced}
	root, err := os.OpenRoot(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return place, nil
	}
	if err != nil {
		return place, fmt.Errorf("read the hooks: %w", err)
	}
	defer root.Close()
	if place.At, err = readHook(root, name); err == nil {
		place.Aside, err = readHook(root, name+hook.Aside)
	}
	if err != nil {
		return place, fmt.Errorf("read the hook %s: %w", name, err)
	}
	return place, nil
}

func readHook(root *os.Root, name string) (hook.File, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hook.File{}, nil
	case err != nil:
		return hook.File{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Stat(filepath.Join(root.Name(), name)) // a link may lead out of the root
		return hook.File{Kind: hook.Link, Exec: err == nil && runs(to)}, nil
	case !info.Mode().IsRegular():
		return hook.File{Kind: hook.Strange}, nil
	}
	content, info, err := readWhole(root, name, maxHook)
	if err != nil {
		return hook.File{}, err
	}
	return hook.File{Kind: hook.Regular, Content: content, Exec: runs(info)}, nil
}

func runs(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 }

// apply does to a hook what was decided, unless it is not any more what was seen.
func (p *hooksPlace) apply(s step) error {
	if s.Deed == hook.Nothing {
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
	name := s.seen.Name
	now, err := readHook(root, name)
	if err != nil {
		return err
	}
	if now.Kind != s.seen.At.Kind || !bytes.Equal(now.Content, s.seen.At.Content) {
		return &fault.Error{Hint: "run it again", Err: errors.New("it was changed meanwhile")}
	}
	switch s.Deed {
	case hook.Create:
		return replaceWhole(root, name, s.Content, 0o755)
	case hook.Rewrite:
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		return replaceWhole(root, name, s.Content, info.Mode().Perm())
	case hook.SetAside:
		if err := setAside(root, name); err != nil {
			return err
		}
		return replaceWhole(root, name, s.Content, 0o755)
	case hook.Remove:
		return root.Remove(name)
	case hook.Restore:
		return root.Rename(name+hook.Aside, name)
	default:
		return fmt.Errorf("deed %d is unknown", s.Deed)
	}
}

// setAside gives a hook its name aside. It keeps the old one until the new hook takes
// it, so that there always is a hook, and never takes a name that is taken; on file
// systems without a second name for a file, it is renamed.
func setAside(root *os.Root, name string) error {
	err := root.Link(name, name+hook.Aside)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return root.Rename(name, name+hook.Aside)
}

// failed says what could not be done, and what to do where the reason is that nobody
// may write there.
func (p *hooksPlace) failed(name string, err error) error {
	err = fmt.Errorf("write the hook %s: %w", repo.Path(filepath.Join(p.dir, name)), err)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &fault.Error{
			Hint: "make it writable (chmod u+w " + fault.Quote(p.dir) + "), or name another directory: git config core.hooksPath .githooks",
			Err:  err,
		}
	}
	return err
}

// replaceWhole writes a file beside the one it replaces, and renames it.
func replaceWhole(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	temp := "." + name + "." + strings.ToLower(rand.Text()[:12]) + ".tmp"
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}
