package app

import (
	"context"
	"testing"
	"time"

	"ken/internal/content"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/testrepo"
)

// A changingSource is a work tree in which something changes right after it was looked at.
type changingSource struct {
	countingSource
	afterSpecs, afterUnchanged func() // nil once they have happened
}

func (s *changingSource) Specs(ctx context.Context) ([]repo.LoadedFile, repo.StatDigest, error) {
	files, look, err := s.countingSource.Specs(ctx)
	if s.afterSpecs != nil {
		s.afterSpecs()
		s.afterSpecs = nil
	}
	return files, look, err
}

func (s *changingSource) Unchanged(ctx context.Context, l repo.StatDigest) bool {
	same := s.countingSource.Unchanged(ctx, l)
	if s.afterUnchanged != nil && same {
		s.afterUnchanged()
		s.afterUnchanged = nil
	}
	return same
}

func openChanging(t *testing.T, r *testrepo.Repo) (*changingSource, *spec.Reader) {
	t.Helper()
	g, err := git.Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	g.FilterHistory(spec.HistoryFilter())
	later := func() time.Time { return time.Now().Add(time.Minute) } // nothing was written just now
	files := content.Open(g.Root(), content.Options{Format: g.ObjectFormat(), Now: later})
	src := &changingSource{countingSource: countingSource{specSource: specSource{files, g, nil}}}
	return src, spec.NewReader(src, specPast{g, &workspace{git: g}}, specMemo{g})
}

// A listing takes one look at the specs: the first spec may appear while it is made.
func TestSpecAppearsWhileListing(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("code")
	r.Git("checkout", "-q", "-b", "other") // a checkout that may propose its files
	src, reader := openChanging(t, r)
	src.afterSpecs = func() { r.Write(".spec/x/spec.md", "---\ncode: [a.go]\n---\n") }
	l, err := reader.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Nodes) != 0 || src.read != 1 {
		t.Errorf("%d nodes after %d looks, want none, as it was at the only look", len(l.Nodes), src.read)
	}
	src, reader = openChanging(t, r)
	if l, err = reader.List(t.Context()); err != nil || len(l.Nodes) != 1 || src.read != 1 {
		t.Errorf("the next listing: %d nodes after %d looks, %v; want 1 node after 1 look", len(l.Nodes), src.read, err)
	}
}

// A listing that takes over nodes of last time does not mix them with files of now.
func TestSpecChangesWhileListingIsRenewed(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write(".spec/x/spec.md", "---\ntitle: one\ncode: [a.go]\n---\n")
	r.Write(".spec/y/spec.md", "---\ntitle: y\n---\n")
	r.Commit("begin")
	r.Git("checkout", "-q", "-b", "ahead")
	r.Write(".spec/y/spec.md", "---\ntitle: other\n---\n")
	r.Commit("a spec")
	r.Git("checkout", "-q", "main")
	_, reader := openChanging(t, r)
	if _, err := reader.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Git("update-ref", "HEAD", "ahead") // the files are as they were, and HEAD has another spec
	src, reader := openChanging(t, r)
	src.afterUnchanged = func() { r.Remove(".spec/y/spec.md") }
	l, err := reader.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if src.afterUnchanged != nil {
		t.Fatal("nobody asked whether the files are the same")
	}
	for _, n := range l.Nodes {
		if n.ID == "y" {
			t.Errorf("y is listed, dirty %t, and its file was gone when the files were read", *n.Dirty)
		}
	}
}
