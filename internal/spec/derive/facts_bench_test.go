package derive_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// A longHistory is large and simple: a trunk with short branches, and nodes with two files each.
type longHistory struct {
	commits []repo.HistoryCommit
	touches map[repo.Path][]repo.Touch
	below   map[repo.Path][]repo.Path
	marked  []repo.CommitNumber
	moves   []repo.Move
	asked   int
}

var (
	_ derive.History  = (*longHistory)(nil)
	_ derive.Contents = (*longHistory)(nil)
)

func (h *longHistory) Len() repo.CommitNumber                        { return repo.CommitNumber(len(h.commits)) }
func (h *longHistory) Commit(n repo.CommitNumber) repo.HistoryCommit { return h.commits[n] }
func (h *longHistory) Parents() repo.ParentTable {
	l := repo.ParentTable{Starts: make([]int32, 1, len(h.commits)+1)}
	for _, c := range h.commits {
		l.Numbers = append(l.Numbers, c.Parents...)
		l.Starts = append(l.Starts, int32(len(l.Numbers)))
	}
	return l
}
func (h *longHistory) Marked() []repo.CommitNumber                { return h.marked }
func (h *longHistory) Touching(path repo.Path) []repo.Touch       { return h.touches[path] }
func (h *longHistory) Below(dir repo.Path) []repo.Path            { return h.below[dir] }
func (h *longHistory) Since(repo.CommitNumber) []repo.PathTouches { panic("of no use here") }
func (h *longHistory) Moves() []repo.Move                         { return h.moves }
func (h *longHistory) Gap() string                                { return "" }
func (h *longHistory) Find(id repo.ID) (n repo.CommitNumber, ok bool) {
	last := repo.CommitNumber(len(h.commits) - 1)
	return last, h.commits[last].ID == id
}

func (h *longHistory) At(_ context.Context, places []repo.CommitPath) ([]repo.ID, error) {
	h.asked += len(places)
	ids := make([]repo.ID, len(places))
	for i, p := range places {
		ids[i] = idOf(p.Commit.Short() + string(p.Path)) // every lookup has another content
	}
	return ids, nil
}

// Merged reports that people made all merges.
func (h *longHistory) Merged(_ context.Context, files []repo.MergedFile) ([]repo.MergeVerdict, error) {
	list := make([]repo.MergeVerdict, len(files))
	for i := range list {
		list[i].By = repo.MergeByPerson
	}
	return list, nil
}

// newLongHistory returns a history of many commits and nodes. One in ten nodes was moved, one has an ack, and
// three have drift.
func newLongHistory(commits, count int) (*longHistory, []*parse.Node) {
	r := rand.New(rand.NewPCG(1, 2))
	h := &longHistory{touches: make(map[repo.Path][]repo.Touch), below: make(map[repo.Path][]repo.Path)}
	tip := repo.CommitNumber(-1)
	for n := range repo.CommitNumber(commits) {
		c := repo.HistoryCommit{ID: idOf(fmt.Sprint("commit ", n)), Date: time.Unix(int64(n)*60, 0).UTC().Format(time.RFC3339)}
		switch {
		case tip < 0:
		case r.IntN(10) == 0 && n-tip > 1: // merge the branch beside the trunk
			c.Parents = []repo.CommitNumber{tip, n - 1}
		case r.IntN(3) == 0 && n-tip < 4 && n < repo.CommitNumber(commits)-1:
			c.Parents = []repo.CommitNumber{max(tip, n-1)}
			h.commits = append(h.commits, c)
			continue // the trunk stays
		default:
			c.Parents = []repo.CommitNumber{tip}
		}
		tip = n
		h.commits = append(h.commits, c)
	}
	touch := func(p repo.Path, n repo.CommitNumber, kind repo.ChangeKind) {
		h.touches[p] = append(h.touches[p], repo.Touch{Commit: n, Kind: kind})
	}
	var files []repo.LoadedFile
	for i := range count {
		path := repo.Path(fmt.Sprintf(".spec/n%d/spec.md", i))
		one, two := repo.Path(fmt.Sprintf("src/%d/a.go", i)), repo.Path(fmt.Sprintf("src/%d/b.go", i))
		files = append(files, repo.LoadedFile{Path: path, Content: fmt.Appendf(nil, "---\ncode: [%s, %s]\n---\n", one, two)})
		h.below[parse.Root] = append(h.below[parse.Root], path)
		born := repo.CommitNumber(r.IntN(commits / 2))
		old := path
		if i%10 == 0 {
			old = repo.Path(fmt.Sprintf(".spec/o%d/spec.md", i))
			h.below[parse.Root] = append(h.below[parse.Root], old)
		}
		touch(old, born, repo.Added)
		if old != path {
			n := born + repo.CommitNumber(commits/4)
			h.moves = append(h.moves, repo.Move{Commit: n, From: old, To: path, Same: true})
			touch(old, n, repo.Deleted)
			touch(path, n, repo.Added)
		}
		last := repo.CommitNumber(commits - commits/10 + r.IntN(commits/20))
		touch(path, last, repo.Modified)
		for _, f := range []repo.Path{one, two} {
			touch(f, born, repo.Added)
			for n := born; n < last; n += repo.CommitNumber(1 + r.IntN(commits/50)) {
				touch(f, n, repo.Modified)
			}
		}
		if i%10 < 4 {
			touch(one, last+repo.CommitNumber(commits/50), repo.Modified)
		}
		if i%10 == 3 {
			n := repo.CommitNumber(commits - 1 - r.IntN(commits/100))
			h.commits[n].Trailers = append(h.commits[n].Trailers, repo.Trailer{Key: "Spec-OK", Value: fmt.Sprint("n", i)})
			h.marked = append(h.marked, n)
		}
	}
	slices.Sort(h.marked)
	h.marked = slices.Compact(h.marked)
	slices.Sort(h.below[parse.Root])
	slices.SortStableFunc(h.moves, func(a, b repo.Move) int { return cmp.Compare(a.Commit, b.Commit) })
	return h, parse.Load(files)
}

func BenchmarkDerive(b *testing.B) {
	for _, size := range []struct{ nodes, commits int }{{200, 100_000}, {400, 100_000}, {4_000, 100_000}, {200, 10_000}} {
		b.Run(fmt.Sprintf("nodes=%d/commits=%d", size.nodes, size.commits), func(b *testing.B) {
			h, list := newLongHistory(size.commits, size.nodes)
			head := derive.Options{Head: h.commits[len(h.commits)-1].ID}
			b.ReportAllocs()
			for b.Loop() {
				facts, err := derive.Derive(b.Context(), list, head, h, h)
				if err != nil || len(facts) != size.nodes {
					b.Fatal(err)
				}
			}
			drift := 0
			for _, f := range try(derive.Derive(b.Context(), list, head, h, h)) {
				if *f.Drift > 0 {
					drift++
				}
			}
			b.ReportMetric(float64(drift), "drifting")
		})
	}
}

func try[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
