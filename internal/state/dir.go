// Package state reads and writes a state directory: its lock, its files and its archive.
// A file is replaced by an atomic rename, and a change of several files happens as a
// whole or not at all.
//
// Package contract says what may be in the directory, and package workflow what a
// verb does to it. The names of the lock and of the archive come from [Options].
//
// All access goes through an [os.Root] opened on the directory, and no link in it is
// followed. A change first moves old files to a folder in the archive, called <time>.tmp. If
// its process is killed, the next one with the lock moves them back. When the new file is in its
// place, the folder becomes a snapshot. See [Change].
package state

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Options tunes a Dir. Only the names have no default.
type Options struct {
	// Wait is how long to wait for the lock: 10 s if 0, not at all if negative.
	Wait  time.Duration
	Names Names // of the lock and the archive
	// Guard is called before the directory is listed or locked, and may refuse that.
	Guard func(context.Context) error
	Now   func() time.Time // the clock; time.Now when nil
}

// Names are the names of the package's own files in the directory.
type Names struct{ Lock, Archive string }

// A Dir is a state directory, which need not exist. It is safe for concurrent use. Two
// Dirs of the same directory lock each other out, as two processes do.
type Dir struct {
	path  string
	outer *os.Root // contains the directory; nil if any path is allowed
	rel   string   // relative to outer
	wait  time.Duration
	names Names
	guard func(context.Context) error
	now   func() time.Time
	step  stepFunc
}

// A stepFunc is called before every change of the disk. In tests it returns an error to
// simulate a failing call, and panics to simulate a killed process.
type stepFunc func(what string) error

const (
	defaultWait = 10 * time.Second
	maxRead     = 64 << 20 // bytes of a file that is read whole
)

// Open returns the directory at an absolute path, which may contain links. The directory
// need not exist; Open does not access it.
func Open(path string, opts Options) (*Dir, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("state directory %s: not an absolute path", repo.Path(path))
	}
	return newDir(&Dir{path: path}, opts)
}

// OpenIn returns the directory rel below root. It follows no links in rel, and no later
// link can lead outside root: the repository chooses rel, and must not redirect it.
func OpenIn(root, rel string, opts Options) (*Dir, error) {
	if !filepath.IsLocal(rel) {
		return nil, &fault.Error{
			Kind: fault.Usage,
			Err:  fmt.Errorf("state directory %s: not a path below %s", repo.Path(rel), repo.Path(root)),
		}
	}
	outer, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("state directory %s: %w", repo.Path(rel), err)
	}
	d, err := newDir(&Dir{path: filepath.Join(root, rel), outer: outer, rel: rel}, opts)
	if err == nil {
		err = d.noLinks()
	}
	if err != nil {
		return nil, errors.Join(err, outer.Close())
	}
	return d, nil
}

// noLinks returns an error if rel contains a link.
func (d *Dir) noLinks() error {
	at := ""
	for element := range strings.SplitSeq(filepath.ToSlash(d.rel), "/") {
		at = filepath.Join(at, element)
		info, err := d.outer.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &fault.Error{
				Hint: "if you mean the target of the link, pass it with --dir",
				Err:  fmt.Errorf("the path of the state directory %s contains a link, %s, which ken does not follow", repo.Path(d.path), repo.Path(at)),
			}
		}
	}
	return nil
}

func newDir(d *Dir, opts Options) (*Dir, error) {
	d.names, d.now, d.guard = opts.Names, opts.Now, opts.Guard
	for _, name := range []string{d.names.Lock, d.names.Archive} {
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("state directory: name of the lock or the archive: %w", err)
		}
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.wait = opts.Wait; d.wait == 0 {
		d.wait = defaultWait
	}
	return d, nil
}

// Close closes the directory.
func (d *Dir) Close() error {
	if d.outer == nil {
		return nil
	}
	return d.outer.Close()
}

// Path returns the path of the directory.
func (d *Dir) Path() string { return d.path }

// open opens the directory each time anew: a long-running program must not use a
// directory that was deleted and created again. The caller closes it.
func (d *Dir) open() (*os.Root, error) {
	// OpenRoot would block on a pipe.
	info, err := d.stat()
	if err != nil {
		return nil, d.failed("open", err)
	}
	if !info.IsDir() {
		return nil, &fault.Error{
			Hint: "move it away, or use another directory with --dir",
			Err:  fmt.Errorf("%s is not a directory", repo.Path(d.path)),
		}
	}
	var root *os.Root
	if d.outer != nil {
		root, err = d.outer.OpenRoot(d.rel)
	} else {
		root, err = os.OpenRoot(d.path)
	}
	if err != nil {
		return nil, d.failed("open", err)
	}
	return root, nil
}

// stat returns the FileInfo of the directory.
func (d *Dir) stat() (fs.FileInfo, error) {
	if d.outer != nil {
		return d.outer.Stat(d.rel)
	}
	return os.Stat(d.path)
}

// failed adds the directory to an error.
func (d *Dir) failed(act string, err error) error {
	return fmt.Errorf("%s %s: %w", act, repo.Path(d.path), cause(err))
}

// cause removes the operation and path of the os package, which our errors name better.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// Read returns the content of a regular file of at most 64 MiB.
func (d *Dir) Read(name string) ([]byte, error) {
	var content []byte
	err := d.with(name, func(f *os.File, info fs.FileInfo) (err error) {
		content, err = readAll(f, info, maxRead)
		return err
	})
	return content, err
}

// Size returns a regular file's size.
func (d *Dir) Size(name string) (int64, error) {
	var size int64
	err := d.with(name, func(_ *os.File, info fs.FileInfo) error {
		size = info.Size()
		return nil
	})
	return size, err
}

// Digest returns the sha256 of a regular file's content, in hex.
func (d *Dir) Digest(name string) (string, error) {
	var sum string
	err := d.with(name, func(f *os.File, _ fs.FileInfo) (err error) {
		sum, err = digest(f)
		return err
	})
	return sum, err
}

// with opens the regular file name for reading and calls f.
func (d *Dir) with(name string, f func(*os.File, fs.FileInfo) error) error {
	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := readFile(root, name, f); err != nil {
		return fmt.Errorf("read %s in %s: %w", repo.Path(name), repo.Path(d.path), err)
	}
	return nil
}

// readFile opens the regular file name in root for reading and calls f.
func readFile(root *os.Root, name string, f func(*os.File, fs.FileInfo) error) error {
	if err := checkName(name); err != nil {
		return err
	}
	file, info, err := openRegular(root, name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return cause(f(file, info))
}

// readAll reads the file; more than limit bytes are an error.
func readAll(f io.Reader, info fs.FileInfo, limit int64) ([]byte, error) {
	if info.Size() > limit {
		return nil, fmt.Errorf("larger than %d MiB", limit>>20)
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit { // it grew meanwhile
		err = fmt.Errorf("larger than %d MiB", limit>>20)
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// digestIn returns the digest of a regular file in dir, "" if there is none or it cannot be
// read.
func digestIn(root *os.Root, dir, name string) string {
	in, err := root.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer in.Close()
	var sum string
	_ = readFile(in, name, func(f *os.File, _ fs.FileInfo) (err error) {
		sum, err = digest(f)
		return err
	})
	return sum
}

func digest(f io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// isFolder reports whether path is a directory, which only a folder of a change can be.
func isFolder(root *os.Root, path string) bool {
	info, err := root.Lstat(path)
	return err == nil && info.IsDir()
}

// list returns the unsorted names in a directory below root.
func list(root *os.Root, path string) ([]string, error) {
	f, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// checkName returns an error for a name that an entry of the directory cannot have.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || !validName(name) {
		return fmt.Errorf("%w: %s", errName, repo.Path(name))
	}
	return nil
}

var errName = errors.New("not the name of an entry in the state directory")

// cancelledError returns the error of a cancelled context.
func cancelledError(ctx context.Context, act string) error {
	kind := fault.Failed
	if errors.Is(ctx.Err(), context.Canceled) {
		kind = fault.Interrupted
	}
	return &fault.Error{Kind: kind, Err: fmt.Errorf("%s: %w", act, ctx.Err())}
}
