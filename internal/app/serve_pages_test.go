package app

import (
	"html"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/testrepo"
)

// page returns the text of a page after its board is complete.
func (s *served) page(status int, path string) string {
	s.t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		s.t.Fatal(err)
	}
	// Wait for the board, because a page does not. Some worktrees do not exist.
	s.do(call{path: "/api/board?w=" + url.QueryEscape(u.Query().Get("w"))})
	return s.gives(status, call{path: path, head: map[string]string{"Accept": "text/html"}})
}

// has checks that a page contains some texts and does not contain others.
func has(t *testing.T, page string, want, not []string) {
	t.Helper()
	text := html.UnescapeString(page)
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("the page does not contain %q", w)
		}
	}
	for _, w := range not {
		if strings.Contains(text, w) {
			t.Errorf("the page contains %q", w)
		}
	}
	if t.Failed() {
		_, main, _ := strings.Cut(text, "<main")
		t.Log("<main" + main)
	}
}

// A spec that only another worktree has links to the page of that worktree.
func TestPagesOfProposedSpec(t *testing.T) {
	r := specced(t)
	r.Write("lib/view.go", "package lib\n")
	r.Write(".spec/lib/spec.md", "---\ntitle: Lib\ncode:\n  - lib/\n---\nIt is.\n")
	r.Commit("lib")
	other := r.Worktree("other")
	other.Write(".spec/view/spec.md", "---\ntitle: View\ncode:\n  - lib/view.go\n---\nIt shows.\n")
	s := serveRepo(t, r, nil)
	has(t, s.page(http.StatusOK, "/file?path=lib/view.go"), []string{`href="/node/lib"`}, []string{`href="/node/view"`})
	has(t, s.page(http.StatusOK, "/file?w=other&path=lib/view.go"), []string{`href="/node/view?w=other"`}, nil)
	has(t, s.page(http.StatusOK, "/node/view"), []string{`href="/node/view?w=other"`}, []string{">v0<"})
	has(t, s.page(http.StatusOK, "/specs"), []string{`id="n-view"`}, []string{">v0<"})
	has(t, s.page(http.StatusOK, "/node/view?w=other"), []string{"It shows.", `href="/file?path=lib%2Fview.go&w=other"`}, nil)
	has(t, s.page(http.StatusOK, "/node/lib"), []string{`href="/map?dir=lib"`}, nil)
	has(t, s.page(http.StatusOK, "/node/api"), []string{`href="/file?path=api.go"`}, nil)
}

// merging returns a repository during a merge with conflicts in code and specs.
func merging(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Write("lib/a.go", "package lib\n")
	r.Write("lib/b.go", "package lib\n\nfunc B() {}\n")
	r.Write(".spec/a/spec.md", "---\ntitle: A\ncode:\n  - lib/a.go\n---\nIt is.\n")
	r.Commit("begin")
	r.Git("branch", "side")
	for _, branch := range []string{"side", ""} {
		if branch != "" {
			r.Git("checkout", "-q", branch)
		} else {
			r.Git("checkout", "-q", "-")
		}
		r.Write("lib/a.go", "package lib\n\n// of "+branch+"\n")
		r.Write(".spec/a/spec.md", "---\ntitle: A\ncode:\n  - lib/a.go\n---\nIt is of "+branch+".\n")
		r.Commit("of " + branch)
	}
	if _, err := r.Try("merge", "-q", "side"); err == nil {
		t.Fatal("the merge has no conflict")
	}
	return r
}

// Pages of conflicted files and specs show the conflict.
func TestPagesDuringMerge(t *testing.T) {
	r := merging(t)
	s := serveRepo(t, r, nil)
	has(t, s.page(http.StatusOK, "/node/a"), []string{"<<<<<<< HEAD\nIt is of .\n=======\nIt is of side.\n>>>>>>> side"}, []string{"<blockquote>"})
	has(t, s.page(http.StatusOK, "/file?path=lib/a.go"), []string{"git add lib/a.go", "unknown", "merge conflict"}, []string{"ken summary set"})
	has(t, s.page(http.StatusOK, "/file?path=lib/b.go"), []string{"ken summary set lib/b.go -m TEXT"}, nil)
}

// The page of a stale summary says why it is stale and which commands to run.
func TestPageOfStaleSummary(t *testing.T) {
	r, _ := summarised(t)
	r.Write("api.go", "package api\n\nfunc Other() {}\n")
	s := serveRepo(t, r, nil)
	has(t, s.page(http.StatusOK, "/file?path=api.go"),
		[]string{"edited since the summary was written", "ken summary diff api.go"}, []string{"content_changed", "ken summary confirm"})
}

// A merged spec with missing code is shown as broken.
func TestPagesOfBrokenSpec(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write(".spec/a/spec.md", "---\ntitle: A\ncode:\n  - a.go\n---\nIt is.\n")
	r.Write(".spec/b/spec.md", "---\ntitle: B\ncode:\n  - gone.go\n---\nIt is.\n")
	r.Commit("begin")
	s := serveRepo(t, r, nil)
	has(t, s.page(http.StatusOK, "/node/b"), []string{`class="tag broken bad"`}, []string{"</i> merged"})
	has(t, s.page(http.StatusOK, "/node/a"), []string{"</i> merged"}, []string{"</i> broken"})
	has(t, s.page(http.StatusOK, "/specs"), []string{"</i>merged 1<", "</i>broken 1<", `id="n-b" class="n" data-s="broken"`}, nil)
}

// An error page has a hint with a link or a command. For an unknown worktree it selects
// none.
func TestErrorPages(t *testing.T) {
	r := specced(t)
	r.Worktree("other")
	s := serveRepo(t, r, nil)
	s.page(http.StatusOK, "/")
	for path, want := range map[string]string{
		"/node/nowhere":      `list specs:</span> <code dir="auto">ken spec ls</code>`,
		"/map?dir=nowhere":   `start at</span> <a href="/map">the Map</a>`,
		"/file?path=nowhere": `start at</span> <a href="/map">the Map</a>`,
		"/nowhere":           `start at</span> <a href="/">Home</a>`,
		"/?w=nope":           `see them at</span> <a href="/worktrees">Worktrees</a>`,
		"/node/apy":          `<p class="hint"><span dir="auto">did you mean api?</span>`,
	} {
		page := s.page(http.StatusNotFound, path)
		has(t, page, []string{want}, nil)
		if path == "/?w=nope" {
			has(t, page, []string{`<option value="" selected disabled>`}, nil)
		} else {
			has(t, page, nil, []string{"selected disabled"})
		}
	}
}

// The worktrees page lists collisions on specs and code.
func TestPageOfCollisions(t *testing.T) {
	r := specced(t)
	one := r.Worktree("one")
	s := serveRepo(t, r, nil)
	one.Write("api.go", "package api\n\nfunc One() {}\n")
	has(t, s.page(http.StatusOK, "/worktrees"), []string{"Changes the code of", "api.go"}, []string{"between worktrees</h2>"})
	two := r.Worktree("two")
	for _, w := range []*testrepo.Repo{one, two} {
		w.Write(".spec/api/spec.md", "---\ntitle: The API\ncode:\n  - api.go\n---\nIt answers in "+w.Dir+".\n")
	}
	page := s.page(http.StatusOK, "/worktrees")
	has(t, page, []string{"1 collision between worktrees", "on the spec of"}, []string{"on the code of"})
	two.Git("checkout", "-q", ".spec")
	two.Write("api.go", "package api\n\nfunc Two() {}\n")
	has(t, s.page(http.StatusOK, "/worktrees"), []string{"1 collision between worktrees", "on the code of"}, []string{"on the spec of"})
	one.Git("checkout", "-q", "api.go")
	has(t, s.page(http.StatusOK, "/worktrees"), []string{"1 collision between worktrees", "on the spec and code of"}, nil)
}

// Commands on pages of another worktree have -C.
func TestCommandsForOtherWorktree(t *testing.T) {
	r := specced(t)
	other := r.Worktree("other")
	s := serveRepo(t, r, nil)
	name := "?w=" + url.QueryEscape(filepath.Base(other.Dir))
	g, err := git.Open(t.Context(), other.Dir)
	if err != nil {
		t.Fatal(err)
	}
	command := "<code dir=\"auto\">ken -C " + fault.Quote(g.Root()) + " spec ls</code>"
	has(t, s.page(http.StatusNotFound, "/node/nowhere"+name), []string{command}, nil)
	has(t, s.page(http.StatusNotFound, "/node/nowhere"), []string{">ken spec ls</code>"}, nil)
	other.Write(".ken/config.yaml", "model: [\n")
	has(t, s.page(http.StatusOK, "/files"+name), []string{"Unknown.", "correct .ken/config.yaml"}, nil)
}

// Commands need no -C only in the worktree at whose root the server was started. In a directory below the root, a path
// from the root would mean another file.
func TestWorktreeOfStartDir(t *testing.T) {
	r := specced(t)
	r.Worktree("other")
	r.Write("sub/a.go", "package sub\n")
	g, err := git.Open(t.Context(), r.Path("sub"))
	if err != nil {
		t.Fatal(err)
	}
	for shell, want := range map[string]int{g.Root(): 1, filepath.Join(g.Root(), "sub"): 0, "": 0} {
		list, err := webDeps(t.Context(), g, shell).Worktrees(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, w := range list {
			if w.IsStartDir {
				at++
			}
			if w.IsStartDir && !w.Here {
				t.Errorf("server in %q: %s is the start directory", shell, w.Name)
			}
		}
		if at != want {
			t.Errorf("server in %q: %d start directories, want %d", shell, at, want)
		}
	}
}
