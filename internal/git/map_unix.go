//go:build unix

package git

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// minMapped is the size from which files are mapped into memory instead of read: ken looks at most
// parts of a large file at most once, so copying it would take longer.
const minMapped = 1 << 20

// mapped has the mapped files by name. A file that was replaced stays mapped, since another goroutine may
// still read it. Such large files are rarely written, and only replaced, never changed in place.
var mapped struct {
	sync.Mutex
	byName map[string]mapping
}

type mapping struct {
	info fs.FileInfo
	data []byte
}

// loadFile returns the content of a regular file of at most limit bytes. The caller must not change it.
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
