//go:build unix

package git

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// minMapped is from what size on a file is not read but mapped: most of a large one
// is never looked at twice, and to copy it takes longer than to look at it once.
const minMapped = 1 << 20

// mapped are the files that are, by name. One that was replaced stays mapped, since
// someone may be reading it still: files of that size are written seldom, and are
// never changed or cut off, only replaced.
var mapped struct {
	sync.Mutex
	byName map[string]mapping
}

type mapping struct {
	info fs.FileInfo
	data []byte
}

// loadFile returns the bytes of a regular file of at most limit bytes, which must
// not be written to.
func loadFile(name string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() < minMapped:
		data, _, err := readFile(name, limit)
		return data, err
	case info.Size() > limit:
		return nil, fmt.Errorf("read %s: %d bytes, more than the %d expected there", name, info.Size(), limit)
	}
	mapped.Lock()
	defer mapped.Unlock()
	if m, ok := mapped.byName[name]; ok && os.SameFile(m.info, info) && m.info.Size() == info.Size() && m.info.ModTime().Equal(info.ModTime()) {
		return m.data, nil
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		data, _, err := readFile(name, limit)
		return data, err
	}
	if mapped.byName == nil {
		mapped.byName = make(map[string]mapping)
	}
	mapped.byName[name] = mapping{info, data}
	return data, nil
}
