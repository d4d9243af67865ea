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

// sendState sends the baseline and the counts of the work tree, and its rows if rowsInterval has passed.
// If now is set, it sends everything.
func (t *Team) sendState(ctx context.Context, step stepper, now bool) error {
	local, verified, err := t.opts.Local.LastVerification(ctx, t.opts.Worktree)
	if err != nil {
		return err
	}
	name := t.worktree()
	told, known := t.marks.SentCounts[name]
	if known && told == local.Generation && t.moved == (Exchanged{}) && !now {
		return t.sendRows(ctx, step, local.Generation, now)
	}
	tally, err := t.opts.Local.Counts(ctx, t.opts.Worktree)
	if err != nil || !verified && tally == (store.FileCounts{}) {
		return err // no command has checked the work tree yet
	}
	var baseline *store.Verification
	if verified {
		baseline = &local
	}
	err = step(ctx, func(ctx context.Context) error { return t.shared.SaveWorktree(ctx, name, baseline, tally) })
	if err != nil {
		return err
	}
	if t.marks.SentCounts == nil {
		t.marks.SentCounts = make(map[string]int64)
	}
	t.marks.SentCounts[name] = local.Generation
	if err := t.saveMarks(ctx); err != nil {
		return err
	}
	return t.sendRows(ctx, step, local.Generation, now)
}

// sendRows sends the rows that differ from those in the shared store. It does not send stats, which mean
// nothing on other machines and may change without the content.
func (t *Team) sendRows(ctx context.Context, step stepper, generation int64, now bool) error {
	name := t.worktree()
	at := t.opts.Now()
	if sent, known := t.marks.SentRows[name]; known && sent == generation {
		return nil
	}
	if !now && at.Sub(t.marks.SentRowsAt) < rowsInterval && !at.Before(t.marks.SentRowsAt) {
		return nil
	}
	version, err := t.sharedRowsVersion(ctx, step, name)
	if err != nil {
		return err
	}
	sent, ok := t.loadSentRows(version)
	if !ok {
		sent, err = t.sharedRows(ctx, step, name)
		if err != nil {
			return err
		}
	}
	change, sums, err := t.changedRows(ctx, sent)
	if err != nil {
		return err
	}
	complete := true
	if !now && len(change.Put) > maxRows {
		change.Put = change.Put[:maxRows]
		complete = false
	}
	if err := t.sendChanges(ctx, step, name, change); err != nil {
		return err
	}
	version, err = t.sharedRowsVersion(ctx, step, name)
	if err != nil {
		return err
	}
	for i, r := range change.Put {
		sent[r.Path] = sums[i]
	}
	for _, p := range change.Delete {
		delete(sent, p)
	}
	t.saveSentRows(version, sent)
	t.marks.SentRowsAt = at
	if complete {
		if t.marks.SentRows == nil {
			t.marks.SentRows = make(map[string]int64)
		}
		t.marks.SentRows[name] = generation
	}
	return t.saveMarks(ctx)
}

// sharedRowsVersion returns the version of the rows that the shared store has of a work tree.
func (t *Team) sharedRowsVersion(ctx context.Context, step stepper, name string) (version string, err error) {
	err = step(ctx, func(ctx context.Context) error {
		b, _, err := t.shared.LastVerification(ctx, name)
		version = t.rowsVersion(b)
		return err
	})
	return version, err
}

// changedRows returns the changes from the sent rows to the rows of the work tree, and the checksum of each
// row in change.Put. sent maps paths to checksums.
func (t *Team) changedRows(ctx context.Context, sent map[repo.Path]uint64) (change store.FileChanges, sums []uint64, err error) {
	have := make(map[repo.Path]bool, len(sent))
	for r, err := range t.opts.Local.Rows(ctx, t.opts.Worktree) {
		if err != nil {
			return change, nil, err
		}
		sum := rowSum(r)
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

// sendChanges sends rows in steps. A commit of rows without a baseline invalidates the baseline in the shared
// store, so sendChanges sets it again at the end.
func (t *Team) sendChanges(ctx context.Context, step stepper, name string, change store.FileChanges) error {
	if change.IsZero() {
		return nil
	}
	for len(change.Put)+len(change.Delete) > 0 {
		part := store.FileChanges{
			Put:    change.Put[:min(len(change.Put), 10*batch)],
			Delete: change.Delete[:min(len(change.Delete), 10*batch)],
		}
		change.Put = change.Put[len(part.Put):]
		change.Delete = change.Delete[len(part.Delete):]
		err := step(ctx, func(ctx context.Context) error { return t.shared.Commit(ctx, name, part, nil) })
		if err != nil {
			return err
		}
	}
	local, verified, err := t.opts.Local.LastVerification(ctx, t.opts.Worktree)
	if err != nil || !verified {
		return err
	}
	return step(ctx, func(ctx context.Context) error {
		shared, _, err := t.shared.LastVerification(ctx, name)
		if err != nil {
			return err
		}
		local.Generation = shared.Generation
		return t.shared.Commit(ctx, name, store.FileChanges{Verification: &local}, nil)
	})
}

// sharedRows reads the rows that the shared store has of a work tree. It returns their checksums by path.
func (t *Team) sharedRows(ctx context.Context, step stepper, name string) (map[repo.Path]uint64, error) {
	rows := make(map[repo.Path]uint64)
	err := step(ctx, func(ctx context.Context) error {
		for r, err := range t.shared.Rows(ctx, name) {
			if err != nil {
				return err
			}
			rows[r.Path] = rowSum(r)
		}
		return nil
	})
	return rows, err
}

// rowsVersion returns a version that changes with the rows in the shared store.
func (t *Team) rowsVersion(b store.Verification) string {
	return fmt.Sprint(t.marks.Scope, " ", b.Generation)
}

// sentRowsFile returns the name of the file that lists the rows sent to the shared store. Its first line is
// the version of the rows in the shared store. For each row follow the length of the path, the path, and the
// checksum.
func (t *Team) sentRowsFile() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.opts.Worktree)) // never fails
	return t.file(fmt.Sprintf("-rows-%08x", h.Sum32()))
}

// loadSentRows returns the checksums of the sent rows by path. It returns false if the file cannot be read or
// has another version.
func (t *Team) loadSentRows(version string) (map[repo.Path]uint64, bool) {
	if t.dir() == "" {
		return nil, false
	}
	b, err := os.ReadFile(t.sentRowsFile())
	if err != nil {
		return nil, false
	}
	b, ok := bytes.CutPrefix(b, []byte(version+"\n"))
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

// saveSentRows writes the file that loadSentRows reads.
func (t *Team) saveSentRows(version string, rows map[repo.Path]uint64) {
	if t.dir() == "" {
		return
	}
	b := []byte(version + "\n")
	for p, sum := range rows {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
		b = binary.LittleEndian.AppendUint64(b, sum)
	}
	_ = writePrivate(t.sentRowsFile(), b) // without the file, sharedRows reads the rows again
}

// rowSum returns a checksum of the parts of a row that are sent. It includes the basis of the summary only if
// the summary is stale, because the basis of a fresh summary is the content.
func rowSum(r store.FileRow) uint64 {
	h := fnv.New64a()
	put := func(b []byte) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(b)))) // never fails
		_, _ = h.Write(b)
	}
	put([]byte(r.Kind.String()))
	put(binary.AppendUvarint(nil, uint64(r.Mode)))
	put(r.Content.ID.Bytes())
	put(r.Content.MD5[:])
	put([]byte{byte(r.Marks)})
	put([]byte(r.Excluded))
	if !r.SummaryBasis.Matches(r.Content) {
		put(r.SummaryBasis.Content.ID.Bytes())
		put(r.SummaryBasis.Content.MD5[:])
	}
	return h.Sum64()
}
