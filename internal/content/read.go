package content

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"strconv"
	"sync"
	"time"

	"ken/internal/repo"
)

const (
	// readRun is how many files a worker takes at a time, few because one of
	// them may be large.
	readRun = 16
	// bufferSize is one read. Most files fit whole, and then a second look at
	// their bytes costs no second reading.
	bufferSize = 128 << 10
	// tries is how often a file that moves under the reader is begun.
	tries = 3
	// racy is the coarsest tick a common file system stamps in (FAT's).
	racy = 2 * time.Second
)

var (
	errLink      = errors.New("is a symbolic link")
	errDirectory = errors.New("is a directory")
	errSpecial   = errors.New("is a socket, pipe or device")
	errChanged   = errors.New("changed while being read")
)

// IsNoFile reports whether reading failed because there is a link, a directory or a device at
// the path. The stat of the path says so, too.
func IsNoFile(err error) bool {
	return errors.Is(err, errLink) || errors.Is(err, errDirectory) || errors.Is(err, errSpecial)
}

// Read reads files, each streamed once, and answers in their order. Wants in
// byte order of their paths are read fastest.
//
// A file that cannot be read has its own Err, and Found then says as much as was
// seen: an absent one is Absent with an error that is [fs.ErrNotExist], a
// directory or pipe is what it is. A file that keeps changing is an error rather
// than a mixture. The error of Read is about the whole question: the root cannot
// be entered, or ctx ended.
//
// Found.Stat vouches for the bytes that were read, and is zero where it may not:
// file systems stamp in ticks, up to two seconds long, so a file stamped within
// that of now can be written again and look the same.
func (t *Tree) Read(ctx context.Context, wants []repo.ReadRequest) ([]repo.Reading, error) {
	readings := make([]repo.Reading, len(wants))
	err := t.spread(ctx, len(wants), readRun, func(w *walk) (func(lo, hi int), func()) {
		r := t.reader(ctx, w)
		return func(lo, hi int) {
			for i := lo; i < hi && ctx.Err() == nil; i++ {
				r.read(wants[i], &readings[i])
			}
		}, r.release
	})
	if err == nil {
		err = ctx.Err() // it may have ended inside the last run
	}
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	return readings, nil
}

// A reader is what one worker reads with.
type reader struct {
	ctx  context.Context //nolint:containedctx // a reader lives inside one call of Read
	walk *walk
	now  func() time.Time
	// again is set while a file is begun anew, because it was not what it had
	// been seen to be.
	again bool
	*tools
}

// tools are the parts worth keeping from one Read to the next.
type tools struct {
	format repo.ObjectFormat
	md5    hash.Hash
	id     hash.Hash
	buf    []byte
	head   []byte // "blob SIZE\0", built here
	sum    []byte
}

// One pool per format, so that whatever comes out fits.
var pools [2]sync.Pool

func (t *Tree) reader(ctx context.Context, w *walk) *reader {
	k, ok := pools[t.format&1].Get().(*tools)
	if !ok {
		k = &tools{format: t.format, md5: md5.New(), id: t.format.New(), buf: make([]byte, bufferSize)}
	}
	return &reader{ctx: ctx, walk: w, now: t.now, tools: k}
}

func (r *reader) release() { pools[r.format&1].Put(r.tools) }

// read fills out, which must be zero, with what w.Path holds.
func (r *reader) read(w repo.ReadRequest, out *repo.Reading) {
	r.again = false
	for range tries {
		err := r.try(w, out)
		if err == nil {
			return
		}
		if !errors.Is(err, errChanged) {
			r.fail(w.Path, err, out)
			return
		}
		*out = repo.Reading{}
		r.again = true
	}
	r.fail(w.Path, errChanged, out)
}

// fail keeps of out only what was found there, and says why that was all.
func (r *reader) fail(p repo.Path, err error, out *repo.Reading) {
	found := out.Found
	if pe := (*pathError)(nil); !errors.As(err, &pe) {
		err = &pathError{"read", p, err}
	}
	switch {
	case errors.Is(err, errDirectory):
		found.Presence = repo.Directory
	case errors.Is(err, errSpecial):
		found.Presence = repo.Special
	default:
		found = refused(err)
	}
	if found.Presence == repo.Absent && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w (%w)", err, fs.ErrNotExist) // a link or file where a parent should be
	}
	found.Stat = repo.Stat{}
	*out = repo.Reading{Found: found, Err: err}
}

// try reads once; errChanged means that the bytes read were nobody's version.
func (r *reader) try(w repo.ReadRequest, out *repo.Reading) error {
	// The clock is read first: whatever is written after this moment is stamped
	// at this moment or later, give or take a tick.
	start := r.now()
	d, name, err := r.walk.enter(w.Path)
	if err != nil {
		return err
	}
	f, err := d.open(name)
	if errors.Is(err, errLink) {
		err = r.link(d, name, out)
	} else if err == nil {
		err = r.file(f, w, out)
		f.close()
	}
	if err != nil {
		return err
	}
	if edge := start.Add(-racy).UnixNano(); out.Found.Stat.Mtime >= edge || out.Found.Stat.Ctime >= edge {
		out.Found.Stat = repo.Stat{}
	}
	return nil
}

func (r *reader) file(f file, w repo.ReadRequest, out *repo.Reading) error {
	// A small file is read whole by one call, so a stat before it adds nothing
	// to the one that was seen already: if the stat afterwards is that one, the
	// bytes are of that very state.
	seen := w.Seen.Size < int64(len(r.buf)) && !w.Seen.IsZero() && !r.again
	if seen {
		out.Found = repo.Found{Presence: repo.File, Stat: w.Seen}
	} else if err := f.stat(&out.Found); err != nil {
		return err
	}
	switch out.Found.Presence {
	case repo.File:
	case repo.Directory:
		return errDirectory
	default:
		return errSpecial
	}
	if err := r.digest(f, w, out); err != nil {
		return err
	}
	var after repo.Found
	if err := f.stat(&after); err != nil {
		return err
	}
	if after.Stat != out.Found.Stat || after.Presence != out.Found.Presence {
		return errChanged
	}
	out.Found, out.AsSeen = after, after.Stat == w.Seen
	return nil
}

// digest reads f, whose stat is in out, and fills in what its bytes say.
func (r *reader) digest(f file, w repo.ReadRequest, out *repo.Reading) error {
	size := out.Found.Stat.Size
	// A digest that the other one, or the stat, is likely to settle is left for
	// later, at the price of a second look if it does not. md5 is the dearer of
	// the two by far.
	proven := w.Proven && w.Seen == out.Found.Stat
	guess := !w.Known.ID.IsZero() && !proven
	var eol crlfFinder
	r.begin(size)
	first := true
	err := r.stream(f, size, func(b []byte) {
		if first && (!guess || size >= int64(len(r.buf))) {
			out.Kind = KindOf(w.Path, b[:min(len(b), headSize)])
		}
		first = false
		if !guess {
			r.md5.Write(b)
		}
		if !proven {
			r.id.Write(b)
		}
		eol.add(b)
	})
	if err != nil {
		return err
	}
	out.Size, out.CRLF = size, eol.found
	if proven && eol.found {
		proven = false
		err = r.look(f, size, func(b []byte) { r.id.Write(b) })
	}
	r.end(&out.Raw)
	switch {
	case proven:
		out.Raw.ID = w.Known.ID
	case guess && out.Raw.ID == w.Known.ID:
		out.Raw.MD5 = w.Known.MD5
	case guess:
		err = r.look(f, size, func(b []byte) {
			if out.Kind == repo.KindUnknown {
				out.Kind = KindOf(w.Path, b[:min(len(b), headSize)])
			}
			r.md5.Write(b)
		})
		r.md5.Sum(out.Raw.MD5[:0])
	}
	if err != nil {
		return err
	}
	if eol.found && (w.Convert == repo.ConvertText || w.Convert == repo.ConvertAuto) {
		return r.convert(f, size, w.Convert, &out.Converted)
	}
	return nil
}

// convert finds the id of f's bytes with CRLF turned into LF, and leaves it zero
// when git would keep them as they are. It reads f twice more where f is larger
// than the buffer: a blob's id begins with its size, so the CRs must be counted
// first.
func (r *reader) convert(f file, size int64, c repo.Convert, id *repo.ID) error {
	var stats repo.TextStats
	if err := r.look(f, size, stats.Add); err != nil {
		return err
	}
	if c == repo.ConvertAuto && stats.Binary() {
		return nil
	}
	var got int64
	var strip crStripper
	r.begin(size - stats.CRLF())
	write := func(b []byte) {
		n, _ := r.id.Write(b)
		got += int64(n)
	}
	if err := r.look(f, size, func(b []byte) { strip.add(b, write) }); err != nil {
		return err
	}
	strip.end(write)
	if got != size-stats.CRLF() {
		return errChanged // the stat, stamped in ticks, might not show it
	}
	r.sum = r.id.Sum(r.sum[:0])
	*id = repo.IDFromBytes(r.sum)
	return nil
}

// link reads a symbolic link: its content is the text of its target.
func (r *reader) link(d dir, name string, out *repo.Reading) error {
	if err := d.lstat(name, &out.Found); err != nil {
		return err
	}
	if out.Found.Presence != repo.Link {
		return errChanged
	}
	n, err := d.readlink(name, r.buf)
	if err != nil {
		return err
	}
	var after repo.Found
	if err := d.lstat(name, &after); err != nil {
		return err
	}
	if after != out.Found {
		return errChanged
	}
	r.begin(int64(n))
	r.md5.Write(r.buf[:n])
	r.id.Write(r.buf[:n])
	r.end(&out.Raw)
	out.Size, out.Kind = int64(n), repo.KindSymlink
	return nil
}

// stream gives do all of f in order, at least one piece, and insists on size
// bytes. Each piece but the last fills the buffer.
func (r *reader) stream(f file, size int64, do func(b []byte)) error {
	for off := int64(0); ; {
		n, err := r.fill(f, off, size)
		if err != nil {
			return err
		}
		off += int64(n)
		if off > size || off < size && n < len(r.buf) {
			return errChanged
		}
		if n > 0 || off == 0 {
			do(r.buf[:n])
		}
		if n < len(r.buf) {
			return nil
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
}

// look is stream for another look, from memory where the buffer still holds all
// of the file. do may overwrite what it is given in its last look.
func (r *reader) look(f file, size int64, do func(b []byte)) error {
	if size < int64(len(r.buf)) {
		do(r.buf[:size])
		return nil
	}
	return r.stream(f, size, do)
}

// fill reads until the buffer is full or the file ends. A short read that ends
// at size is taken for the end, which saves asking: were there more, it would
// have come along, or the stat afterwards will tell.
func (r *reader) fill(f file, off, size int64) (n int, err error) {
	for n < len(r.buf) {
		m, err := f.readAt(r.buf[n:], off+int64(n))
		if err != nil {
			return n, err
		}
		n += m
		if m == 0 || off+int64(n) == size {
			break
		}
	}
	return n, nil
}

// begin starts the digests of a blob of the given size.
func (r *reader) begin(size int64) {
	r.md5.Reset()
	r.id.Reset()
	r.head = append(strconv.AppendInt(append(r.head[:0], "blob "...), size, 10), 0)
	r.id.Write(r.head)
}

// end stores both digests.
func (r *reader) end(c *repo.Content) {
	r.md5.Sum(c.MD5[:0])
	r.sum = r.id.Sum(r.sum[:0])
	c.ID = repo.IDFromBytes(r.sum)
}
