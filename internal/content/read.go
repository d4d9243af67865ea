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
	// readRun is the number of files in a worker's subrange. It is small because files may be large.
	readRun = 16
	// bufferSize is the size of one read. Most files fit into the buffer, so they can be processed twice
	// after one read.
	bufferSize = 128 << 10
	// maxAttempts is the number of attempts to read a file that changes meanwhile.
	maxAttempts = 3
	// racy is the longest tick of common file systems, which is that of FAT.
	racy = 2 * time.Second
)

var (
	errLink      = errors.New("is a symbolic link")
	errDirectory = errors.New("is a directory")
	errSpecial   = errors.New("is a socket, pipe or device")
	errChanged   = errors.New("changed while being read")
)

// IsNoFile reports whether reading failed because the path is a link, a directory or a device. The stat of
// the path shows that as well.
func IsNoFile(err error) bool {
	return errors.Is(err, errLink) || errors.Is(err, errDirectory) || errors.Is(err, errSpecial)
}

// Read reads files, each in one pass, and returns the results in the same order. Requests in byte order of
// their paths are fastest.
//
// If a file cannot be read, its result has an Err, and Found has the facts that are known: a missing file is
// Absent with an error that is [fs.ErrNotExist], and a directory or pipe has its own type. A file that keeps
// changing is an error. Read itself returns an error only if the root cannot be opened or ctx ended.
//
// Found.Stat identifies the bytes that were read. It is zero for a file that was modified within the last
// two seconds: file systems store times in ticks of up to that length, so such a file can change again
// without a change of its stat.
func (t *Tree) Read(ctx context.Context, wants []repo.ReadRequest) ([]repo.Reading, error) {
	readings := make([]repo.Reading, len(wants))
	err := t.parallel(ctx, len(wants), readRun, func(w *walk) (func(lo, hi int), func()) {
		r := t.reader(ctx, w)
		return func(lo, hi int) {
			for i := lo; i < hi && ctx.Err() == nil; i++ {
				r.read(wants[i], &readings[i])
			}
		}, r.release
	})
	if err == nil {
		err = ctx.Err() // it may have ended during the last subrange
	}
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	return readings, nil
}

// A reader reads files for one worker.
type reader struct {
	ctx  context.Context //nolint:containedctx // a reader exists only during one call of Read
	walk *walk
	now  func() time.Time
	// retrying is set after an attempt that failed because the file changed.
	retrying bool
	*readTools
}

// readTools are the parts of a reader that are reused by later calls of Read.
type readTools struct {
	format repo.ObjectFormat
	md5    hash.Hash
	id     hash.Hash
	buf    []byte
	head   []byte // "blob SIZE\0"
	sum    []byte
}

// pools has one pool per format, because the hashes differ.
var pools [2]sync.Pool

func (t *Tree) reader(ctx context.Context, w *walk) *reader {
	k, ok := pools[t.format&1].Get().(*readTools)
	if !ok {
		k = &readTools{format: t.format, md5: md5.New(), id: t.format.New(), buf: make([]byte, bufferSize)}
	}
	return &reader{ctx: ctx, walk: w, now: t.now, readTools: k}
}

func (r *reader) release() { pools[r.format&1].Put(r.readTools) }

// read sets out, which must be zero, to the result for w.
func (r *reader) read(w repo.ReadRequest, out *repo.Reading) {
	r.retrying = false
	for range maxAttempts {
		err := r.readOnce(w, out)
		if err == nil {
			return
		}
		if !errors.Is(err, errChanged) {
			r.fail(w.Path, err, out)
			return
		}
		*out = repo.Reading{}
		r.retrying = true
	}
	r.fail(w.Path, errChanged, out)
}

// fail sets the error of out and clears everything but Found.
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
		found = statOfError(err)
	}
	if found.Presence == repo.Absent && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w (%w)", err, fs.ErrNotExist) // a parent is a link or a file
	}
	found.Stat = repo.Stat{}
	*out = repo.Reading{Found: found, Err: err}
}

// readOnce makes one attempt. errChanged means that the file changed during the read.
func (r *reader) readOnce(w repo.ReadRequest, out *repo.Reading) error {
	// Get the time first: a later write has this time or a later one, give or take a tick.
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
	// A small file is read by one call. If the stat after the read equals the known stat, the bytes belong
	// to that state. A stat before the read is unnecessary.
	seen := w.Seen.Size < int64(len(r.buf)) && !w.Seen.IsZero() && !r.retrying
	if seen {
		out.Found = repo.FileStat{Presence: repo.RegularFile, Stat: w.Seen}
	} else if err := f.stat(&out.Found); err != nil {
		return err
	}
	switch out.Found.Presence {
	case repo.RegularFile:
	case repo.Directory:
		return errDirectory
	default:
		return errSpecial
	}
	if err := r.digest(f, w, out); err != nil {
		return err
	}
	var after repo.FileStat
	if err := f.stat(&after); err != nil {
		return err
	}
	if after.Stat != out.Found.Stat || after.Presence != out.Found.Presence {
		return errChanged
	}
	out.Found, out.AsSeen = after, after.Stat == w.Seen
	return nil
}

// digest reads f, whose stat is in out, and sets the digests and the kind.
func (r *reader) digest(f file, w repo.ReadRequest, out *repo.Reading) error {
	size := out.Found.Stat.Size
	// A digest that the other digest or the stat will probably confirm is computed only if they do not. That
	// needs a second pass. MD5 is much slower than the other hash.
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
		err = r.streamAgain(f, size, func(b []byte) { r.id.Write(b) })
	}
	r.end(&out.Raw)
	switch {
	case proven:
		out.Raw.ID = w.Known.ID
	case guess && out.Raw.ID == w.Known.ID:
		out.Raw.MD5 = w.Known.MD5
	case guess:
		err = r.streamAgain(f, size, func(b []byte) {
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

// convert computes the id of f after the conversion of CRLF to LF. It leaves id zero if git would not
// convert the file. If f is larger than the buffer, convert reads it twice more: the id begins with the
// size, so the CRs must be counted first.
func (r *reader) convert(f file, size int64, c repo.Convert, id *repo.ID) error {
	var stats repo.TextStats
	if err := r.streamAgain(f, size, stats.Add); err != nil {
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
	if err := r.streamAgain(f, size, func(b []byte) { strip.add(b, write) }); err != nil {
		return err
	}
	strip.end(write)
	if got != size-stats.CRLF() {
		return errChanged // the stat, stored in ticks, might not show the change
	}
	r.sum = r.id.Sum(r.sum[:0])
	*id = repo.IDFromBytes(r.sum)
	return nil
}

// link reads a symbolic link. Its content is the path of its target.
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
	var after repo.FileStat
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

// stream calls do with all of f in order, at least once. It fails if f does not have size bytes. Every piece
// except the last fills the buffer.
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

// streamAgain is stream for another pass. It uses the buffer if that contains the whole file. In the last
// pass, do may modify its argument.
func (r *reader) streamAgain(f file, size int64, do func(b []byte)) error {
	if size < int64(len(r.buf)) {
		do(r.buf[:size])
		return nil
	}
	return r.stream(f, size, do)
}

// fill reads until the buffer is full or the file ends. A short read that ends at size counts as the end of
// the file. If the file has grown, the stat after the read shows it.
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
