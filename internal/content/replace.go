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

// Replace puts other content into a file, whole: whoever reads it meets the one or the
// other. It is refused if the file is not a plain one, if a link stands on the way to it,
// or if it does not hold what the caller has seen.
func (t *Tree) Replace(p repo.Path, seen, content []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", p, err)
		}
	}()
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := plainFile(root, string(p))
	if err != nil {
		return err
	}
	if err := stillHolds(root, string(p), seen); err != nil {
		return err
	}
	var mark [8]byte
	if _, err := rand.Read(mark[:]); err != nil {
		return err
	}
	temp := path.Join(string(p.Dir()), "."+p.Base()+".ken-"+hex.EncodeToString(mark[:]))
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(temp, string(p))
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
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
		err = &fault.Error{Hint: "run it again", Err: errors.New("it was changed meanwhile")}
	}
	return err
}
