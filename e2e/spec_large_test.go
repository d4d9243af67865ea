package e2e

import (
	"bytes"
	"fmt"
	"os/exec"
	"testing"

	"ken/internal/testrepo"
)

// A commit that adds 80,000 governed files counts as one commit of drift. A commit that moves
// them all causes no drift.
func TestSpecWideCommits(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	const n = 80_000
	var in bytes.Buffer
	commit := func(what string) {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter C <c@x> 1600000000 +0000\ndata %d\n%s\n", len(what), what)
	}
	file := func(name, text string) { fmt.Fprintf(&in, "M 644 inline %s\ndata %d\n%s\n", name, len(text), text) }
	commit("spec")
	file(".spec/wide/spec.md", "---\ncode: [wide/]\n---\n")
	file(".spec/other/spec.md", "---\ncode: [other.go]\n---\n")
	file("other.go", "package other\n")
	commit("wide")
	for i := range n {
		// Every second is like all the others.
		file(fmt.Sprintf("wide/%d/%d", i%200, i), fmt.Sprint(i%2*i))
	}
	commit("seen")
	file(".spec/wide/spec.md", "---\ncode: [wide/]\n---\nseen\n")
	commit("moved")
	fmt.Fprintf(&in, "R wide elsewhere\n")
	cmd := exec.CommandContext(t.Context(), "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env(), &in
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	type listing struct {
		Nodes []struct {
			ID                      string
			Version, Drift, Touched *int
			DriftFiles              []struct{} `json:"drift_files"`
			Problems                []struct{ Fix string }
			Unknown                 []struct{}
		}
	}
	for _, at := range []struct {
		commit, fix             string
		drift, touched, ofFiles int
	}{
		{"main~2", "", 1, 1, n},
		{"main~1", "", 0, 0, 0},
		{"main", "replace wide/ by elsewhere/", 0, 1, 0},
	} {
		r.Git("update-ref", "--no-deref", "HEAD", r.Git("rev-parse", at.commit))
		r.Git("read-tree", "HEAD")
		r.Git("checkout-index", "--force", "--", ".spec/wide/spec.md", ".spec/other/spec.md")
		for _, node := range decode[listing](t, mustKen(t, r, "spec", "ls", "--json")).Nodes {
			if len(node.Unknown) > 0 || node.Drift == nil {
				t.Fatalf("%s: the drift of %s is unknown", at.commit, node.ID)
			}
			if node.ID == "other" {
				if *node.Drift != 0 {
					t.Errorf("%s: the other node drifts by %d", at.commit, *node.Drift)
				}
				continue
			}
			fix := ""
			if len(node.Problems) > 0 {
				fix = node.Problems[0].Fix
			}
			if *node.Drift != at.drift || *node.Touched != at.touched || len(node.DriftFiles) != at.ofFiles || fix != at.fix {
				t.Errorf("%s: drift %d, touched %d, %d files, fix %q", at.commit, *node.Drift, *node.Touched, len(node.DriftFiles), fix)
			}
		}
	}
}
