package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
	ages := make(map[string]age, len(names))
	for _, name := range names {
		a, err := l.ageOf(name)
		if err != nil {
			return nil, err
		}
		if name == restored {
			a.class = restoredClass
		}
		ages[name] = a
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(ages[a].class, ages[b].class), ages[a].time.Compare(ages[b].time), cmp.Compare(a, b))
	})
	for _, name := range names[:len(names)-stay] {
		err := l.discard(l.dir.names.Archive + "/" + name)
		if err != nil && first == nil {
			first = fmt.Errorf("prune snapshot %s: %w", repo.Path(name), cause(err))
		}
		if unlessLeftover(err) == nil {
			gone = append(gone, name)
		}
	}
	return gone, first
}

// An age orders snapshots for pruning.
type age struct {
	class int // what is pruned first
	time  time.Time
}

// The classes, in the order of pruning.
const (
	ownClass = iota
	foreignClass
	restoredClass
)

// ageOf reads the age of a snapshot.
func (l *Locked) ageOf(name string) (age, error) {
	path := l.dir.names.Archive + "/" + name
	info, err := l.root.Lstat(path)
	if err != nil {
		return age{}, err
	}
	m, err := readManifest(l.root, path)
	if err != nil { // a manifest that cannot be read is another program's
		return age{foreignClass, info.ModTime()}, nil
	}
	return age{ownClass, m.Time}, nil
}

var errLeftover = errors.New("cannot remove")

// discard renames a folder of the archive, so that readers no longer see it, and removes
// it. If the removal fails, the error is errLeftover, and the next Lock tries again.
func (l *Locked) discard(folder string) error {
	archive := l.dir.names.Archive
	gone := archive + "/" + trash + strings.TrimLeft(strings.TrimPrefix(folder, archive+"/"), ".")
	for {
		taken, err := l.exists(gone)
		if err != nil {
			return err
		}
		if !taken {
			break
		}
		gone += "~"
	}
	if err := l.rename(folder, gone); err != nil {
		return err
	}
	if err := l.syncDir(archive); err != nil {
		return err
	}
	if err := l.removeAll(gone); err != nil {
		return fmt.Errorf("%w %s: %w", errLeftover, gone, cause(err))
	}
	return nil
}

// unlessLeftover ignores errLeftover: the folder is already out of the way.
func unlessLeftover(err error) error {
	if errors.Is(err, errLeftover) {
		return nil
	}
	return err
}
