package team

import (
	"cmp"
	"context"

	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/postgres"
)

// pull takes over what the base has and the local store may not have. What is no record, or one
// that ken would not have kept itself, stays where it is: one bad row costs nobody the others.
func (t *Team) pull(ctx context.Context, step stepper) error {
	for t.news {
		var d postgres.Delivery
		err := step(ctx, func(ctx context.Context) (err error) {
			d, err = t.base.Deliver(ctx, t.marks.Pulled, batch)
			return err
		})
		if err != nil {
			return err
		}
		if len(d.Records)+len(d.Aside) == 0 {
			t.news = false
			break
		}
		var fit []store.Record
		for _, r := range d.Records {
			if err := r.Check(t.opts.Now()); err != nil {
				d.Aside = append(d.Aside, store.BadRecord{PathJSON: pathOf(r).JSON(), Reason: err.Error()})
				continue
			}
			fit = append(fit, r)
			t.arrived[nameOf(r)] = true
		}
		if err := t.opts.Local.Absorb(ctx, fit); err != nil {
			return err
		}
		t.moved.Pulled += len(fit)
		t.marks.Pulled = d.Next
		t.aside += len(d.Aside)
		t.marks.Aside += len(d.Aside)
		t.marks.FirstAside = append(t.marks.FirstAside, d.Aside[:min(len(d.Aside), asideShown-len(t.marks.FirstAside))]...)
		if err := t.save(ctx); err != nil {
			return err
		}
	}
	return nil
}

// asideShown is how many of the records that were not taken over are remembered by name.
const asideShown = 20

// pathOf returns what a record is about.
func pathOf(r store.Record) repo.Path {
	if r.File != nil {
		return r.File.Path
	}
	return repo.DirLabel(r.Directory.Path)
}

// push hands over what the local store has and the base may not have. What has just come from
// there is not sent back.
func (t *Team) push(ctx context.Context, step stepper) error {
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
			if !t.arrived[nameOf(r)] {
				ours = append(ours, r)
			}
		}
		var pulled, given store.Mark
		err = step(ctx, func(ctx context.Context) (err error) {
			pulled, given, err = t.base.AbsorbAt(ctx, t.marks.Pulled, ours)
			return err
		})
		if err != nil {
			return err
		}
		t.moved.Pushed += len(ours)
		t.marks.Pulled, t.marks.Pushed, t.marks.Given = pulled, next, cmp.Or(given, t.marks.Given)
		if err := t.save(ctx); err != nil {
			return err
		}
	}
}

// unpushed returns the next records for the base, as many as are sent in a step.
func (t *Team) unpushed(ctx context.Context) ([]store.Record, store.Mark, error) {
	for n := batch; ; {
		list, next, err := t.opts.Local.Since(ctx, t.marks.Pushed, n)
		bytes := 0
		for _, r := range list {
			bytes += len(textOf(r))
		}
		if err != nil || len(list) < 2 || bytes <= stepBytes {
			return list, next, err
		}
		n = len(list) / 2
	}
}

// unsent reports whether the local store has something that the base may not have.
func (t *Team) unsent(ctx context.Context) (bool, error) {
	m, err := t.load(ctx)
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

// nameOf names a record within a run. The same text at two directories is two.
func nameOf(r store.Record) string {
	if r.File != nil {
		id := r.File.ID()
		return string(id[:])
	}
	id := r.Directory.ID()
	return string(id[:]) + string(r.Directory.Path)
}
