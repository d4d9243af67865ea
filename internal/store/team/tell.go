package team

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"

	"ken/internal/repo"
	"ken/internal/store"
)

// tell says how the work tree stands, and hands over its rows if that is due: now, when it was
// asked for.
func (t *Team) tell(ctx context.Context, step stepper, now bool) error {
	local, verified, err := t.opts.Local.Baseline(ctx, t.opts.Worktree)
	if err != nil {
		return err
	}
	name := t.worktree()
	told, known := t.marks.Told[name]
	if known && told == local.Generation && t.moved == (Moved{}) && !now {
		return t.rows(ctx, step, local.Generation, now)
	}
	tally, err := t.opts.Local.Tally(ctx, t.opts.Worktree)
	if err != nil || !verified && tally == (store.FileCounts{}) {
		return err // nobody has looked at the work tree yet
	}
	var baseline *store.Verification
	if verified {
		baseline = &local
	}
	err = step(ctx, func(ctx context.Context) error { return t.base.Tell(ctx, name, baseline, tally) })
	if err != nil {
		return err
	}
	if t.marks.Told == nil {
		t.marks.Told = make(map[string]int64)
	}
	t.marks.Told[name] = local.Generation
	if err := t.save(ctx); err != nil {
		return err
	}
	return t.rows(ctx, step, local.Generation, now)
}

// rows hands over the rows that are not as the base has them. Stats stay here: they mean
// nothing elsewhere, and change without the content.
func (t *Team) rows(ctx context.Context, step stepper, generation int64, now bool) error {
	name := t.worktree()
	at := t.opts.Now()
	if sent, known := t.marks.Rows[name]; known && sent == generation {
		return nil
	}
	if !now && at.Sub(t.marks.RowsAt) < rowsEvery && !at.Before(t.marks.RowsAt) {
		return nil
	}
	stand, err := t.baseStanding(ctx, step, name)
	if err != nil {
		return err
	}
	sent, ok := t.sent(stand)
	if !ok {
		if sent, err = t.there(ctx, step, name); err != nil {
			return err
		}
	}
	change, sums, err := t.difference(ctx, sent)
	if err != nil {
		return err
	}
	whole := true
	if !now && len(change.Put) > rowsMost {
		change.Put, whole = change.Put[:rowsMost], false
	}
	if err := t.hand(ctx, step, name, change); err != nil {
		return err
	}
	if stand, err = t.baseStanding(ctx, step, name); err != nil {
		return err
	}
	for i, r := range change.Put {
		sent[r.Path] = sums[i]
	}
	for _, p := range change.Delete {
		delete(sent, p)
	}
	t.keepSent(stand, sent)
	t.marks.RowsAt = at
	if whole {
		if t.marks.Rows == nil {
			t.marks.Rows = make(map[string]int64)
		}
		t.marks.Rows[name] = generation
	}
	return t.save(ctx)
}

// baseStanding says how the rows of a worktree stand in the base.
func (t *Team) baseStanding(ctx context.Context, step stepper, name string) (stand string, err error) {
	err = step(ctx, func(ctx context.Context) error {
		b, _, err := t.base.Baseline(ctx, name)
		stand = t.standing(b)
		return err
	})
	return stand, err
}

// difference returns what makes the rows that were handed over those of the work tree, with
// the sum of each that is put.
func (t *Team) difference(ctx context.Context, sent map[repo.Path]uint64) (change store.FileChanges, sums []uint64, err error) {
	have := make(map[repo.Path]bool, len(sent))
	for r, err := range t.opts.Local.Rows(ctx, t.opts.Worktree) {
		if err != nil {
			return change, nil, err
		}
		sum := sumOf(r)
		have[r.Path] = true
		if old, ok := sent[r.Path]; !ok || old != sum {
			r.Stat = repo.Stat{}
			change.Put = append(change.Put, r)
			sums = append(sums, sum)
		}
	}
	for path := range sent {
		if !have[path] {
			change.Delete = append(change.Delete, path)
		}
	}
	return change, sums, nil
}

// hand sends rows in steps. Rows without the baseline that speaks of them unsettle the one
// there is, so that it is set again in the end.
func (t *Team) hand(ctx context.Context, step stepper, name string, change store.FileChanges) error {
	if change.IsZero() {
		return nil
	}
	for len(change.Put)+len(change.Delete) > 0 {
		part := store.FileChanges{
			Put:    change.Put[:min(len(change.Put), 10*batch)],
			Delete: change.Delete[:min(len(change.Delete), 10*batch)],
		}
		change.Put, change.Delete = change.Put[len(part.Put):], change.Delete[len(part.Delete):]
		err := step(ctx, func(ctx context.Context) error { return t.base.Commit(ctx, name, part, nil) })
		if err != nil {
			return err
		}
	}
	local, verified, err := t.opts.Local.Baseline(ctx, t.opts.Worktree)
	if err != nil || !verified {
		return err
	}
	return step(ctx, func(ctx context.Context) error {
		there, _, err := t.base.Baseline(ctx, name)
		if err != nil {
			return err
		}
		local.Generation = there.Generation
		return t.base.Commit(ctx, name, store.FileChanges{Baseline: &local}, nil)
	})
}

// there returns what the base has of the rows.
func (t *Team) there(ctx context.Context, step stepper, name string) (map[repo.Path]uint64, error) {
	rows := make(map[repo.Path]uint64)
	err := step(ctx, func(ctx context.Context) error {
		for r, err := range t.base.Rows(ctx, name) {
			if err != nil {
				return err
			}
			rows[r.Path] = sumOf(r)
		}
		return nil
	})
	return rows, err
}

// standing names the rows that the base has.
func (t *Team) standing(b store.Verification) string {
	return fmt.Sprint(t.marks.Base, " ", b.Generation)
}

// sentFile is where it is written down what was handed over: the standing of the base
// afterwards on a line, then path and sum of each row, the path behind its length.
func (t *Team) sentFile() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.opts.Worktree)) // it never fails
	return t.file(fmt.Sprintf("-rows-%08x", h.Sum32()))
}

// sent returns what was handed over, ok false when that is not what the base has.
func (t *Team) sent(standing string) (map[repo.Path]uint64, bool) {
	if t.dir() == "" {
		return nil, false
	}
	b, err := os.ReadFile(t.sentFile())
	if err != nil {
		return nil, false
	}
	b, ok := bytes.CutPrefix(b, []byte(standing+"\n"))
	if !ok {
		return nil, false
	}
	rows := make(map[repo.Path]uint64)
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)) || len(b)-size < int(n)+8 {
			return nil, false
		}
		path := b[size : size+int(n)]
		b = b[size+int(n):]
		rows[repo.Path(path)] = binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	return rows, true
}

func (t *Team) keepSent(standing string, rows map[repo.Path]uint64) {
	if t.dir() == "" {
		return
	}
	b := []byte(standing + "\n")
	for p, sum := range rows {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
		b = binary.LittleEndian.AppendUint64(b, sum)
	}
	_ = replace(t.sentFile(), b) // without it the base is asked what it has
}

// sumOf is over what of a row the base is told. What a fresh row is about follows from its
// content.
func sumOf(r store.FileRow) uint64 {
	h := fnv.New64a()
	put := func(b []byte) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(b)))) // it never fails
		_, _ = h.Write(b)
	}
	put([]byte(r.Kind.String()))
	put(binary.AppendUvarint(nil, uint64(r.Mode)))
	put(r.Content.ID.Bytes())
	put(r.Content.MD5[:])
	put([]byte{byte(r.Marks)})
	put([]byte(r.Excluded))
	if !r.About.Holds(r.Content) {
		put(r.About.Content.ID.Bytes())
		put(r.About.Content.MD5[:])
	}
	return h.Sum64()
}
