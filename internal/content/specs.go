package content

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec"
)

// maxSpec is more of a spec file than anyone reads.
const maxSpec = 2 << 20

// Specs returns the spec files in the work tree, tracked or not, and how they
// looked. No link is followed.
func (t *Tree) Specs(ctx context.Context) ([]spec.File, spec.Look, error) {
	start := t.now()
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return nil, spec.Look{}, fmt.Errorf("read the specs: %w", err)
	}
	defer root.Close()
	seen := []repo.Path{spec.Root}
	switch info, err := root.Lstat(spec.Root); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, t.look(ctx, seen, start), nil
	case err == nil && !info.IsDir():
		at := spec.File{Path: spec.Root + "/" + spec.FileName, Problem: spec.Root + " is not a directory, and no link is followed"}
		return []spec.File{at}, t.look(ctx, seen, start), nil
	}
	w := &specWalk{format: t.format, seen: seen}
	if err := w.enter(ctx, root, spec.Root, spec.Root); err != nil {
		return nil, spec.Look{}, err
	}
	return w.found, t.look(ctx, w.seen, start), nil
}

// A specWalk reads the spec files of a tree. Names are bytes, of which fs.WalkDir
// takes only those that are UTF-8. Each directory is entered from the one above it: a
// path from the root is opened a name at a time, by every file anew.
type specWalk struct {
	format repo.ObjectFormat
	found  []spec.File
	seen   []repo.Path
}

// enter reads a directory of another one, and all below it, in the order of their names.
// It is at a path from the root.
func (w *specWalk) enter(ctx context.Context, from *os.Root, name, at string) error {
	if ctx.Err() != nil {
		return &fault.Error{Kind: fault.Interrupted, Err: fmt.Errorf("read the specs: %w", ctx.Err())}
	}
	dir, err := from.OpenRoot(name)
	if err != nil {
		return unreadDir(at, err)
	}
	defer dir.Close()
	entries, err := list(dir, ".")
	if err != nil {
		return unreadDir(at, err)
	}
	for _, e := range entries {
		below := repo.Path(at + "/" + e.Name())
		switch {
		case e.IsDir() && e.Name() != spec.FileName:
			w.seen = append(w.seen, below)
			err = w.enter(ctx, dir, e.Name(), string(below))
		case e.Name() != spec.FileName:
		case e.Type().IsRegular():
			w.seen = append(w.seen, below)
			var f spec.File
			f, err = w.read(dir, below)
			w.found = append(w.found, f)
		default:
			w.seen = append(w.seen, below)
			w.found = append(w.found, spec.File{Path: below, Problem: "it is not a file, and no link is followed"})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unreadDir(at string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("read the specs in %s: %w", repo.Path(at), err)
}

// look returns how paths look now, if that vouches for what they held at any time
// since start: a directory or file that was changed later bears a later time, give
// or take a tick of the file system's.
func (t *Tree) look(ctx context.Context, paths []repo.Path, start time.Time) spec.Look {
	sum, newest, err := t.glance(ctx, paths)
	if err != nil || newest >= start.Add(-racy).UnixNano() {
		return spec.Look{}
	}
	return spec.NewLook(paths, sum)
}

// Same reports whether the specs are surely as they looked.
func (t *Tree) Same(ctx context.Context, l spec.Look) bool {
	if l.IsZero() {
		return false
	}
	sum, _, err := t.glance(ctx, l.Paths())
	return err == nil && bytes.Equal(sum, l.Sum)
}

// glance digests what lstat says of paths, and returns the latest time among it.
func (t *Tree) glance(ctx context.Context, paths []repo.Path) (sum []byte, newest int64, err error) {
	entries := make([]repo.Entry, len(paths))
	for i, p := range paths {
		entries[i].Path = p
	}
	found, err := t.Stat(ctx, entries)
	if err != nil {
		return nil, 0, err
	}
	all := make([]byte, 0, 33*len(found))
	for i := range found {
		f := &found[i]
		if f.Presence == repo.Unreadable {
			return nil, 0, f.Err
		}
		newest = max(newest, f.Stat.Mtime, f.Stat.Ctime)
		all = append(all, byte(f.Presence))
		for _, n := range []uint64{uint64(f.Stat.Size), uint64(f.Stat.Mtime), uint64(f.Stat.Ctime), f.Stat.Inode} {
			all = binary.LittleEndian.AppendUint64(all, n)
		}
	}
	digest := sha256.Sum256(all)
	return digest[:], newest, nil
}

// read reads a file of a directory, and of a large one the beginning.
func (w *specWalk) read(dir *os.Root, at repo.Path) (spec.File, error) {
	out := spec.File{Path: at}
	fail := func(err error) (spec.File, error) { return out, fmt.Errorf("read %s: %w", out.Path, err) }
	f, err := dir.Open(string(at.Base()))
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	if out.Content, err = io.ReadAll(io.LimitReader(f, maxSpec)); err != nil {
		return fail(err)
	}
	if len(out.Content) < maxSpec {
		return out, nil
	}
	info, err := f.Stat()
	if err != nil {
		return fail(err)
	}
	sum := w.format.New()
	fmt.Fprintf(sum, "blob %d\x00", info.Size())
	sum.Write(out.Content)
	if _, err := io.Copy(sum, io.LimitReader(f, info.Size()-maxSpec)); err != nil {
		return fail(err)
	}
	out.ID = repo.IDFromBytes(sum.Sum(nil))
	return out, nil
}

// Create writes a file that is not there yet, whole, and the directories above it. What
// fails leaves nothing behind.
func (t *Tree) Create(p repo.Path, content []byte) error {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return err
	}
	defer root.Close()
	made := lacking(root, path.Dir(string(p)))
	err = create(root, string(p), content)
	if err == nil {
		return nil
	}
	for _, dir := range made {
		_ = root.Remove(dir) // unless somebody has put something there
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // the name that it names is nobody's
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return &fault.Error{Hint: "edit it instead, or choose another name", Err: fmt.Errorf("%s is there already", p)}
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return &fault.Error{Hint: "nothing was written; free some space, then run the command again: df -h " + fault.Quote(t.root), Err: fmt.Errorf("write %s: %w", p, err)}
	}
	return fmt.Errorf("write %s: %w", p, err)
}

// lacking lists the directories on the way to one, and itself, that are not there; the
// deepest first.
func lacking(root *os.Root, dir string) []string {
	var list []string
	for ; dir != "."; dir = path.Dir(dir) {
		if _, err := root.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		list = append(list, dir)
	}
	return list
}

// create writes a file under another name and then gives it its own, if nobody else has
// it by then.
func create(root *os.Root, name string, content []byte) error {
	if _, err := root.Lstat(name); err == nil {
		return fs.ErrExist
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	next, err := beside(name)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, root.Remove(next))
	}
	err = root.Link(next, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(err, root.Remove(next))
	}
	// Not every file system has a second name for a file.
	if err := root.Rename(next, name); err != nil {
		return errors.Join(err, root.Remove(next))
	}
	return nil
}
