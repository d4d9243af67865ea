package registry_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
)

// A letterGrader compares contents letter by letter: case and white space are format, and contents with the same
// first letter differ in their body.
type letterGrader struct{ blobs map[repo.ID]string }

func (g letterGrader) grade(_ context.Context, moves []registry.ContentChange) ([]fresh.Grade, error) {
	grades := make([]fresh.Grade, len(moves))
	for i, m := range moves {
		from, known := g.blobs[m.From]
		to, here := g.blobs[m.To]
		from, to = strings.ToLower(strings.TrimSpace(from)), strings.ToLower(strings.TrimSpace(to))
		switch {
		case !known || !here:
			grades[i] = fresh.GradeContent
		case from == to:
			grades[i] = fresh.GradeFormat
		case from != "" && to != "" && from[0] == to[0]:
			grades[i] = fresh.GradeBody
		default:
			grades[i] = fresh.GradeContent
		}
	}
	return grades, nil
}

// A sharedRepo is a repository with branches, renames and summaries, whose other clones get its commits and its
// records.
type sharedRepo struct {
	*fakeRepo
	records []fresh.Record
}

var (
	sharedNames  = []repo.Path{"a.go", "b.go", "dir/c.go"}
	sharedBodies = []string{"one", "One", "one ", "one more", "two", "Two", "three"}
)

func (s *sharedRepo) step(t *rapid.T) {
	tracked := slices.Sorted(maps.Keys(s.index))
	path := rapid.SampledFrom(sharedNames).Draw(t, "path")
	if len(tracked) > 0 && rapid.Bool().Draw(t, "one there is") {
		path = rapid.SampledFrom(tracked).Draw(t, "tracked path")
	}
	body := rapid.SampledFrom(sharedBodies).Draw(t, "content")
	switch rapid.SampledFrom([]string{"edit", "edit", "commit", "commit", "checkout", "rename", "remove", "describe", "describe", "superseded", "confirm", "verify", "verify one", "full"}).Draw(t, "what") {
	case "edit":
		s.put(path, body)
	case "commit":
		s.commit()
	case "checkout":
		s.checkoutSome(t)
	case "rename":
		to := rapid.SampledFrom([]repo.Path{"a.go", "b.go", "new.go", "dir/new.go"}).Draw(t, "to")
		if s.index[path] != nil && s.index[to] == nil {
			s.mv(path, to)
		}
	case "remove":
		s.remove(path)
		s.stage(path)
	case "describe":
		s.update(t, registry.Update{Path: path, Text: fmt.Sprint("text ", s.seconds)})
	case "superseded":
		s.update(t, registry.Update{Path: path, Text: fmt.Sprint("text ", s.seconds), Read: blob(body).String()})
	case "confirm":
		s.update(t, registry.Update{Path: path, Keep: true})
	case "verify":
		s.verify(t, registry.VerifyOptions{})
	case "verify one":
		if s.index[path] != nil {
			s.verify(t, registry.VerifyOptions{Paths: []repo.Path{path}})
		}
	case "full":
		s.verify(t, registry.VerifyOptions{Full: true})
	}
	s.tick()
}

// update writes a text, and remembers its record for the other clones.
func (s *sharedRepo) update(t *rapid.T, u registry.Update) {
	written := s.writeSummaries(t, u)[0]
	if written.Result == registry.Rejected {
		return
	}
	record, ok, err := s.store.NewestAt(t.Context(), u.Path)
	if err != nil || !ok {
		t.Fatalf("no record at %s after the write: %v", u.Path, err)
	}
	s.records = append(s.records, record)
}

func (s *sharedRepo) checkoutSome(t *rapid.T) {
	if len(s.commits) == 0 {
		return
	}
	ids := slices.SortedFunc(maps.Keys(s.commits), func(a, b repo.ID) int { return slices.Compare(a.Bytes(), b.Bytes()) })
	s.checkout(rapid.SampledFrom(ids).Draw(t, "commit"))
}

// answers returns the answers of Status and Show about the tracked paths.
func (r *fakeRepo) answers(t rapid.TB) (listed, shown []string) {
	rep := r.status(t, registry.VerifyOptions{All: true})
	for _, v := range rep.Verdicts {
		path := v.RawPath()
		if r.index[path] == nil {
			continue
		}
		k := r.show(t, path)
		listed = append(listed, fmt.Sprintf("%s %s %q %s", path, v.Summary, v.Grade, v.ID.Short()))
		shown = append(shown, fmt.Sprintf("%s %s %q %s", path, k.Verdict, k.Grade, k.CurrentID.Short()))
	}
	return listed, shown
}

// texts returns the shown texts of the tracked paths.
func (r *fakeRepo) texts(t rapid.TB) []string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(r.index)) {
		k := r.show(t, path)
		list = append(list, fmt.Sprintf("%s %s %q %q for %q", path, k.Verdict, k.Grade, k.Text, k.WrittenFor))
	}
	return list
}

func newSharedRepo(t *rapid.T) *sharedRepo {
	w := newFakeRepo(t)
	for _, body := range sharedBodies {
		w.blobs[blob(body)] = body
	}
	w.grade = letterGrader{w.blobs}.grade
	l := &sharedRepo{fakeRepo: w}
	for range rapid.IntRange(5, 50).Draw(t, "steps") {
		l.step(t)
	}
	return l
}

// clone returns another clone at the same commit, without rows.
func (s *sharedRepo) clone() *fakeRepo {
	other := newFakeRepo(s)
	other.blobs, other.commits, other.grade = s.blobs, s.commits, s.grade
	other.clock, other.seconds = s.clock, s.seconds
	return other
}

func (s *sharedRepo) Context() context.Context { return s.ctx }

// Clones at the same commit with the same records give the same answers, regardless of their past and of the order
// of the records.
func TestClonesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newSharedRepo(t)
		l.commitAll()
		head := l.head
		other := l.clone()
		early := rapid.IntRange(0, len(l.records)).Draw(t, "records that came early")
		order := rapid.Permutation(l.records).Draw(t, "order")
		receive := func(records []fresh.Record) {
			other.store.Store.Commit(t.Context(), "", store.FileChanges{Records: records}, nil)
		}
		receive(order[:early])
		for range rapid.IntRange(0, 3).Draw(t, "detours") {
			ids := slices.SortedFunc(maps.Keys(l.commits), func(a, b repo.ID) int { return slices.Compare(a.Bytes(), b.Bytes()) })
			other.checkout(rapid.SampledFrom(ids).Draw(t, "detour"))
			other.tick()
			other.verify(t, registry.VerifyOptions{})
		}
		other.checkout(head)
		other.tick()
		if rapid.Bool().Draw(t, "verified before the rest came") {
			other.verify(t, registry.VerifyOptions{})
		}
		receive(order[early:])
		if rapid.Bool().Draw(t, "verified after") {
			other.verify(t, registry.VerifyOptions{})
		}
		here, _ := l.answers(t)
		there, _ := other.answers(t)
		same(t, "verdicts of two clones", there, here)
		same(t, "texts of two clones", other.texts(t), l.texts(t))
		counts, otherCounts := l.status(t, registry.VerifyOptions{}).Counts, other.status(t, registry.VerifyOptions{}).Counts
		same(t, "fresh, stale and none in two clones",
			[]int{otherCounts.Fresh, otherCounts.Stale, otherCounts.None}, []int{counts.Fresh, counts.Stale, counts.None})
	})
}

// Status and Show give the same answer about a path.
func TestAnswersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newSharedRepo(t)
		listed, shown := l.answers(t)
		same(t, "status and show", shown, listed)
		l.verify(t, registry.VerifyOptions{})
		again, shown := l.answers(t)
		same(t, "status after verify", again, listed)
		same(t, "show after verify", shown, listed)
		l.verify(t, registry.VerifyOptions{Full: true})
		full, _ := l.answers(t)
		same(t, "status after verify --full", full, listed)
	})
}
