package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ken/internal/fault"
	"ken/internal/repo"
)

// maxIndex is far above the index of any work tree that a machine can hold.
const maxIndex = 4 << 30

// inline is the size up to which checking an index is cheaper than a goroutine.
const inline = 32 << 10

func (r *Repo) indexFile() string { return filepath.Join(r.gitDir, "index") }

// index reads the index. One that does not exist is empty; one that only git
// understands is asked of git.
func (r *Repo) index(ctx context.Context) (repo.Index, error) {
	if r.strange {
		return r.indexFromGit(ctx)
	}
	buf, stat, err := readFile(r.indexFile(), maxIndex)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return repo.Index{}, nil
	case err != nil:
		return repo.Index{}, fmt.Errorf("read index: %w", err)
	}
	idx, err := r.decodeIndex(buf, stat.Mtime)
	switch {
	case errors.Is(err, errUnusual):
		return r.indexFromGit(ctx)
	case err != nil:
		return repo.Index{}, r.corruptIndex(err)
	}
	idx.Stat = stat
	return idx, nil
}

// decodeIndex parses an index and, beside that, checks its checksum: hashing
// takes about as long as parsing.
func (r *Repo) decodeIndex(buf []byte, mtime int64) (repo.Index, error) {
	if len(buf) < inline {
		if !r.checksum(buf) {
			return repo.Index{}, fmt.Errorf("%w: its checksum does not match", errCorrupt)
		}
		return parseIndex(buf, r.format, mtime)
	}
	sound := make(chan bool, 1)
	go func() { sound <- r.checksum(buf) }()
	idx, err := parseIndex(buf, r.format, mtime)
	if !<-sound {
		return repo.Index{}, fmt.Errorf("%w: its checksum does not match", errCorrupt)
	}
	return idx, err
}

// checksum reports whether an index ends with the hash of all before it, or
// with the zeros that index.skipHash leaves there.
func (r *Repo) checksum(buf []byte) bool {
	n := len(buf) - r.format.Size()
	if n < 0 {
		return false
	}
	if repo.IDFromBytes(buf[n:]).IsZero() {
		return true
	}
	h := r.format.New()
	h.Write(buf[:n])
	return string(h.Sum(nil)) == string(buf[n:])
}

func (r *Repo) corruptIndex(err error) error {
	file := fault.Quote(r.indexFile())
	return &fault.Error{
		Hint: fmt.Sprintf("to rebuild it, keeping the work tree: mv %s %s && git -C %s reset",
			file, fault.Quote(r.indexFile()+".corrupt"), fault.Quote(r.root)),
		Err: fmt.Errorf("read index %s: %w", r.indexFile(), err),
	}
}

// A stamp tells one state of the index file from another, at the cost of
// reading its last bytes.
type stamp struct {
	checksum repo.ID
	stat     repo.Stat
}

// stampIndex reads the stamp that the index has now; zero when there is none.
func (r *Repo) stampIndex() (stamp, error) {
	f, err := os.OpenFile(r.indexFile(), os.O_RDONLY|openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, fmt.Errorf("read index: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return stamp{}, fmt.Errorf("read index: %w", err)
	}
	s := stamp{stat: statOf(info)}
	tail := make([]byte, r.format.Size())
	if info.Size() >= int64(len(tail)) {
		if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
			return stamp{}, fmt.Errorf("read index: %w", err)
		}
		s.checksum = repo.IDFromBytes(tail)
	}
	return s, nil
}

// IndexStamp names the state that the index is in, at the cost of reading its last
// bytes; "" when it carries no checksum, or only git could tell.
func (r *Repo) IndexStamp() string {
	s, err := r.stampIndex()
	switch {
	case r.strange || err != nil:
		return ""
	case s == stamp{}:
		return "none"
	case s.checksum.IsZero():
		return ""
	}
	return s.checksum.String()
}

// same reports whether two stamps are of one state: by checksum, which covers
// every byte, or by stat where the file carries none.
func (s stamp) same(t stamp) bool {
	if s.checksum != t.checksum {
		return false
	}
	return !s.checksum.IsZero() || s.stat == t.stat
}
