package registry_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

// A randomRepo is a fakeRepo that random steps change, with the expected summaries.
type randomRepo struct {
	*fakeRepo
	written   map[repo.ID]bool // contents with a stored text
	described map[repo.Path]bool
	read      map[string]bool // paths with the bytes that a text was written from
}

// sameBytes reports whether a text was written at a path from its current bytes, under any attributes.
func (r *randomRepo) sameBytes(p repo.Path) bool { return r.read[string(p)+"\x00"+r.disk[p].bytes] }

// identity returns the content id that a text about a path must have: that of the blob that git would store, or
// that of the bytes under a filter driver.
func (r *randomRepo) identity(p repo.Path) repo.ID {
	bytes := r.disk[p].bytes
	if r.attributesOf(p).Filtered {
		return blob(bytes)
	}
	return blob(r.clean(p, bytes))
}

func newRandomRepo(t *rapid.T) *randomRepo {
	w := newFakeRepo(t)
	w.autocrlf = rapid.Bool().Draw(t, "autocrlf")
	w.silent = rapid.Bool().Draw(t, "silent index")
	if rapid.Bool().Draw(t, "attributed") {
		w.put(".gitattributes", "*.f filter\n*.e encoding\n*.g generated\n")
	}
	return &randomRepo{fakeRepo: w, written: map[repo.ID]bool{}, described: map[repo.Path]bool{}, read: map[string]bool{}}
}

var (
	names  = rapid.SampledFrom([]repo.Path{"a.go", "b.go", "c.f", "d.e", "dir/a.go", "dir/e.g", "x.sum"})
	bodies = rapid.SampledFrom([]string{"", "one", "two", "one\ntwo", "one\r\ntwo", "one\nTWO", "caf\xe9", "café", "\x00"})
)

// some returns one of the paths; ok is false if there are none.
func (r *randomRepo) some(t *rapid.T, from []repo.Path) (repo.Path, bool) {
	slices.Sort(from)
	if len(from) == 0 {
		return "", false
	}
	return rapid.SampledFrom(from).Draw(t, "path"), true
}

func (r *randomRepo) present(t *rapid.T) (repo.Path, bool) {
	return r.some(t, slices.Collect(maps.Keys(r.disk)))
}

// step performs one random step.
func (r *randomRepo) step(t *rapid.T) {
	switch what := rapid.SampledFrom([]string{
		"edit", "edit", "edit", "scribble", "touch", "chmod", "stage", "remove", "rename", "commit", "commit all", "refresh",
		"link", "leave out", "checkout", "amend", "tick", "tick", "describe", "describe", "verify", "verify", "verify paths", "attributes", "setting",
	}).Draw(t, "what"); what {
	case "edit":
		r.write(names.Draw(t, "path"), bodies.Draw(t, "bytes"))
	case "scribble":
		if p, ok := r.present(t); ok && p != ".gitattributes" && r.disk[p].mode != repo.Symlink {
			r.scribble(p, bodies.Draw(t, "bytes"))
		}
	case "touch":
		if p, ok := r.present(t); ok {
			r.touch(p)
		}
	case "chmod":
		if p, ok := r.present(t); ok {
			r.chmod(p, rapid.SampledFrom([]repo.Mode{repo.Regular, repo.Executable}).Draw(t, "mode"))
		}
	case "stage":
		r.stage(names.Draw(t, "path"))
	case "remove":
		if p, ok := r.present(t); ok && p != ".gitattributes" {
			r.remove(p)
		}
	case "link":
		r.link(rapid.SampledFrom([]repo.Path{"a.go", "dir/a.go"}).Draw(t, "path"), "b.go")
	case "leave out":
		if p, ok := r.some(t, slices.Collect(maps.Keys(r.index))); ok && p != ".gitattributes" && r.disk[p] != nil {
			r.flag(p, repo.SkipWorktree)
			r.remove(p)
		}
	case "rename":
		// b.go may have attributes of its own, which do not move with a rename.
		between := rapid.SampledFrom([]repo.Path{"a.go", "dir/a.go", "z.go"})
		from, to := between.Draw(t, "from"), between.Draw(t, "to")
		if r.disk[from] != nil && r.index[from] != nil && from != to {
			r.mv(from, to)
		}
	case "commit":
		r.commit()
	case "commit all":
		r.commitAll()
	case "refresh":
		r.refresh()
	case "checkout":
		if len(r.commits) > 0 {
			ids := slices.SortedFunc(maps.Keys(r.commits), func(a, b repo.ID) int { return slices.Compare(a.Bytes(), b.Bytes()) })
			r.checkout(rapid.SampledFrom(ids).Draw(t, "commit"))
		}
	case "amend":
		if len(r.commits) > 0 {
			r.head = r.commits[r.head].parent
			r.commit()
		}
	case "tick":
		r.tick()
	case "describe":
		if p, ok := r.some(t, slices.Collect(maps.Keys(r.index))); ok {
			w := r.writeSummaries(t, registry.Update{Path: p, Text: fmt.Sprint("text ", r.seconds)})[0]
			if w.Result == registry.Stored {
				r.written[w.ID], r.described[p] = true, true
				r.read[string(p)+"\x00"+r.disk[p].bytes] = true
			}
		}
	case "verify":
		r.verify(t, registry.VerifyOptions{Full: rapid.Bool().Draw(t, "full")})
	case "verify paths":
		if p, ok := r.some(t, slices.Collect(maps.Keys(r.index))); ok {
			r.verify(t, registry.VerifyOptions{Paths: []repo.Path{p}})
		}
	case "attributes":
		info := rapid.SampledFrom([]string{"", "b.go filter", "b.go text"}).Draw(t, "info/attributes")
		r.reattribute(t, func() { r.info = info })
	case "setting":
		r.reattribute(t, func() { r.autocrlf = !r.autocrlf })
	}
}

// reattribute changes settings between two verifications. ken does not see settings that change and change back in
// between, nor those before the first verification: like git, it trusts the index then, until a file is touched.
func (r *randomRepo) reattribute(t *rapid.T, change func()) {
	r.verify(t, registry.VerifyOptions{})
	change()
	r.status(t, registry.VerifyOptions{})
	r.verify(t, registry.VerifyOptions{})
}

// After any steps and for every method: a text is fresh exactly if one was written from the current content, the
// shortcut by exceptions finds the same as a walk over all rows, and the state trust is right.
func TestLife(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newRandomRepo(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			l.step(t)
		}
		short, long := l.status(t, registry.VerifyOptions{}), l.status(t, registry.VerifyOptions{All: true})
		l.agree(t, short, long)
		l.agree(t, l.status(t, registry.VerifyOptions{OmitSparse: true}), quiet(long))
		l.truthful(t, long)
		l.adds(t, short, len(l.index))
		l.agree(t, l.verify(t, registry.VerifyOptions{}), short)
		l.tick()

		again := l.status(t, registry.VerifyOptions{All: true})
		l.truthful(t, again)
		l.adds(t, again, len(l.index))
		l.agree(t, l.status(t, registry.VerifyOptions{}), again)
		l.agree(t, l.status(t, registry.VerifyOptions{OmitSparse: true}), quiet(again))
		for _, v := range again.Verdicts {
			if v.Content.State == fresh.None || v.Content.State == fresh.Stale {
				t.Errorf("%s is %s directly after a verification", v.Path, v.Content)
			}
		}
	})
}

// agree checks that two reports have the same counts and verdicts.
func (r *randomRepo) agree(t *rapid.T, a, b *registry.Report) {
	if diff := cmp.Diff(notable(a), notable(b)); diff != "" {
		t.Errorf("verdicts differ:\n%s", diff)
	}
	if a.Counts != b.Counts {
		t.Errorf("counts differ:\n%+v\n%+v", a.Counts, b.Counts)
	}
}

// quiet returns a report without the paths that are not checked out and whose text is not stale.
func quiet(rep *registry.Report) *registry.Report {
	only := *rep
	only.Verdicts = slices.DeleteFunc(slices.Clone(rep.Verdicts), func(v registry.FileState) bool {
		return v.Content.Reason == fresh.NotCheckedOut && v.Summary != fresh.Stale
	})
	return &only
}

func notable(rep *registry.Report) []string {
	only := *rep
	only.Verdicts = slices.DeleteFunc(slices.Clone(rep.Verdicts), func(v registry.FileState) bool { return !v.Notable() })
	return verdicts(&only)
}

// adds checks that every file is counted once by the state of its summary, and once by its verdict.
func (r *randomRepo) adds(t *rapid.T, rep *registry.Report, files int) {
	c := rep.Counts
	if c.Files != files || c.Fresh+c.Stale+c.Gone+c.None+c.Excluded+c.Unknown+c.Conflicted != files {
		t.Errorf("the summary states of %d files do not add up: %+v", files, c)
	}
	gone := 0
	for _, v := range rep.Verdicts {
		if r.index[v.RawPath()] == nil {
			gone++
		}
	}
	if c.Match+c.Mismatch+c.Missing+c.New+c.Unknown+c.Conflicted+c.Sparse != files+gone {
		t.Errorf("the verdicts of %d files and %d removed ones do not add up: %+v", files, gone, c)
	}
}

// truthful compares a report on every path with the repository itself.
func (r *randomRepo) truthful(t *rapid.T, rep *registry.Report) {
	for _, v := range rep.Verdicts {
		p := v.RawPath()
		if e := r.index[p]; e != nil && r.disk[p] == nil && e.Flags.Has(repo.SkipWorktree) {
			// A file that had a filter when it was last seen may still count as filtered.
			once := (p == "b.go" || p == "c.f") && (v.Summary == fresh.Unknown || v.Summary == fresh.None || v.Summary == fresh.Excluded)
			if r.attributesOf(p).Filtered || once {
				if v.Summary == fresh.Fresh || v.Summary == fresh.Stale || v.Summary == fresh.None && r.described[p] {
					t.Errorf("%s has a filter and is not checked out: verdict %s, summary %s", p, v.Content, v.Summary)
				}
				continue
			}
			if v.Content.Reason != fresh.NotCheckedOut || v.ID != e.ID || v.Summary == fresh.Fresh != r.written[e.ID] && v.Summary != fresh.Excluded {
				t.Errorf("%s is not checked out: verdict %s, summary %s", p, v.Content, v.Summary)
			}
			continue
		}
		if r.index[p] == nil || r.disk[p] == nil {
			if v.Content.State != fresh.Gone || v.Summary == fresh.Fresh {
				t.Errorf("%s is missing: verdict %s, summary %s", p, v.Content, v.Summary)
			}
			// A file that had a filter when it was last seen may still count as filtered.
			once := (p == "b.go" || p == "c.f") && v.Summary == fresh.Excluded
			if e := r.index[p]; e != nil && r.described[p] && e.Mode != repo.Symlink && r.blobs[e.ID] == "one" && v.Summary != fresh.Gone && !once {
				t.Errorf("%s was described and is missing: summary %s", p, v.Summary)
			}
			continue
		}
		if v.ID != r.identity(p) {
			t.Errorf("%s has content %s, want %s", p, v.ID.Short(), r.identity(p).Short())
		}
		known := r.written[r.identity(p)]
		if !known && v.Summary == fresh.Fresh && v.Grade == fresh.GradeFormat && r.sameBytes(p) {
			known = true // only the form in which git stores the bytes has changed
		}
		if v.Summary != fresh.Excluded && known != (v.Summary == fresh.Fresh) {
			t.Errorf("%s is %s; text for its content: %v", p, v.Summary, known)
		}
		if v.Summary == fresh.None && r.described[p] {
			t.Errorf("%s has no summary, but was described", p)
		}
	}
}
