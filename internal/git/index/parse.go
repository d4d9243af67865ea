// Package index parses the index of a git repository: the bytes of the index file, or
// the output of `git ls-files`.
//
// It understands index versions 2, 3 and 4 as git writes them by default. A split or
// sparse index is [ErrUnusual]; the caller then asks git. The package reads no file and
// starts no process.
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
	// ErrCorrupt marks an index that breaks its own format.
	ErrCorrupt = errors.New("corrupt")
	// ErrUnusual marks an index that only git can be trusted to read.
	ErrUnusual = errors.New("unusual layout")
)

// The fixed part of an entry: ten 32-bit words of stat, then the id, then the
// flags.
const (
	entryStat       = 40
	flagAssume      = 0x8000
	flagExtended    = 0x4000
	flagStage       = 0x3000
	flagName        = 0x0fff
	extSkipWorktree = 0x4000
	extIntentToAdd  = 0x2000
	// maxPath is the longest path read here; a file system allows no longer
	// ones, and in version 4 a few bytes could ask for gigabytes of them.
	maxPath = 4096
)

// racyWindow is how close to the index's own time an entry's may be before it
// proves nothing. Files are stamped with a clock that advances in ticks of up
// to 10 ms, so a file written again after git looked at it, but before git wrote
// the index, may carry any stamp of that tick.
const racyWindow = 10_000_000

// An parser reads an index that lies in memory as a whole.
type parser struct {
	buf     []byte
	text    string // the same bytes; v2 and v3 paths are cut from it
	hash    int    // bytes of an id
	version uint32
	mtime   int64 // of the index file

	entries []repo.Entry
	count   int    // of entries in the file, before unmerged ones are joined
	arena   []byte // v4: the paths, one after the other
	ends    []int  // v4: where each entry's path ends in arena
}

// inline is the size up to which checking an index is cheaper than a goroutine.
const inline = 32 << 10

// Parse reads the bytes of an index file that was last written at mtime, and checks
// its checksum beside that: hashing takes about as long as parsing.
//
// The error is [ErrUnusual] when only git can tell what the index means, and
// [ErrCorrupt] when it ends too early, contradicts itself or has a wrong checksum.
func Parse(buf []byte, f repo.ObjectFormat, mtime int64) (repo.Index, error) {
	if len(buf) < inline {
		if !checksum(buf, f) {
			return repo.Index{}, fmt.Errorf("%w: its checksum does not match", ErrCorrupt)
		}
		return parse(buf, f, mtime)
	}
	sound := make(chan bool, 1)
	go func() { sound <- checksum(buf, f) }()
	idx, err := parse(buf, f, mtime)
	if !<-sound {
		return repo.Index{}, fmt.Errorf("%w: its checksum does not match", ErrCorrupt)
	}
	return idx, err
}

// checksum reports whether an index ends with the hash of all before it, or
// with the zeros that index.skipHash leaves there.
func checksum(buf []byte, f repo.ObjectFormat) bool {
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
		// The paths of a hundred thousand entries are not worth a second copy
		// of the file; nobody writes to buf any more.
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
		p.arena = make([]byte, 0, 64*p.count) // a guess, to grow seldom
	}
	limit := len(p.buf) - p.hash
	at := 12
	var prev []byte // path of the entry before
	prevStage := -1 // and its stage
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
		order, sound := checkPath(prev, name)
		switch {
		case !sound, order < 0:
			// A split index has entries without names; anything else is
			// for git to refuse.
			return 0, ErrUnusual
		case order == 0 && (prevStage == 0 || stage <= prevStage):
			return 0, ErrUnusual
		case order == 0:
			p.joinStage(e, stage)
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
		paths := unsafe.String(&p.arena[0], len(p.arena)) // complete by now, too
		start := 0
		for i, end := range p.ends {
			p.entries[i].Path = repo.Path(paths[start:end])
			start = end
		}
	}
	return at, nil
}

// name finds the path of the entry e, whose fixed part is head bytes long, and
// the bytes of the whole entry.
func (p *parser) name(e []byte, head, length int, prev []byte) (name []byte, size int, err error) {
	if p.version == 4 {
		return p.nameV4(e, head, prev)
	}
	if length == flagName { // or longer
		length = bytes.IndexByte(e[head:], 0)
	}
	// One to eight NULs fill the entry up to a multiple of eight bytes.
	size = (head + length + 8) &^ 7
	if length < 0 || size > len(e) || e[head+length] != 0 {
		return nil, 0, fmt.Errorf("%w: a path without an end", ErrCorrupt)
	}
	return e[head : head+length], size, nil
}

// nameV4 puts together a path that is stored as how much of the previous one to
// drop, and what to add.
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

// varint reads git's variable-length number, n bytes of b; n is zero when there
// is none that fits a path.
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

// add appends the entry e, whose path stands at offset path of the file.
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

// joinStage makes a later stage of an unmerged path part of its one entry. Ours
// gives the mode, where there is one.
func (p *parser) joinStage(e []byte, stage int) {
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

// IsRacy reports whether a file stamped mtime could have been written again
// unnoticed after an index stamped written had recorded it.
func IsRacy(mtime, written int64) bool {
	if mtime%1e9 == 0 || written%1e9 == 0 {
		// A file system, or a git, that keeps whole seconds only.
		return mtime/1e9 >= written/1e9
	}
	return mtime >= written-racyWindow
}

// cleanMode returns the mode that git would read out of an entry.
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

// checkPath compares a path with the one before it, and reports whether it is
// sound: one that git would track, and that leads nowhere but down. What the
// two have in common was checked with the first.
func checkPath(prev, name []byte) (order int, sound bool) {
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

// ValidPath reports whether every element of a path is one that git would
// track.
func ValidPath(name []byte) bool {
	start := 0
	for i, c := range name {
		switch {
		case c == 0, os.PathSeparator == '\\' && (c == '\\' || c == ':'):
			return false
		case c == '/':
			if !soundName(name[start:i]) {
				return false
			}
			start = i + 1
		}
	}
	return soundName(name[start:])
}

func soundName(name []byte) bool {
	if len(name) == 0 {
		return false
	}
	if name[0] != '.' {
		return true
	}
	return len(name) > 1 && string(name) != ".." && (len(name) != 4 || !bytes.EqualFold(name, []byte(".git")))
}

// commonPrefix returns how many bytes a and b begin with in common.
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
