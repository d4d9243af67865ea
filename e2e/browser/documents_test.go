package browser

import (
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// withStaleMentions creates a repository whose guide mentions a moved file and a deleted one.
func withStaleMentions(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := sample(t)
	r.Write("tools/build.sh", "#!/bin/sh\necho build the program, all of it\n")
	r.Write("tools/old.sh", "#!/bin/sh\necho something else that nobody needs\n")
	r.Write("docs/guide.md", "# Guide\n\nRun `tools/build.sh` first.\n\nThen `tools/old.sh`.\n")
	r.Commit("tools")
	r.Git("mv", "tools/build.sh", "tools/make.sh")
	r.Git("rm", "-q", "tools/old.sh")
	r.Commit("tidy the tools")
	return r
}

// The page lists stale mentions with line and reason, corrects those that moved, and agrees
// with the command line.
func TestDocuments(t *testing.T) {
	r := withStaleMentions(t)
	d := serve(t, r)
	d.signIn()
	d.open("/documents")
	d.reads("#docs-facts", "2 stale mentions")
	guide := `[id="doc-docs/guide.md"]`
	d.reads(guide, "moved tools/build.sh is now tools/make.sh")
	d.reads(guide+" .docline", "Run `tools/build.sh` first.")
	d.reads(guide, "gone tools/old.sh")
	d.reads(guide, "tidy the tools")
	d.reads(guide+" .hint", "ken docs --fix docs/guide.md")
	d.reads("#live", "live")
	d.click(guide + " form button")
	d.reads(".toast", "Fixed docs/guide.md")
	d.reads("#docs-facts", "1 stale mention in")
	d.lacks(guide, "tools/make.sh")
	d.until(`!document.querySelector('` + guide + ` form')`)
	if got := r.Read("docs/guide.md"); !strings.Contains(got, "`tools/make.sh`") || !strings.Contains(got, "`tools/old.sh`") {
		t.Errorf("the guide is now %q, want tools/make.sh and tools/old.sh", got)
	}
	if said := d.ken("docs"); !strings.Contains(said, "1 stale mention in") {
		t.Errorf("ken docs says %q, want 1 stale mention", said)
	}

	// An edit shows without a reload.
	r.Write("docs/guide.md", "# Guide\n\nRun `tools/make.sh` first.\n")
	d.reads("#docs-facts", "0 stale mentions")
	d.reads("main", "No stale mentions.")
}
