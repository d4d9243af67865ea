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

// finish makes a snapshot of the folder, if anything was moved into it, and makes
// room for it in the ring; without, the folder goes.
func (h *Locked) finish(folder string, p *plan, out *Applied) error {
	archive := h.dir.names.Archive
	files, err := entriesOf(context.Background(), h.root, folder+movedFiles)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return unlessLeftover(h.discard(folder))
	}
	// Before the change is over: killed in between, the next run prunes again.
	out.Pruned, out.PruneErr = h.prune(p.Keep, p.Restore)
	if p.Keep == 0 {
		err := h.discard(folder)
		if errors.Is(err, errLeftover) && out.PruneErr == nil {
			out.PruneErr = err
		}
		return unlessLeftover(err)
	}
	at := p.Time
	for ; ; at = at.Add(time.Nanosecond) {
		out.Snapshot = snapshotName(at, p.Verb)
		if taken, err := h.exists(archive + "/" + out.Snapshot); err != nil {
			return err
		} else if !taken {
			break
		}
	}
	if err := h.account(folder, at, p, files); err != nil {
		return err
	}
	if err := h.rename(folder, archive+"/"+out.Snapshot); err != nil {
		return err
	}
	return h.syncDir(archive)
}

// account puts the manifest in the place of the plan. A folder without plan has its
// manifest already, of a run that was killed just then.
func (h *Locked) account(folder string, at time.Time, p *plan, files []Entry) error {
	if p.accounted {
		return nil
	}
	b, err := h.manifest(folder+movedFiles, at, p, files)
	if err != nil {
		return err
	}
	if err := h.remove(folder + manifestFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // half written
	}
	if err := h.writeNew(folder+manifestFile, bytes.NewReader(b), 0); err != nil {
		return err
	}
	if err := h.removeAll(folder + newFiles); err != nil {
		return err
	}
	if err := h.syncDir(folder); err != nil {
		return err
	}
	return h.remove(folder + planFile)
}

// discard takes a folder out of the archive: at once for whoever looks, and then
// file by file. If the second fails, the error is an errLeftover, and the next Lock
// tries again.
func (h *Locked) discard(folder string) error {
	archive := h.dir.names.Archive
	gone := archive + "/" + trash + strings.TrimLeft(strings.TrimPrefix(folder, archive+"/"), ".")
	for {
		taken, err := h.exists(gone)
		if err != nil {
			return err
		}
		if !taken {
			break
		}
		gone += "~"
	}
	if err := h.rename(folder, gone); err != nil {
		return err
	}
	if err := h.syncDir(archive); err != nil {
		return err
	}
	if err := h.removeAll(gone); err != nil {
		return fmt.Errorf("%w %s: %w", errLeftover, gone, cause(err))
	}
	return nil
}

// unlessLeftover drops the error of a folder that is out of the way already.
func unlessLeftover(err error) error {
	if errors.Is(err, errLeftover) {
		return nil
	}
	return err
}
