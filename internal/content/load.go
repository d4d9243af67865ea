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
	"slices"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// maxLoaded is the number of bytes of a file that LoadNamed reads.
const maxLoaded = 2 << 20

// LoadNamed returns the files with a name in and below a directory, tracked or not, and a digest of their
// stats. The digest is zero if the files could change without a change of their stats. Links are not
// followed.
func (t *Tree) LoadNamed(ctx context.Context, dir repo.Path, name string) ([]repo.LoadedFile, repo.StatDigest, error) {
	start := t.now()
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return nil, repo.StatDigest{}, fmt.Errorf("read the files in %s: %w", dir, err)
	}
	defer root.Close()
	seen := []repo.Path{dir}
	switch info, err := root.Lstat(string(dir)); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, t.settledDigest(ctx, seen, start), nil
	case err == nil && !info.IsDir():
		at := repo.LoadedFile{Path: dir + "/" + repo.Path(name), Problem: string(dir) + " is not a directory, and no link is followed"}
		return []repo.LoadedFile{at}, t.settledDigest(ctx, seen, start), nil
	}
	w := &namedWalk{format: t.format, name: name, seen: seen}
	if err := w.enter(ctx, root, string(dir), string(dir)); err != nil {
		return nil, repo.StatDigest{}, err
	}
	return w.found, t.settledDigest(ctx, w.seen, start), nil
}

// A namedWalk reads the files with one name in a tree. It does not use fs.WalkDir, which accepts only names
// in UTF-8. It opens each directory from its parent, because opening a path from the root opens every
// directory on it again.
type namedWalk struct {
	format repo.ObjectFormat
	name   string
	found  []repo.LoadedFile
	seen   []repo.Path
}

// enter reads a directory and all directories below it, in the order of their names. name is relative to
// from, and at is the path from the root.
func (w *namedWalk) enter(ctx context.Context, from *os.Root, name, at string) error {
	if ctx.Err() != nil {
		return &fault.Error{Kind: fault.Interrupted, Err: fmt.Errorf("read the files in %s: %w", repo.Path(at), ctx.Err())}
	}
	dir, err := from.OpenRoot(name)
	if err != nil {
		return unreadDir(at, err)
	}
	defer dir.Close()
	entries, err := list(dir)
	if err != nil {
		return unreadDir(at, err)
	}
	for _, e := range entries {
		below := repo.Path(at + "/" + e.Name())
		switch {
		case e.IsDir() && e.Name() != w.name:
			w.seen = append(w.seen, below)
			err = w.enter(ctx, dir, e.Name(), string(below))
		case e.Name() != w.name:
		case e.Type().IsRegular():
			w.seen = append(w.seen, below)
			var f repo.LoadedFile
			f, err = w.read(dir, below)
			w.found = append(w.found, f)
		default:
			w.seen = append(w.seen, below)
			w.found = append(w.found, repo.LoadedFile{Path: below, Problem: "it is not a file, and no link is followed"})
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
	return fmt.Errorf("read the files in %s: %w", repo.Path(at), err)
}

// settledDigest returns the digest of the stats of paths. It is zero if a stat is so recent that a change
// since start may not show in it, because file systems store times in ticks.
func (t *Tree) settledDigest(ctx context.Context, paths []repo.Path, start time.Time) repo.StatDigest {
	sum, newest, err := t.statSum(ctx, paths)
	if err != nil || newest >= start.Add(-racy).UnixNano() {
		return repo.StatDigest{}
	}
	return repo.NewStatDigest(paths, sum)
}

// Unchanged reports whether the files at the digest's paths are certainly unchanged.
func (t *Tree) Unchanged(ctx context.Context, l repo.StatDigest) bool {
	if l.IsZero() {
		return false
	}
	sum, _, err := t.statSum(ctx, l.Paths())
	return err == nil && bytes.Equal(sum, l.Sum)
}

// statSum returns a digest of the stats of paths, and the latest time in them.
func (t *Tree) statSum(ctx context.Context, paths []repo.Path) (sum []byte, newest int64, err error) {
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

// read reads a file in a directory, up to maxLoaded bytes.
func (w *namedWalk) read(dir *os.Root, at repo.Path) (repo.LoadedFile, error) {
	out := repo.LoadedFile{Path: at}
	fail := func(err error) (repo.LoadedFile, error) { return out, fmt.Errorf("read %s: %w", out.Path, err) }
	f, err := dir.Open(string(at.Base()))
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	if out.Content, err = io.ReadAll(io.LimitReader(f, maxLoaded)); err != nil {
		return fail(err)
	}
	if len(out.Content) < maxLoaded {
		return out, nil
	}
	info, err := f.Stat()
	if err != nil {
		return fail(err)
	}
	sum := w.format.New()
	fmt.Fprintf(sum, "blob %d\x00", info.Size())
	sum.Write(out.Content)
	if _, err := io.Copy(sum, io.LimitReader(f, info.Size()-maxLoaded)); err != nil {
		return fail(err)
	}
	out.ID = repo.IDFromBytes(sum.Sum(nil))
	return out, nil
}

// list returns the entries of a directory, sorted by name. With an error, it returns the entries
// that were read before.
func list(root *os.Root) ([]fs.DirEntry, error) {
	d, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
