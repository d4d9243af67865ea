package content

import (
	"context"
	"errors"
	"fmt"

	"ken/internal/repo"
)

// ErrTooLarge means that a file is larger than the caller's limit.
var ErrTooLarge = errors.New("too large")

// Bytes reads whole files and calls handle with each, and with its index in paths. handle is called
// concurrently. The bytes are valid until it returns. A file larger than most bytes gives [ErrTooLarge].
// Links are not followed.
func (t *Tree) Bytes(ctx context.Context, paths []repo.Path, most int64, handle func(i int, content []byte, err error)) error {
	return t.parallel(ctx, len(paths), 1, func(w *walk) (func(lo, hi int), func()) {
		var buf []byte
		work := func(lo, hi int) {
			for i := lo; i < hi; i++ {
				b, err := readWhole(w, paths[i], most, buf)
				if cap(b) > cap(buf) {
					buf = b[:0]
				}
				handle(i, b, err)
			}
		}
		return work, func() {}
	})
}

// LinkTarget returns what a symbolic link has as its target, with slashes as in git.
func (t *Tree) LinkTarget(ctx context.Context, p repo.Path) (target []byte, err error) {
	walked := t.parallel(ctx, 1, 1, func(w *walk) (func(lo, hi int), func()) {
		work := func(int, int) {
			d, name, failed := w.enter(p)
			if failed != nil {
				err = failed
				return
			}
			buf := make([]byte, maxLinkTarget)
			n, failed := d.readlink(name, buf)
			if failed != nil {
				err = &pathError{"read", p, failed}
				return
			}
			target = buf[:n]
		}
		return work, func() {}
	})
	if walked != nil {
		return nil, walked
	}
	return target, err
}

const maxLinkTarget = 4096 // bytes; systems have no longer ones

// readWhole reads one file into buf, or into a larger buffer.
func readWhole(w *walk, p repo.Path, most int64, buf []byte) ([]byte, error) {
	d, name, err := w.enter(p)
	if err != nil {
		return nil, err
	}
	f, err := d.open(name)
	if err != nil {
		return nil, &pathError{"read", p, err}
	}
	defer f.close()
	var found repo.FileStat
	if err := f.stat(&found); err != nil {
		return nil, &pathError{"read", p, err}
	}
	switch {
	case found.Presence != repo.RegularFile:
		return nil, &pathError{"read", p, errSpecial}
	case found.Stat.Size > most:
		return nil, &pathError{"read", p, fmt.Errorf("%w: %d bytes, more than %d", ErrTooLarge, found.Stat.Size, most)}
	}
	if need := int(found.Stat.Size) + 1; cap(buf) < need {
		buf = make([]byte, need)
	}
	buf = buf[:found.Stat.Size+1] // one more byte, to detect growth
	n := 0
	for n < len(buf) {
		k, err := f.readAt(buf[n:], int64(n))
		if err != nil {
			return nil, &pathError{"read", p, err}
		}
		if k == 0 {
			break
		}
		n += k
	}
	if int64(n) != found.Stat.Size {
		return nil, &pathError{"read", p, errChanged}
	}
	return buf[:n], nil
}
