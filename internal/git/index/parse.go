// Package index parses the index of a git repository: the bytes of the index file, or
// the output of `git ls-files`.
//
// It understands index versions 2, 3 and 4. A split or sparse index is [ErrUnusual]; the caller
// then asks git. The package reads no file and starts no process.
package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"unsafe"

	"ken/internal/repo"
)

var (
	// ErrCorrupt marks an index that violates the format.
	ErrCorrupt = errors.New("corrupt")
	// ErrUnusual marks an index that only git understands.
	ErrUnusual = errors.New("unusual layout")
)

// An entry starts with ten 32-bit words of stat, the id and the flags.
const (
	entryStat       = 40
	flagAssume      = 0x8000
	flagExtended    = 0x4000
	flagStage       = 0x3000
	flagName        = 0x0fff
	extSkipWorktree = 0x4000
	extIntentToAdd  = 0x2000
	// maxPath is the longest path that the parser accepts. File systems allow no longer
	// paths, and in version 4 a few bytes could expand to gigabytes of paths.
	maxPath = 4096
)

// racyWindow is the time before the index was written in which an entry's mtime proves
// nothing. The clock of a file system advances in ticks of up to 10 ms. If a file was written
// again after git read it and before git wrote the index, its mtime can be anywhere in that tick.
const racyWindow = 10_000_000

// A parser reads an index that is in memory as a whole.
type parser struct {
	buf     []byte
	text    string // the same bytes; paths of v2 and v3 are substrings
	hash    int    // size of an id in bytes
	version uint32
	mtime   int64 // of the index file

	entries []repo.Entry
	count   int    // number of entries in the file; the stages of an unmerged path count separately
	arena   []byte // v4: all paths, without separators
	ends    []int  // v4: the end of each entry's path in arena
}

// minParallel is the size from which hashing in a second goroutine saves time.
const minParallel = 32 << 10

// Parse parses the bytes of an index file that was last written at mtime, and verifies its
// checksum in parallel: hashing takes about as long as parsing.
//
// The error is [ErrUnusual] if only git understands the index, and [ErrCorrupt] if it is
// truncated, inconsistent or has a wrong checksum.
func Parse(buf []byte, f repo.ObjectFormat, mtime int64) (repo.Index, error) {
	if len(buf) < minParallel {
		if !checksumMatches(buf, f) {
			return repo.Index{}, fmt.Errorf("%w: its checksum does not match", ErrCorrupt)
		}
		return parse(buf, f, mtime)
	}
	matches := make(chan bool, 1)
	go func() { matches <- checksumMatches(buf, f) }()
	idx, err := parse(buf, f, mtime)
	if !<-matches {
		return repo.Index{}, fmt.Errorf("%w: its checksum does not match", ErrCorrupt)
	}
	return idx, err
}

// checksumMatches reports whether an index ends with the hash of its content, or with the
// zeros that git writes if index.skipHash is set.
func checksumMatches(buf []byte, f repo.ObjectFormat) bool {
	n := len(buf) - f.Size()
	if n < 0 {
		return false
	}
	if repo.IDFromBytes(buf[n:]).IsZero() {
		return true
	}
	h := f.New()
	h.Write(buf[:n])
	return string(h.Sum(nil)) == string(buf[n:])
}

// parse is [Parse] without the checksum.
func parse(buf []byte, f repo.ObjectFormat, mtime int64) (repo.Index, error) {
	p := parser{buf: buf, hash: f.Size(), mtime: mtime}
	if len(buf) > 0 {
		// Paths share the memory of buf, which nothing changes from here on. Copying the paths
		// of a hundred thousand entries would take too long.
		p.text = unsafe.String(&buf[0], len(buf))
	}
	if len(buf) < 12+p.hash || p.text[:4] != "DIRC" {
		return repo.Index{}, fmt.Errorf("%w: no index header", ErrCorrupt)
	}
	p.version = binary.BigEndian.Uint32(buf[4:])
	if p.version < 2 || p.version > 4 {
		return repo.Index{}, ErrUnusual
	}
	count := binary.BigEndian.Uint32(buf[8:])
	if int64(count) > int64(len(buf)/(entryStat+p.hash+2)) {
		return repo.Index{}, fmt.Errorf("%w: it is too short for its %d entries", ErrCorrupt, count)
	}
	p.count = int(count)
	end, err := p.readEntries()
	if err != nil {
		return repo.Index{}, err
	}
	idx := repo.Index{Entries: p.entries, Checksum: repo.IDFromBytes(buf[len(buf)-p.hash:])}
	idx.Tree, err = p.readExtensions(end)
	if err != nil {
		return repo.Index{}, err
	}
	return idx, nil
}

func (p *parser) readEntries() (end int, err error) {
	p.entries = make([]repo.Entry, 0, p.count)
	if p.version == 4 {
		p.ends = make([]int, 0, p.count)
		p.arena = make([]byte, 0, 64*p.count) // an estimate
	}
	limit := len(p.buf) - p.hash
	at := 12
	var prev []byte // the path of the previous entry
	prevStage := -1 // the stage of the previous entry
	for range p.count {
		if limit-at < entryStat+p.hash+4 {
			return 0, fmt.Errorf("%w: it ends inside an entry", ErrCorrupt)
		}
		e := p.buf[at:limit]
		flags := binary.BigEndian.Uint16(e[entryStat+p.hash:])
		head := entryStat + p.hash + 2
		var ext uint16
		if flags&flagExtended != 0 {
			if p.version < 3 {
				return 0, fmt.Errorf("%w: extended flags in version 2", ErrCorrupt)
			}
			ext = binary.BigEndian.Uint16(e[head:])
			head += 2
			if ext&^(extSkipWorktree|extIntentToAdd) != 0 {
				return 0, ErrUnusual
			}
		}
		name, size, err := p.name(e, head, int(flags&flagName), prev)
		if err != nil {
			return 0, err
		}
		stage := int(flags&flagStage) >> 12
		order, valid := checkPath(prev, name)
		switch {
		case !valid, order < 0:
			// The entries of a split index have no names. Other cases are errors that
			// git reports.
			return 0, ErrUnusual
		case order == 0 && (prevStage == 0 || stage <= prevStage):
			return 0, ErrUnusual
		case order == 0:
			p.addStage(e, stage)
		default:
			if err := p.add(e, flags, ext, at+head, name); err != nil {
				return 0, err
			}
		}
		if order > 0 {
			prev = name
		}
		prevStage = stage
		at += size
	}
	if len(p.arena) > 0 {
		paths := unsafe.String(&p.arena[0], len(p.arena)) // arena does not grow any more
		start := 0
		for i, end := range p.ends {
			p.entries[i].Path = repo.Path(paths[start:end])
			start = end
		}
	}
	return at, nil
}

// name returns the path of the entry e and the size of the whole entry. The part before the
// path has head bytes.
func (p *parser) name(e []byte, head, length int, prev []byte) (name []byte, size int, err error) {
	if p.version == 4 {
		return p.nameV4(e, head, prev)
	}
	if length == flagName { // the path has this length or is longer
		length = bytes.IndexByte(e[head:], 0)
	}
	// One to eight NULs pad the entry to a multiple of eight bytes.
	size = (head + length + 8) &^ 7
	if length < 0 || size > len(e) || e[head+length] != 0 {
		return nil, 0, fmt.Errorf("%w: a path without an end", ErrCorrupt)
	}
	return e[head : head+length], size, nil
}

// nameV4 returns a path of version 4. It is stored as the number of bytes to drop from the end
// of the previous path, and the bytes to append.
func (p *parser) nameV4(e []byte, head int, prev []byte) (name []byte, size int, err error) {
	drop, n := varint(e[head:])
	if n == 0 || drop > len(prev) {
		return nil, 0, fmt.Errorf("%w: a path prefix is longer than the previous path", ErrCorrupt)
	}
	rest := e[head+n:]
	length := bytes.IndexByte(rest, 0)
	if length < 0 {
		return nil, 0, fmt.Errorf("%w: a path without an end", ErrCorrupt)
	}
	keep := len(prev) - drop
	if keep+length > maxPath {
		return nil, 0, ErrUnusual
	}
	start := len(p.arena)
	p.arena = append(p.arena, prev[:keep]...)
	p.arena = append(p.arena, rest[:length]...)
	return p.arena[start:len(p.arena):len(p.arena)], head + n + length + 1, nil
}

// varint reads a number in git's variable-length encoding and returns its size in bytes. The size
// is zero if b has no number, or one that is too large for a path.
func varint(b []byte) (v, n int) {
	for i, c := range b {
		if i > 3 {
			return 0, 0
		}
		if i > 0 {
			v++
		}
		v = v<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return v, i + 1
		}
	}
	return 0, 0
}

// add appends the entry e, whose path is at offset path of the file.
func (p *parser) add(e []byte, flags, ext uint16, path int, name []byte) error {
	mode, ok := cleanMode(binary.BigEndian.Uint32(e[24:]))
	if !ok {
		return ErrUnusual
	}
	p.entries = append(p.entries, repo.Entry{Mode: mode})
	entry := &p.entries[len(p.entries)-1]
	if p.version == 4 {
		p.ends = append(p.ends, len(p.arena))
	} else {
		entry.Path = repo.Path(p.text[path : path+len(name)])
	}
	if flags&flagAssume != 0 {
		entry.Flags |= repo.AssumeUnchanged
	}
	if ext&extSkipWorktree != 0 {
		entry.Flags |= repo.SkipWorktree
	}
	if ext&extIntentToAdd != 0 {
		entry.Flags |= repo.IntentToAdd
	}
	if flags&flagStage != 0 {
		entry.Flags |= repo.Conflicted
		return nil
	}
	entry.ID = repo.IDFromBytes(e[entryStat : entryStat+p.hash])
	entry.Stat = repo.Stat{
		Ctime: nanos(e[0:]),
		Mtime: nanos(e[8:]),
		Inode: uint64(binary.BigEndian.Uint32(e[20:])),
		Size:  int64(binary.BigEndian.Uint32(e[36:])),
	}
	if IsRacy(entry.Stat.Mtime, p.mtime) {
		entry.Flags |= repo.Racy
	}
	return nil
}

// addStage adds another stage of an unmerged path to the entry of that path. The entry has the
// mode of stage 2 ("ours") if that exists.
func (p *parser) addStage(e []byte, stage int) {
	if p.version == 4 {
		p.arena = p.arena[:p.ends[len(p.ends)-1]]
	}
	if mode, ok := cleanMode(binary.BigEndian.Uint32(e[24:])); ok && stage == 2 {
		p.entries[len(p.entries)-1].Mode = mode
	}
}

func nanos(b []byte) int64 {
	return int64(binary.BigEndian.Uint32(b))*1e9 + int64(binary.BigEndian.Uint32(b[4:]))
}

// IsRacy reports whether a file could have changed after git recorded it in the index without a
// change of its mtime. Written is the mtime of the index. Both are in nanoseconds.
func IsRacy(mtime, written int64) bool {
	if mtime%1e9 == 0 || written%1e9 == 0 {
		// The file system or git stores whole seconds.
		return mtime/1e9 >= written/1e9
	}
	return mtime >= written-racyWindow
}

// cleanMode returns the mode that git reads from an entry.
func cleanMode(m uint32) (repo.Mode, bool) {
	switch {
	case m&0o170000 == 0o100000 && m&0o100 != 0:
		return repo.Executable, true
	case m&0o170000 == 0o100000:
		return repo.Regular, true
	case m == uint32(repo.Symlink), m == uint32(repo.Gitlink):
		return repo.Mode(m), true
	}
	return 0, false
}

// checkPath compares a path with the previous one, and reports whether it is valid. It does not
// check their common prefix again.
func checkPath(prev, name []byte) (order int, valid bool) {
	n := commonPrefix(prev, name)
	switch {
	case n == len(name) && n == len(prev):
		return 0, n > 0
	case n == len(name):
		return -1, true
	case n == len(prev) || prev[n] < name[n]:
	default:
		return -1, true
	}
	start := bytes.LastIndexByte(name[:n], '/') + 1
	return 1, ValidPath(name[start:])
}

// ValidPath reports whether git would track the path: no element is empty, ".", ".." or ".git".
func ValidPath(name []byte) bool {
	start := 0
	for i, c := range name {
		switch {
		case c == 0, os.PathSeparator == '\\' && (c == '\\' || c == ':'):
			return false
		case c == '/':
			if !validName(name[start:i]) {
				return false
			}
			start = i + 1
		}
	}
	return validName(name[start:])
}

func validName(name []byte) bool {
	if len(name) == 0 {
		return false
	}
	if name[0] != '.' {
		return true
	}
	return len(name) > 1 && string(name) != ".." && (len(name) != 4 || !bytes.EqualFold(name, []byte(".git")))
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
		if x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
