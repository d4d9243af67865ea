package content

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"ken/internal/fault"
	"ken/internal/repo"
)

// ErrChanged is the failure of a Replace whose file holds something else than the caller
// has seen. Nothing was replaced; it may be read again.
var ErrChanged = errors.New("it was changed meanwhile")

// Replace puts other content into a file, whole: whoever reads it meets the one or the
// other. It is refused if the file is not a plain one or may not be written, if a link
// stands on the way to it, or if it does not hold what the caller has seen.
//
// Who writes to the file at the same time loses nothing that is written before Replace
// has looked at the old file for the last time, which is after the new one is in its
// place: then the old one is put back, and the error is [ErrChanged].
func (t *Tree) Replace(p repo.Path, seen, content []byte) error {
	if err := t.replace(string(p), seen, content, func(string) {}); err != nil {
		return fmt.Errorf("write %s: %w", p, err)
	}
	return nil
}

// beside returns a name next to another that no file has.
func beside(name string) (string, error) {
	var mark [8]byte
	if _, err := rand.Read(mark[:]); err != nil {
		return "", err
	}
	return path.Join(path.Dir(name), "."+path.Base(name)+".ken-"+hex.EncodeToString(mark[:])), nil
}

// replace calls done with the name of each step, when it is done.
func (t *Tree) replace(name string, seen, content []byte, done func(step string)) error {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := plainFile(root, name)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return &fault.Error{Hint: "chmod u+w " + fault.Quote(name), Err: errors.New("it may only be read")}
	}
	if err := stillHolds(root, name, seen); err != nil {
		return err
	}
	next, err := beside(name)
	if err != nil {
		return err
	}
	if err := writeNew(root, next, content, info.Mode().Perm()); err != nil {
		return errors.Join(err, root.Remove(next))
	}
	done("written")
	// Writing takes longest, so it is looked at again.
	if err := stillHolds(root, name, seen); err != nil {
		return errors.Join(err, root.Remove(next))
	}
	done("looked")
	// A second name keeps the old file. Not every file system has such; on those the look
	// before has to do.
	old := next + ".old"
	kept := root.Link(name, old) == nil
	if err := root.Rename(next, name); err != nil {
		err = errors.Join(err, root.Remove(next))
		if kept {
			err = errors.Join(err, root.Remove(old))
		}
		return err
	}
	if !kept {
		return nil
	}
	done("replaced")
	err = stillHolds(root, old, seen)
	if err == nil {
		syncDir(root, path.Dir(name))
		done("synced")
		// Who had it open by then has written by now, most likely.
		err = stillHolds(root, old, seen)
	}
	if err == nil {
		return root.Remove(old)
	}
	if stillHolds(root, name, content) != nil {
		// Both were written to, and neither is to be lost.
		return &fault.Error{
			Hint: "merge the two files by hand: " + fault.Quote(name) + " and " + fault.Quote(old),
			Err:  fmt.Errorf("it changed while ken replaced it; the previous content is in %s", old),
		}
	}
	return errors.Join(err, root.Rename(old, name))
}

// writeNew writes a file that was not there, down to the disk.
func writeNew(root *os.Root, name string, content []byte, perm os.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Chmod(perm), f.Sync(), f.Close())
}

// syncDir has a directory's names written down, where the system can do that.
func syncDir(root *os.Root, dir string) {
	if f, err := root.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// plainFile looks at a file that no link leads to.
func plainFile(root *os.Root, name string) (os.FileInfo, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(dir)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s is a link", dir)
		}
	}
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	return info, err
}

func stillHolds(root *os.Root, name string, seen []byte) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	now, err := io.ReadAll(io.LimitReader(f, int64(len(seen))+1))
	if err == nil && !bytes.Equal(now, seen) {
		err = &fault.Error{Hint: "run it again", Err: ErrChanged}
	}
	return err
}
