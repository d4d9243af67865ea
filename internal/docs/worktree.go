package docs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"ken/internal/content"
	"ken/internal/docs/mention"
	"ken/internal/git"
	"ken/internal/repo"
)

// A workTree is the work tree that documents are checked against.
type workTree struct {
	git    *git.Repo
	files  *content.Tree
	inputs *inputs

	lacks  bool        // git lacks contents
	unsure atomic.Bool // something could not be read, but may be readable next time
}

// Read calls see with the content of each file in the work tree, concurrently. It reads files that a sparse
// checkout omits from git. The error is [mention.ErrTooLarge] for a file of more than most bytes, or
// [mention.ErrNotText] if its name shows that it is not text. see must not keep the bytes.
func (t *workTree) Read(ctx context.Context, files []repo.File, most int64, see func(i int, content []byte, err error)) error {
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	tell := func(i int, b []byte, err error) {
		if errors.Is(err, content.ErrTooLarge) {
			err = tooLarge(paths[i], most)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) && !content.IsNoFile(err) {
			t.unsure.Store(true)
		}
		see(i, b, err)
	}
	if !t.git.Sparse() {
		return t.files.Bytes(ctx, paths, most, tell)
	}
	found, err := t.files.Stat(ctx, entriesOf(paths))
	if err != nil {
		return err
	}
	var here []repo.Path
	var ids []repo.ID
	var which, whose []int
	for i, f := range found {
		if f.Presence == repo.Absent && !files[i].ID.IsZero() {
			ids = append(ids, files[i].ID)
			whose = append(whose, i)
		} else {
			here = append(here, paths[i])
			which = append(which, i)
		}
	}
	err = t.files.Bytes(ctx, here, most, func(i int, b []byte, err error) { tell(which[i], b, err) })
	if err != nil {
		return err
	}
	return t.git.EachBlob(ctx, ids, func(i int, b []byte, size int64) {
		t.seeBlob(files[whose[i]], b, size, most, func(b []byte, err error) { see(whose[i], b, err) })
	})
}

// seeBlob calls see with a content from git, or with the reason why it cannot be read.
func (t *workTree) seeBlob(f repo.File, b []byte, size, most int64, see func(content []byte, err error)) {
	switch {
	case size < 0:
		t.lacks = true
		see(nil, fmt.Errorf("read %s: not checked out, and %w", f.Path, ErrAbsent))
	case size > most || size > int64(len(b)):
		see(nil, tooLarge(f.Path, min(most, int64(len(b)))))
	default:
		see(b, nil)
	}
}

// tooLarge returns ErrTooLarge, or ErrNotText if the name of the file shows that it is not text.
func tooLarge(p repo.Path, most int64) error {
	if content.KindOf(p, nil) == repo.KindBinary {
		return fmt.Errorf("%w by its name, and larger than %d bytes", mention.ErrNotText, most)
	}
	return fmt.Errorf("%w: more than %d bytes", mention.ErrTooLarge, most)
}

// Present reports for each path whether it exists, tracked or not.
func (t *workTree) Present(ctx context.Context, paths []repo.Path) ([]bool, error) {
	found, err := t.files.Stat(ctx, entriesOf(paths))
	there := make([]bool, len(found))
	for i, f := range found {
		there[i] = isPresent(f)
	}
	return there, err
}

// isPresent reports whether a path exists. A path that cannot be examined counts as existing.
func isPresent(f repo.FileStat) bool {
	return f.Presence != repo.Absent && f.Presence != repo.NotChecked
}

func entriesOf(paths []repo.Path) []repo.Entry {
	entries := make([]repo.Entry, len(paths))
	for i, p := range paths {
		entries[i].Path = p
	}
	return entries
}
