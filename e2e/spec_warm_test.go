package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ken/internal/testrepo"
)

// A cached answer starts no git process, for any storage of HEAD and the branches. The next
// commit changes the answer at once.
func TestSpecWarmStartsNoGit(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(r *testrepo.Repo) *testrepo.Repo{
		"loose":    func(r *testrepo.Repo) *testrepo.Repo { return r },
		"packed":   func(r *testrepo.Repo) *testrepo.Repo { r.Git("pack-refs", "--all", "--prune"); return r },
		"detached": func(r *testrepo.Repo) *testrepo.Repo { r.Git("checkout", "--quiet", "--detach"); return r },
		"a chain": func(r *testrepo.Repo) *testrepo.Repo {
			r.Git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
			r.Git("symbolic-ref", "HEAD", "refs/heads/alias")
			return r
		},
		"a linked worktree":        func(r *testrepo.Repo) *testrepo.Repo { return r.Worktree("linked") },
		"beside a linked worktree": func(r *testrepo.Repo) *testrepo.Repo { r.Worktree("linked"); return r },
		"a clone":                  func(r *testrepo.Repo) *testrepo.Repo { return r.Clone() },
		"a clone, on another branch": func(r *testrepo.Repo) *testrepo.Repo {
			c := r.Clone()
			c.Git("checkout", "--quiet", "-b", "topic")
			return c
		},
		"sha256, with a proposal": func(*testrepo.Repo) *testrepo.Repo {
			r := testrepo.New(t, testrepo.SHA256)
			specRepo(r)
			w := r.Worktree("linked")
			w.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\nproposed\n")
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := testrepo.New(t)
			specRepo(r)
			r = arrange(r)
			s := newSpy(t)
			for end := time.Now().Add(5 * time.Minute); ; {
				s.list(t, r)
				if len(keptListings(t, r)) > 0 {
					break
				}
				if time.Now().After(end) {
					t.Fatal("the answer was never cached")
				}
			}
			if calls, _ := s.list(t, r); calls != 0 {
				said, _ := os.ReadFile(filepath.Join(s.dir, "calls"))
				t.Errorf("%d processes:\n%s", calls, said)
			}
			r.Write("a.go", "package a // 2\n")
			r.Commit("more code")
			if _, walked := s.list(t, r); walked != 1 {
				t.Errorf("%d commits were walked", walked)
			}
			doc := decode[struct{ Nodes []struct{ Drift int } }](t, mustKen(t, r, "spec", "ls", "--json"))
			if doc.Nodes[0].Drift != 2 {
				t.Errorf("drift %d after the second commit", doc.Nodes[0].Drift)
			}
		})
	}
}

// specRepo creates a repository with a spec and drift.
func specRepo(r *testrepo.Repo) {
	r.Write("a.go", "package a\n")
	r.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\n")
	r.Commit("first")
	r.Write("a.go", "package a // 1\n")
	r.Commit("code")
}

// A second ken spec overlay asks git only for the untracked files of each worktree with changes: it runs no
// diff. It shows a new proposal at once.
func TestSpecOverlayWarm(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	specRepo(r)
	const changed = 2
	for _, name := range []string{"one", "two"} {
		w := r.Worktree(name)
		w.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\nproposed in "+name+"\n")
		w.Commit("propose in " + name)
	}
	s := newSpy(t)
	overlay := func() (calls int, answer string) {
		t.Helper()
		os.Remove(filepath.Join(s.dir, "calls"))
		o := ken(t, r, func(c *exec.Cmd) {
			c.Env = append(c.Env, "PATH="+s.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		}, "spec", "overlay", "--json")
		if o.status != 0 {
			t.Fatalf("exit %d\n%s%s", o.status, o.stdout, o.stderr)
		}
		said, _ := os.ReadFile(filepath.Join(s.dir, "calls"))
		return strings.Count(string(said), "\n"), o.stdout
	}
	_, first := overlay()
	calls, second := overlay()
	if first != second {
		t.Errorf("the second answer differs:\n%s\nfirst:\n%s", second, first)
	}
	if calls > changed {
		said, _ := os.ReadFile(filepath.Join(s.dir, "calls"))
		t.Errorf("%d processes, want at most 1 for each of %d worktrees:\n%s", calls, changed, said)
	}
	r.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\nedited on main\n")
	r.Commit("edit on main")
	if _, third := overlay(); third == "" || strings.Count(third, `"op": "edited"`) != changed {
		t.Errorf("after a commit on main the worktrees should still propose %d edits:\n%s", changed, third)
	}
}
