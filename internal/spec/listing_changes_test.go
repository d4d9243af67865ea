package spec_test

import (
	"testing"
	"time"

	"ken/internal/content"
	"ken/internal/spec"
	"ken/internal/spec/derive"
	"ken/internal/testrepo"
	"ken/internal/workspace"
)

// openWorkspace opens a repository. Its clock is ahead, so that all stats count as reliable.
func openWorkspace(t *testing.T, dir string) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.Open(t.Context(), workspace.Options{Dir: dir, Program: "test", History: derive.HistoryFilter()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ws.Close)
	later := func() time.Time { return time.Now().Add(time.Minute) }
	ws.Files = content.Open(ws.Git.Root(), content.Options{Format: ws.Git.ObjectFormat(), Now: later})
	return ws
}

func openObserved(t *testing.T, r *testrepo.Repo) (*spec.Reads, *spec.Reader) {
	t.Helper()
	reads := &spec.Reads{}
	return reads, spec.NewReader(openWorkspace(t, r.Dir), spec.Options{}).Observe(reads)
}

// A listing reads the specs once, even if the first spec appears while it is made.
func TestSpecAppearsWhileListing(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("code")
	r.Git("checkout", "-q", "-b", "other") // a checkout that may propose its files
	reads, reader := openObserved(t, r)
	reads.AfterSpecs = func() { r.Write(".spec/x/spec.md", "---\ncode: [a.go]\n---\n") }
	l, err := reader.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Nodes) != 0 || reads.Specs != 1 {
		t.Errorf("%d nodes after %d reads of the specs, want none after one read", len(l.Nodes), reads.Specs)
	}
	reads, reader = openObserved(t, r)
	if l, err = reader.List(t.Context()); err != nil || len(l.Nodes) != 1 || reads.Specs != 1 {
		t.Errorf("the next listing: %d nodes after %d reads, %v; want 1 node after 1 read", len(l.Nodes), reads.Specs, err)
	}
}

// A listing does not mix cached nodes with files that have changed since.
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
	_, reader := openObserved(t, r)
	if _, err := reader.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Git("update-ref", "HEAD", "ahead") // the files are unchanged, and HEAD has another spec
	reads, reader := openObserved(t, r)
	reads.AfterUnchanged = func() { r.Remove(".spec/y/spec.md") }
	l, err := reader.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if reads.AfterUnchanged != nil {
		t.Fatal("List did not check whether the files are unchanged")
	}
	for _, n := range l.Nodes {
		if n.ID == "y" {
			t.Errorf("y is listed with dirty %t; its file was deleted before the files were read", *n.Dirty)
		}
	}
}
