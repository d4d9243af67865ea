package storetest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// The values of random changes.
var (
	modelTexts = rapid.SampledFrom([]string{"x", "y", "z", "w"})
	somePaths  = rapid.SampledFrom([]repo.Path{"a", "b", "a/b", "\xff", "c\n", "d", "e", "f"})

	modelContent = rapid.Custom(func(t *rapid.T) repo.Content {
		c := Content(modelTexts.Draw(t, "text"))
		switch rapid.IntRange(0, 9).Draw(t, "form") {
		case 0:
			return repo.Content{ID: c.ID}
		case 1:
			return repo.Content{MD5: c.MD5}
		case 2:
			return repo.Content{}
		case 3: // one text's id with another's md5
			return repo.Content{ID: c.ID, MD5: Content(modelTexts.Draw(t, "other")).MD5}
		}
		return c
	})
	modelRecord = rapid.Custom(func(t *rapid.T) fresh.Record {
		return fresh.Record{
			Basis: fresh.Basis{Content: modelContent.Draw(t, "basis")},
			Text:  modelTexts.Draw(t, "words"), Author: "ann", Recipe: "hand", Path: somePaths.Draw(t, "path"),
			At: Epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "at")) * time.Second),
		}
	})
)

// modelContents returns all contents that records may have, and the zero content.
func modelContents() []repo.Content {
	var everything []repo.Content
	for _, a := range []string{"x", "y", "z", "w"} {
		for _, b := range []string{"x", "y", "z", "w"} {
			everything = append(everything, repo.Content{ID: ID(a), MD5: Content(b).MD5})
		}
		everything = append(everything, repo.Content{ID: ID(a)}, repo.Content{MD5: Content(a).MD5})
	}
	return append(everything, repo.Content{})
}

// testRecordsModel: whatever records are added, in whatever order, a store answers as the reference does.
func testRecordsModel(t *testing.T, open func(t *testing.T) Log) {
	everything := modelContents()
	rapid.Check(t, func(rt *rapid.T) {
		got, want := open(t), newReference()
		if c, ok := got.(io.Closer); ok {
			defer c.Close() // there are many; the end of the test is too late
		}
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			records := rapid.SliceOfN(modelRecord, 1, 5).Draw(rt, "records")
			if err := got.AddRecords(t.Context(), files(records...)); err != nil {
				rt.Fatalf("add: %v", err)
			}
			for _, r := range records {
				want.addRecord(r)
			}
			sameNewest(rt, t, got, want, everything)
		}
	})
}

// sameNewest compares the newest records of contents in two stores.
func sameNewest(rt *rapid.T, t *testing.T, got interface {
	Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error)
}, want *reference, contents []repo.Content,
) {
	rt.Helper()
	ng, err := got.Newest(t.Context(), contents)
	nw := want.newestOf(contents)
	if len(ng) != len(nw) || err != nil {
		rt.Fatalf("newest: got %v, %v, want %v", ng, err, nw)
	}
	for c, r := range nw {
		check(rt, "newest", ng[c], r)
	}
}

// testModel: whatever changes are committed, in whatever order, a store answers
// every question as the reference does.
func testModel(t *testing.T, open func(t *testing.T) store.Files) {
	names := rapid.SampledFrom([]string{"", "two", "three"})
	row := rapid.Custom(func(t *rapid.T) store.FileRow {
		return store.FileRow{
			Path: somePaths.Draw(t, "path"), Kind: repo.Kind(rapid.IntRange(0, 12).Draw(t, "kind")),
			Content: modelContent.Draw(t, "content"), Marks: store.FileMarks(rapid.IntRange(0, 127).Draw(t, "marks")),
			Excluded:     rapid.SampledFrom([]string{"", "", "binary"}).Draw(t, "excluded"),
			SummaryBasis: fresh.Basis{Content: modelContent.Draw(t, "about")},
		}
	})
	everything := modelContents()
	// Asked often enough, a store may choose another way to look.
	often := slices.Repeat(everything, 5)

	rapid.Check(t, func(rt *rapid.T) {
		got := open(t)
		if c, ok := got.(io.Closer); ok {
			defer c.Close() // there are many; the end of the test is too late
		}
		want := newReference()
		ctx := context.Background()
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			name := names.Draw(rt, "worktree")
			c := store.FileChanges{
				Records: rapid.SliceOfN(modelRecord, 0, 3).Draw(rt, "records"),
				Put:     rapid.SliceOfN(row, 0, 5).Draw(rt, "put"),
				Delete:  rapid.SliceOfN(somePaths, 0, 2).Draw(rt, "delete"),
			}
			if rapid.Bool().Draw(rt, "baseline") {
				c.Verification = &store.Verification{Head: ID(modelTexts.Draw(rt, "head")), At: Epoch}
			}
			if rapid.IntRange(0, 5).Draw(rt, "prune") == 0 {
				c.Worktrees = rapid.SliceOfN(names, 0, 3).Draw(rt, "worktrees")
			}
			outcome := rapid.IntRange(0, 4).Draw(rt, "still")
			still := func() (bool, error) {
				switch outcome {
				case 0:
					return false, nil
				case 1:
					return true, context.DeadlineExceeded
				}
				return true, nil
			}
			errGot := got.Commit(ctx, name, Current(t, got, name, c), still)
			if c.Verification != nil {
				c.Verification.Generation = want.generations[name]
			}
			errWant := want.commit(name, c, still)
			if (errGot == nil) != (errWant == nil) {
				rt.Fatalf("commit: %v, want %v", errGot, errWant)
			}
			sameRows(rt, t, got, want)
		}
		sameRecords(rt, t, got, want, everything, often)
	})
}

var modelPaths = []repo.Path{"a", "b", "a/b", "\xff", "c\n", "d", "e", "f", "absent"}

// check compares two answers. Their text is all that matters, and all fields are
// in it.
func check(rt *rapid.T, what string, got, want any) {
	rt.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		rt.Fatalf("%s:\ngot  %s\nwant %s", what, g, w)
	}
}

// sameRows compares the rows, verifications and counts of a store with those of the reference.
func sameRows(rt *rapid.T, t *testing.T, got store.Files, want *reference) {
	ctx := t.Context()
	for _, name := range []string{"", "two", "three"} {
		check(rt, "rows", Rows(t, got, name), want.rowList(name))
		bg, okg, err := got.LastVerification(ctx, name)
		bw, okw := want.lastVerification(name)
		check(rt, "baseline", []any{ageless(bg), bg.Generation == 0, okg, err}, []any{ageless(bw), bw.Generation == 0, okw, nil})
		counts, err := got.Counts(ctx, name)
		check(rt, "tally", []any{counts, err}, []any{want.counts(name), nil})
		rows, err := got.Exceptions(ctx, name, store.MarksUnproven)
		check(rt, "raw rows", []any{rows, err}, []any{want.exceptions(name, store.MarksUnproven), nil})
		rows, err = got.RowsOf(ctx, name, modelPaths)
		check(rt, "rows of", []any{rows, err}, []any{want.rowsOf(name, modelPaths), nil})
	}
}

// sameRecords compares the records of a store with those of the reference, for lists of contents.
func sameRecords(rt *rapid.T, t *testing.T, got store.Files, want *reference, questions ...[]repo.Content) {
	ctx := t.Context()
	for _, contents := range questions {
		sameNewest(rt, t, got, want, contents)
		known, err := got.NewestBases(ctx, contents)
		newest := want.newestOf(contents)
		if len(known) != len(newest) || err != nil {
			rt.Fatalf("known: got %v, %v, want those of %v", known, err, newest)
		}
		for c, r := range newest {
			check(rt, "known", known[c], r.Basis.Key())
			one, ok, err := got.Record(ctx, r.ID())
			check(rt, "record", []any{one, ok, err}, []any{r, true, nil})
		}
	}
	// Asked for enough paths, a store may choose another way to look.
	for _, paths := range [][]repo.Path{modelPaths, slices.Repeat(modelPaths, 200)} {
		headers, err := got.HeadersAt(ctx, paths)
		check(rt, "written at", []any{headers, err}, []any{want.headersAt(paths), nil})
	}
	for _, p := range modelPaths {
		rg, okg, err := got.NewestAt(ctx, p)
		rw, okw := want.newestAt(p)
		check(rt, "newest at", []any{rg, okg, err}, []any{rw, okw, nil})
	}
}
