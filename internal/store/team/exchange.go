package team

import (
	"cmp"
	"context"

	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/postgres"
)

// pullRecords copies new records from the shared store to the local store. It skips bad records: rows that are not
// records, and records that ken itself would not store.
func (t *Team) pullRecords(ctx context.Context, step stepper) error {
	for t.hasNew {
		var d postgres.RecordBatch
		err := step(ctx, func(ctx context.Context) (err error) {
			d, err = t.shared.ReadSince(ctx, t.marks.Pulled, batch)
			return err
		})
		if err != nil {
			return err
		}
		if len(d.Records)+len(d.Bad) == 0 {
			t.hasNew = false
			break
		}
		var good []store.Record
		for _, r := range d.Records {
			if err := r.Check(t.opts.Now()); err != nil {
				d.Bad = append(d.Bad, store.BadRecord{PathJSON: pathOf(r).JSON(), Reason: err.Error()})
				continue
			}
			good = append(good, r)
			t.pulled[keyOf(r)] = true
		}
		if err := t.opts.Local.AddRecords(ctx, good); err != nil {
			return err
		}
		t.moved.Pulled += len(good)
		t.marks.note(d.Bad)
		t.marks.Pulled = d.Next
		t.bad += len(d.Bad)
		t.marks.Bad += len(d.Bad)
		t.marks.FirstBad = append(t.marks.FirstBad, d.Bad[:min(len(d.Bad), maxBadShown-len(t.marks.FirstBad))]...)
		if err := t.saveMarks(ctx); err != nil {
			return err
		}
	}
	return nil
}

// maxBadShown limits the bad records that are remembered with path and reason.
const maxBadShown = 20

// pathOf returns the path that a record describes.
func pathOf(r store.Record) repo.Path {
	if r.File != nil {
		return r.File.Path
	}
	return repo.DirLabel(r.Directory.Path)
}

// pushRecords copies unsent records from the local store to the shared store, except those that this run pulled.
func (t *Team) pushRecords(ctx context.Context, step stepper) error {
	for {
		list, next, err := t.unpushed(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return nil
		}
		ours := make([]store.Record, 0, len(list))
		for _, r := range list {
			if !t.pulled[keyOf(r)] {
				ours = append(ours, r)
			}
		}
		var pulled, given store.Mark
		err = step(ctx, func(ctx context.Context) (err error) {
			pulled, given, err = t.shared.AddRecordsAt(ctx, t.marks.Pulled, ours)
			return err
		})
		if err != nil {
			return err
		}
		t.moved.Pushed += len(ours)
		t.marks.Pulled = pulled
		t.marks.Pushed = next
		t.marks.PushedEnd = cmp.Or(given, t.marks.PushedEnd)
		if err := t.saveMarks(ctx); err != nil {
			return err
		}
	}
}

// unpushed returns the next records to push, as many as fit in one step.
func (t *Team) unpushed(ctx context.Context) ([]store.Record, store.Mark, error) {
	for n := batch; ; {
		list, next, err := t.opts.Local.Since(ctx, t.marks.Pushed, n)
		bytes := 0
		for _, r := range list {
			bytes += len(textOf(r))
		}
		if err != nil || len(list) < 2 || bytes <= maxStepBytes {
			return list, next, err
		}
		n = len(list) / 2
	}
}

// unsent reports whether the local store has records that were not pushed.
func (t *Team) unsent(ctx context.Context) (bool, error) {
	m, err := t.loadMarks(ctx)
	if err != nil {
		return false, err
	}
	list, _, err := t.opts.Local.Since(ctx, m.Pushed, 1)
	if err != nil || len(list) == 0 {
		return false, err
	}
	return true, nil
}

func textOf(r store.Record) string {
	if r.File != nil {
		return r.File.Text
	}
	return r.Directory.Text
}

// keyOf returns the key of a record in Team.pulled. The same text at two directories has two keys.
func keyOf(r store.Record) string {
	id := r.ID()
	if r.File != nil {
		return string(id[:])
	}
	return string(id[:]) + string(r.Directory.Path)
}
