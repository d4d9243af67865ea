package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// finish turns the folder into a snapshot and prunes old ones. If nothing was moved into
// it, finish removes the folder.
func (l *Locked) finish(folder string, p *plan, out *Applied) error {
	archive := l.dir.names.Archive
	files, err := entriesOf(context.Background(), l.root, folder+movedFiles)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return unlessLeftover(l.discard(folder))
	}
	// Prune before the change ends: after a crash the next run prunes again.
	out.Pruned, out.PruneErr = l.prune(p.Keep, p.Restore)
	if p.Keep == 0 {
		err := l.discard(folder)
		if errors.Is(err, errLeftover) && out.PruneErr == nil {
			out.PruneErr = err
		}
		return unlessLeftover(err)
	}
	at := p.Time
	for ; ; at = at.Add(time.Nanosecond) {
		out.Snapshot = snapshotName(at, p.Verb)
		if taken, err := l.exists(archive + "/" + out.Snapshot); err != nil {
			return err
		} else if !taken {
			break
		}
	}
	if err := l.writeManifest(folder, at, p, files); err != nil {
		return err
	}
	if err := l.rename(folder, archive+"/"+out.Snapshot); err != nil {
		return err
	}
	return l.syncDir(archive)
}

// writeManifest replaces the plan by the manifest. A folder without a plan already has its
// manifest, written by a run that was killed afterwards.
func (l *Locked) writeManifest(folder string, at time.Time, p *plan, files []Entry) error {
	if p.manifestWritten {
		return nil
	}
	b, err := l.manifest(folder+movedFiles, at, p, files)
	if err != nil {
		return err
	}
	if err := l.remove(folder + manifestFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // a partial manifest
	}
	if err := l.writeNew(folder+manifestFile, bytes.NewReader(b), 0); err != nil {
		return err
	}
	if err := l.removeAll(folder + newFiles); err != nil {
		return err
	}
	if err := l.syncDir(folder); err != nil {
		return err
	}
	return l.remove(folder + planFile)
}

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
