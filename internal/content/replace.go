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

// ErrChanged means that Replace found another content than the caller expected. The file is not replaced.
// The caller may read it again.
var ErrChanged = errors.New("it was changed meanwhile")

// ErrReadOnly means that the mode of a file forbids writing to it.
var ErrReadOnly = errors.New("it may only be read")

// Replace replaces the content of a file atomically. It fails if the path is not a regular file, is not
// writable or leads through a link, or if the content is not the one that the caller has seen.
//
// After it has installed the new file, Replace checks the old one again. If another process has written to
// the old file by then, Replace puts it back and returns [ErrChanged].
func (t *Tree) Replace(p repo.Path, seen, content []byte) error {
	if err := t.replace(string(p), seen, content, func(string) {}); err != nil {
		return fmt.Errorf("write %s: %w", p, err)
	}
	return nil
}

// tempName returns an unused name in the same directory.
func tempName(name string) (string, error) {
	var mark [8]byte
	if _, err := rand.Read(mark[:]); err != nil {
		return "", err
	}
	return path.Join(path.Dir(name), "."+path.Base(name)+".ken-"+hex.EncodeToString(mark[:])), nil
}

// replace calls done with the name of each step after the step.
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
		return &fault.Error{Hint: "chmod u+w " + fault.Quote(name), Err: ErrReadOnly}
	}
	if err := checkContent(root, name, seen); err != nil {
		return err
	}
	next, err := tempName(name)
	if err != nil {
		return err
	}
	if err := writeNew(root, next, content, info.Mode().Perm()); err != nil {
		return errors.Join(err, root.Remove(next))
	}
	done("written")
	// Writing takes the longest, so check again.
	if err := checkContent(root, name, seen); err != nil {
		return errors.Join(err, root.Remove(next))
	}
	done("looked")
	// A hard link keeps the old file. On file systems without hard links, the previous check must do.
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
	err = checkContent(root, old, seen)
	if err == nil {
		syncDir(root, path.Dir(name))
		done("synced")
		// A process that had the old file open has probably written to it by now.
		err = checkContent(root, old, seen)
	}
	if err == nil {
		return root.Remove(old)
	}
	if checkContent(root, name, content) != nil {
		// Both files were written to. Keep both.
		return &fault.Error{
			Hint: "merge the two files by hand: " + fault.Quote(name) + " and " + fault.Quote(old),
			Err:  fmt.Errorf("it changed while ken replaced it; the previous content is in %s", old),
		}
	}
	return errors.Join(err, root.Rename(old, name))
}

// writeNew creates a file, writes its content and syncs it to disk.
func writeNew(root *os.Root, name string, content []byte, perm os.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Chmod(perm), f.Sync(), f.Close())
}

// syncDir syncs a directory to disk, if the system supports that.
func syncDir(root *os.Root, dir string) {
	if f, err := root.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// plainFile returns the stat of a regular file whose path has no link.
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

func checkContent(root *os.Root, name string, seen []byte) error {
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
