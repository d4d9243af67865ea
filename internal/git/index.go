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

// maxIndex is larger than the index of any real work tree.
const maxIndex = 4 << 30

func (r *Repo) indexFile() string { return filepath.Join(r.gitDir, "index") }

// index reads the index. A missing index is empty. If only git understands the index, git lists
// the entries.
func (r *Repo) index(ctx context.Context) (repo.Index, error) {
	if r.unknownLayout {
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

// An indexVersion identifies one version of the index file. Reading it takes only the last bytes
// of the file.
type indexVersion struct {
	checksum repo.ID
	stat     repo.Stat
}

// indexVersion returns the version of the index file, zero if the file does not exist.
func (r *Repo) indexVersion() (indexVersion, error) {
	f, err := os.OpenFile(r.indexFile(), os.O_RDONLY|openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return indexVersion{}, nil
	}
	if err != nil {
		return indexVersion{}, fmt.Errorf("read index: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return indexVersion{}, fmt.Errorf("read index: %w", err)
	}
	s := indexVersion{stat: statOf(info)}
	tail := make([]byte, r.format.Size())
	if info.Size() >= int64(len(tail)) {
		if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
			return indexVersion{}, fmt.Errorf("read index: %w", err)
		}
		s.checksum = repo.IDFromBytes(tail)
	}
	return s, nil
}

// IndexStamp returns a text that changes with the index: its checksum. It reads only the last bytes
// of the file. The text is "none" without an index, and "" if the index has no checksum or the
// layout is unknown.
func (r *Repo) IndexStamp() string {
	s, err := r.indexVersion()
	switch {
	case r.unknownLayout || err != nil:
		return ""
	case s == indexVersion{}:
		return "none"
	case s.checksum.IsZero():
		return ""
	}
	return s.checksum.String()
}

// same reports whether two versions are equal: by the checksum, which covers every byte, or by the
// stat if the file has no checksum.
func (s indexVersion) same(t indexVersion) bool {
	if s.checksum != t.checksum {
		return false
	}
	return !s.checksum.IsZero() || s.stat == t.stat
}
