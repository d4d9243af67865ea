package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"ken/internal/atomicfile"
	"ken/internal/share"
)

// A ShareMemory is where a clone remembers how far it has shared: a file beside the
// database, which may be deleted at any time. It implements [share.Memories].
type ShareMemory struct{ path string }

// OpenShareMemory returns that of the repository with that common git directory.
func OpenShareMemory(common string) ShareMemory {
	return ShareMemory{filepath.Join(common, "ken", "share.json")}
}

// Load implements [share.Memories].
func (m ShareMemory) Load() (out share.Memory) {
	b, err := os.ReadFile(m.path)
	if err != nil || json.Unmarshal(b, &out) != nil {
		return share.Memory{}
	}
	return out
}

// Save implements [share.Memories]. The file is replaced whole.
func (m ShareMemory) Save(memory share.Memory) (err error) {
	b, err := json.Marshal(memory)
	if err != nil {
		return err
	}
	dir := filepath.Dir(m.path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("remember what was shared: %w", err)
	}
	if err := atomicfile.WriteCache(m.path, b); err != nil {
		return fmt.Errorf("remember what was shared: %w", err)
	}
	return nil
}
