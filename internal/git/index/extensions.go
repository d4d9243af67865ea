package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"

	"ken/internal/repo"
)

// readExtensions reads the extensions after the entries. It returns the id of the tree that git
// would write for the index, or zero if the TREE extension does not have it.
//
// An extension whose name starts with a lower-case letter changes the meaning of the entries
// (link: a split index, sdir: a sparse index), so the index is unusual. Other extensions are
// caches; the parser skips them.
func (p *parser) readExtensions(at int) (repo.ID, error) {
	var tree repo.ID
	limit := len(p.buf) - p.hash
	for at < limit {
		if limit-at < 8 {
			return repo.ID{}, fmt.Errorf("%w: it ends inside an extension", ErrCorrupt)
		}
		name := p.text[at : at+4]
		size := binary.BigEndian.Uint32(p.buf[at+4:])
		at += 8
		if int64(size) > int64(limit-at) {
			return repo.ID{}, fmt.Errorf("%w: it ends inside an extension", ErrCorrupt)
		}
		if name[0] < 'A' || name[0] > 'Z' {
			return repo.ID{}, ErrUnusual
		}
		if name == "TREE" {
			tree = p.rootTree(p.buf[at : at+int(size)])
		}
		at += int(size)
	}
	return tree, nil
}

// rootTree returns the id of the root tree in a TREE extension, zero if the extension does not
// cover all entries.
func (p *parser) rootTree(b []byte) repo.ID {
	// The format is: empty name, NUL, number of entries, space, number of subtrees, newline,
	// id. The number of entries is -1 after one of them changed.
	name, b, ok := bytes.Cut(b, []byte{0})
	if !ok || len(name) != 0 {
		return repo.ID{}
	}
	line, b, ok := bytes.Cut(b, []byte{'\n'})
	if !ok || len(b) < p.hash {
		return repo.ID{}
	}
	covered, _, ok := bytes.Cut(line, []byte{' '})
	n, err := strconv.Atoi(string(covered))
	if !ok || err != nil || n != p.count {
		return repo.ID{}
	}
	return repo.IDFromBytes(b[:p.hash])
}
