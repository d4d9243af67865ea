package storetest

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/memory"
)

// testModel: whatever changes are committed, in whatever order, a store answers
// every question as the memory store does.
func testModel(t *testing.T, open func(t *testing.T) store.Files) {
	texts := rapid.SampledFrom([]string{"x", "y", "z", "w"})
	paths := rapid.SampledFrom([]repo.Path{"a", "b", "a/b", "\xff", "c\n", "d", "e", "f"})
	names := rapid.SampledFrom([]string{"", "two", "three"})
	content := rapid.Custom(func(t *rapid.T) repo.Content {
		c := Content(texts.Draw(t, "text"))
		switch rapid.IntRange(0, 9).Draw(t, "form") {
		case 0:
			return repo.Content{ID: c.ID}
		case 1:
			return repo.Content{MD5: c.MD5}
		case 2:
			return repo.Content{}
		case 3: // one text's id with another's md5
			return repo.Content{ID: c.ID, MD5: Content(texts.Draw(t, "other")).MD5}
		}
		return c
	})
	record := rapid.Custom(func(t *rapid.T) fresh.Record {
		return fresh.Record{
			Basis: fresh.Basis{Content: content.Draw(t, "basis")},
			Text:  texts.Draw(t, "words"), Author: "ann", Recipe: "hand", Path: paths.Draw(t, "path"),
			At: Epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "at")) * time.Second),
		}
	})
	row := rapid.Custom(func(t *rapid.T) store.FileRow {
		return store.FileRow{
			Path: paths.Draw(t, "path"), Kind: repo.Kind(rapid.IntRange(0, 12).Draw(t, "kind")),
			Content: content.Draw(t, "content"), Marks: store.FileMarks(rapid.IntRange(0, 127).Draw(t, "marks")),
			Excluded:     rapid.SampledFrom([]string{"", "", "binary"}).Draw(t, "excluded"),
			SummaryBasis: fresh.Basis{Content: content.Draw(t, "about")},
		}
	})
	var everything []repo.Content
	for _, a := range []string{"x", "y", "z", "w"} {
		for _, b := range []string{"x", "y", "z", "w"} {
			everything = append(everything, repo.Content{ID: ID(a), MD5: Content(b).MD5})
		}
		everything = append(everything, repo.Content{ID: ID(a)}, repo.Content{MD5: Content(a).MD5})
	}
	everything = append(everything, repo.Content{})
	// Asked often enough, a store may choose another way to look.
	var often []repo.Content
	for range 5 {
		often = append(often, everything...)
	}

	rapid.Check(t, func(rt *rapid.T) {
		got := open(t)
		if c, ok := got.(io.Closer); ok {
			defer c.Close() // there are many; the end of the test is too late
		}
		want := memory.New()
		ctx := context.Background()
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			name := names.Draw(rt, "worktree")
			c := store.FileChanges{
				Records: rapid.SliceOfN(record, 0, 3).Draw(rt, "records"),
				Put:     rapid.SliceOfN(row, 0, 5).Draw(rt, "put"),
				Delete:  rapid.SliceOfN(paths, 0, 2).Draw(rt, "delete"),
			}
			if rapid.Bool().Draw(rt, "baseline") {
				c.Verification = &store.Verification{Head: ID(texts.Draw(rt, "head")), At: Epoch}
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
			mine, theirs := Current(t, got, name, c), Current(t, want, name, c)
			errGot, errWant := got.Commit(ctx, name, mine, still), want.Commit(ctx, name, theirs, still)
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

// sameRows compares the rows, baselines and counts of two stores.
func sameRows(rt *rapid.T, t *testing.T, got, want store.Files) {
	ctx := t.Context()
	for _, name := range []string{"", "two", "three"} {
		check(rt, "rows", Rows(t, got, name), Rows(t, want, name))
		bg, okg, err := got.LastVerification(ctx, name)
		bw, okw, _ := want.LastVerification(ctx, name)
		check(rt, "baseline", []any{ageless(bg), bg.Generation == 0, okg, err}, []any{ageless(bw), bw.Generation == 0, okw, nil})
		tg, err := got.Counts(ctx, name)
		tw, _ := want.Counts(ctx, name)
		check(rt, "tally", []any{tg, err}, []any{tw, nil})
		rg, err := got.Exceptions(ctx, name, store.MarksUnproven)
		rw, _ := want.Exceptions(ctx, name, store.MarksUnproven)
		check(rt, "raw rows", []any{rg, err}, []any{rw, nil})
		rg, err = got.RowsOf(ctx, name, modelPaths)
		rw, _ = want.RowsOf(ctx, name, modelPaths)
		check(rt, "rows of", []any{rg, err}, []any{rw, nil})
	}
}

// sameRecords compares the records of two stores for lists of contents.
func sameRecords(rt *rapid.T, t *testing.T, got, want store.Files, questions ...[]repo.Content) {
	ctx := t.Context()
	for _, contents := range questions {
		kg, err := got.NewestBases(ctx, contents)
		kw, _ := want.NewestBases(ctx, contents)
		if len(kg) != len(kw) || err != nil {
			rt.Fatalf("known: got %v, %v, want %v", kg, err, kw)
		}
		for c, b := range kw {
			check(rt, "known", kg[c], b)
		}
		ng, err := got.Newest(ctx, contents)
		nw, _ := want.Newest(ctx, contents)
		if len(ng) != len(nw) || err != nil {
			rt.Fatalf("newest: got %v, %v, want %v", ng, err, nw)
		}
		for c, r := range nw {
			check(rt, "newest", ng[c], r)
			one, ok, err := got.Record(ctx, r.ID())
			check(rt, "record", []any{one, ok, err}, []any{r, true, nil})
		}
	}
	wg, err := got.HeadersAt(ctx, modelPaths)
	ww, _ := want.HeadersAt(ctx, modelPaths)
	check(rt, "written at", []any{wg, err}, []any{ww, nil})
	var more []repo.Path // enough that a store may choose another way to look
	for range 200 {
		more = append(more, modelPaths...)
	}
	wg, err = got.HeadersAt(ctx, more)
	check(rt, "written at, asked for many", []any{wg, err}, []any{ww, nil})
	for _, p := range modelPaths {
		rg, okg, err := got.NewestAt(ctx, p)
		rw, okw, _ := want.NewestAt(ctx, p)
		check(rt, "newest at", []any{rg, okg, err}, []any{rw, okw, nil})
	}
}
