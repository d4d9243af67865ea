package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ken/internal/fault"
	"ken/internal/git/index"
	"ken/internal/repo"
)

// maxIndex is far above the index of any work tree that a machine can hold.
const maxIndex = 4 << 30

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
	idx, err := index.Parse(buf, r.format, stat.Mtime)
	switch {
	case errors.Is(err, index.ErrUnusual):
		return r.indexFromGit(ctx)
	case err != nil:
		return repo.Index{}, r.corruptIndex(err)
	}
	idx.Stat = stat
	return idx, nil
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
