package git

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"ken/internal/repo"
)

// maxSmall is the largest size of small files in a git directory: HEAD, a loose ref, a pointer. Git reads a few
// hundred bytes of them.
const maxSmall = 64 << 10

// readFile reads a regular file of at most max bytes, and returns its stat. Anything else is an error. A pipe would
// block forever.
func readFile(path string, limit int64) ([]byte, repo.Stat, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, repo.Stat{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, repo.Stat{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, repo.Stat{}, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	if info.Size() > limit {
		return nil, repo.Stat{}, fmt.Errorf("read %s: %d bytes, more than the %d expected there", path, info.Size(), limit)
	}
	buf := make([]byte, info.Size())
	n, err := io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF { //nolint:errorlint // io.ReadFull returns these two bare
		err = nil // the file was truncated; the caller checks the rest
	}
	if err != nil {
		return nil, repo.Stat{}, err
	}
	return buf[:n], statOf(info), nil
}

// readSmall reads one of the small text files of a git directory.
func readSmall(path string) (string, error) {
	b, _, err := readFile(path, maxSmall)
	return string(b), err
}

type plainError string

func (e plainError) Error() string { return string(e) }

const errNotRegular = plainError("not a regular file")
