package storetest

import (
	"context"
	"io"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// testDirectoriesModel: whatever is written of directories, in whatever order, a store answers every question as the
// reference does. It tests leases too, if the store has them.
func testDirectoriesModel(t *testing.T, open func(t *testing.T) Log) {
	names := []string{"x", "y", "z"}
	texts := rapid.SampledFrom(names)
	paths := rapid.SampledFrom([]repo.Path{"", "a", "a/b", "\xff"})
	trees := rapid.SampledFrom([]string{"", "two"})
	seconds := rapid.IntRange(0, 3)
	record := rapid.Custom(func(t *rapid.T) *store.DirRecord {
		r := Directory(paths.Draw(t, "path"), texts.Draw(t, "basis"), seconds.Draw(t, "at"))
		r.Text, r.Partial = texts.Draw(t, "text"), rapid.Bool().Draw(t, "partial")
		r.Recipe = rapid.SampledFrom([]string{OutlineRecipe, ModelRecipe, "outline/2"}).Draw(t, "recipe")
		return r
	})
	lease := rapid.Custom(func(t *rapid.T) store.Lease {
		return Lease(paths.Draw(t, "path"), rapid.SampledFrom([]string{"one", "two"}).Draw(t, "token"), seconds.Draw(t, "expires"))
	})
	var few, often []fresh.Digest
	for _, n := range append(names, "none") {
		few = append(few, SurveyBasis(n).Digest())
	}
	for range 20 { // a store may choose another way to look
		often = append(often, few...)
	}

	rapid.Check(t, func(rt *rapid.T) {
		got, want := open(t), newReference()
		if c, ok := got.(io.Closer); ok {
			defer c.Close() // there are many; the end of the test is too late
		}
		ctx := context.Background()
		_, hasLeases := got.(store.Leases)
		acts := 2
		if hasLeases {
			acts = 4
		}
		both := func(what string, ask func(s store.Directories) (any, error)) {
			rt.Helper()
			g, err := ask(got)
			w, _ := ask(want)
			check(rt, what, []any{g, err}, []any{w, nil})
		}
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			tree := trees.Draw(rt, "worktree")
			switch rapid.IntRange(0, acts).Draw(rt, "act") {
			case 0, 1:
				records := rapid.SliceOfN(record, 1, 4).Draw(rt, "records")
				both("keep", func(s store.Directories) (any, error) { return nil, s.SaveDirRecords(ctx, records) })
			case 2:
				f := store.DirFailure{
					Path: paths.Draw(rt, "path"), Basis: SurveyBasis(texts.Draw(rt, "basis")).Digest(), Reason: texts.Draw(rt, "reason"),
					At: Epoch.Add(time.Duration(seconds.Draw(rt, "at")) * time.Second),
				}
				both("keep failure", func(s store.Directories) (any, error) { return nil, s.SaveFailure(ctx, f) })
			case 3:
				l, now := lease.Draw(rt, "lease"), Epoch.Add(time.Duration(seconds.Draw(rt, "now"))*time.Second)
				both("take", func(s store.Directories) (any, error) { return s.(store.Leases).Acquire(ctx, tree, l, now) })
			case 4:
				l, r := lease.Draw(rt, "lease"), record.Draw(rt, "record")
				both("settle", func(s store.Directories) (any, error) { return s.(store.Leases).Complete(ctx, tree, l, r) })
			}
			both("latest", func(s store.Directories) (any, error) {
				m, err := s.Latest(ctx)
				return plain(m), err
			})
			for _, bases := range [][]fresh.Digest{few, often} {
				both("written from", func(s store.Directories) (any, error) {
					m, err := s.DirRecordsByBasis(ctx, bases)
					return plain(m), err
				})
			}
			both("written in", func(s store.Directories) (any, error) {
				var places []store.DirVersion
				for _, p := range []repo.Path{"", "a", "a/b", "\xff"} {
					for _, b := range few {
						places = append(places, store.DirVersion{Path: p, Basis: b})
					}
				}
				m, err := s.DirRecordsByVersion(ctx, places)
				return plain(m), err
			})
			both("failures", func(s store.Directories) (any, error) { return s.Failures(ctx) })
			for _, tree := range []string{"", "two"} {
				if !hasLeases {
					break
				}
				both("leases", func(s store.Directories) (any, error) { return s.(store.Leases).Leases(ctx, tree) })
			}
		}
	})
}

// plain is m without pointers, whose text says nothing.
func plain[K comparable](m map[K][]*store.DirRecord) map[K][]store.DirRecord {
	out := make(map[K][]store.DirRecord, len(m))
	for k, list := range m {
		for _, r := range list {
			out[k] = append(out[k], *r)
		}
	}
	return out
}
