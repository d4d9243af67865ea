package state

import (
	"fmt"
	"slices"

	"ken/internal/repo"
)

// prune removes snapshots so that at most keep remain with a new one, and returns the
// removed ones: ken's own first, oldest first, then those of other programs. The
// restored snapshot is the last, since it may still have files. A negative keep keeps
// all.
//
// After a failure it continues, and returns the first error.
func (l *Locked) prune(keep int, restored string) (gone []string, first error) {
	if keep < 0 {
		return nil, nil
	}
	stay := max(keep-1, 0)
	names, err := l.dir.snapshotNames(l.root)
	if err != nil || len(names) <= stay {
		return nil, err
	}
	all := make([]*folder, 0, len(names))
	for _, name := range names {
		f, err := l.ageOf(name)
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
		err := l.discard(l.dir.names.Archive + "/" + f.name)
		if err != nil && first == nil {
			first = fmt.Errorf("prune snapshot %s: %w", repo.Path(f.name), cause(err))
		}
		if unlessLeftover(err) == nil {
			gone = append(gone, f.name)
		}
	}
	return gone, first
}

// ageOf reads the time of a snapshot.
func (l *Locked) ageOf(name string) (*folder, error) {
	path := l.dir.names.Archive + "/" + name
	info, err := l.root.Lstat(path)
	if err != nil {
		return nil, err
	}
	f := &folder{name: name, time: info.ModTime()}
	// A manifest that cannot be read is another program's.
	if m, err := readManifest(l.root, path); err == nil {
		f.manifest, f.time = m, m.Time
	}
	return f, nil
}
