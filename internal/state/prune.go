package state

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"ken/internal/repo"
	"ken/internal/workflow"
)

// prune removes snapshots until there is room for a new one among keep, and returns
// those that went: first ours, oldest first, then those of other programs. The one
// that was just restored from goes last, since something may be left in it that
// nothing else has. A negative keep keeps all.
//
// It goes on after a failure, and returns the first.
func (h *held) prune(keep int, restored string) (gone []string, first error) {
	if keep < 0 {
		return nil, nil
	}
	stay := max(keep-1, 0)
	names, err := h.dir.snapshotNames(h.root)
	if err != nil || len(names) <= stay {
		return nil, err
	}
	all := make([]*folder, 0, len(names))
	for _, name := range names {
		f, err := h.ageOf(name)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *folder) int {
		if last := btoi(a.name == restored) - btoi(b.name == restored); last != 0 {
			return last
		}
		return byAge(a, b)
	})
	for _, f := range all[:len(all)-stay] {
		err := h.discard(h.dir.names.Archive + "/" + f.name)
		if err != nil && first == nil {
			first = fmt.Errorf("prune snapshot %s: %w", repo.Path(f.name), cause(err))
		}
		if unlessLeftover(err) == nil {
			gone = append(gone, f.name)
		}
	}
	return gone, first
}

// ageOf reads of a snapshot only what pruning needs.
func (h *held) ageOf(name string) (*folder, error) {
	path := h.dir.names.Archive + "/" + name
	info, err := h.root.Lstat(path)
	if err != nil {
		return nil, err
	}
	f := &folder{name: name, time: info.ModTime()}
	dir, err := h.root.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	// Whatever cannot be read as one is no manifest of ours.
	_ = readFile(dir, manifestFile[1:], func(file *os.File, _ fs.FileInfo) error {
		if at, ok := manifestTime(json.NewDecoder(file)); ok {
			f.manifest, f.time = &workflow.Manifest{}, at
		}
		return nil
	})
	return f, nil
}

// manifestTime reads a manifest up to its time, which stands before the many files.
func manifestTime(dec *json.Decoder) (time.Time, bool) {
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return time.Time{}, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return time.Time{}, false
		}
		if key == "time" {
			var at time.Time
			err := dec.Decode(&at)
			return at, err == nil
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return time.Time{}, false
		}
	}
	return time.Time{}, false
}
