package ken_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/content"
	"ken/internal/ken"
	"ken/internal/testrepo"
)

// After any change of a repository, the answer with the history index and the last answer is the same as the answer
// without caches.
func TestSpecCachesChangeNothing(t *testing.T) {
	t.Parallel()
	asked, kept := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		l := newLife(t)
		for range rapid.IntRange(2, 6).Draw(rt, "steps") {
			l.step(rt)
			at := l.repo
			if len(l.linked) > 0 && rapid.IntRange(0, 2).Draw(rt, "from a worktree") == 0 {
				at = rapid.SampledFrom(l.linked).Draw(rt, "worktree")
			}
			old := l.keptListings()
			first := l.read(at)
			isNew := func(now os.FileInfo) bool {
				return !slices.ContainsFunc(old, func(old os.FileInfo) bool { return os.SameFile(old, now) })
			}
			saved := slices.ContainsFunc(l.keptListings(), isNew)
			second, cold := l.read(at), l.readCold(at)
			if first != cold || second != cold {
				rt.Fatalf("%s\n\nread: %s\n\nread again: %s\n\nwithout caches: %s", strings.Join(l.log, "\n"), first, second, cold)
			}
			asked++
			if saved {
				kept++
			}
		}
	})
	t.Logf("%d answers, %d of them new and kept", asked, kept)
	if kept < asked/4 && !testing.Short() { // a short run draws too few to tell
		t.Error("hardly an answer was kept for the second reading")
	}
}

// A life is a repository with random changes.
type life struct {
	t       *testing.T
	repo    *testrepo.Repo
	linked  []*testrepo.Repo
	commits []string
	serial  int
	log     []string
}

func newLife(t *testing.T) *life {
	t.Helper()
	l := &life{t: t, repo: testrepo.New(t)}
	for _, f := range []string{"a.go", "b.go", "lib/c.go"} {
		l.repo.Write(f, f+"\n")
	}
	for _, name := range []string{"a", "b", "deep/a"} {
		l.repo.Write(".spec/"+name+"/spec.md", specText("a.go, lib/", name))
	}
	l.commits = append(l.commits, l.repo.Commit("first"))
	return l
}

func specText(code, body string) string {
	return "---\ncode: [" + code + "]\n---\n" + strings.Repeat("what holds\n", 10) + body + "\n"
}

// read returns all answers about the specs of a checkout as one text.
func (l *life) read(r *testrepo.Repo) string {
	ctx := l.t.Context()
	w, err := ken.Open(ctx, ken.Options{Dir: r.Dir})
	if err != nil {
		return "open: " + err.Error()
	}
	defer w.Close()
	// By this clock what was just written has been at rest for long.
	later := func() time.Time { return time.Now().Add(time.Minute) }
	w.Files = content.Open(r.Dir, content.Options{Format: w.Git.ObjectFormat(), Now: later})
	var out strings.Builder
	tell := func(v any, err error) {
		text, _ := json.MarshalIndent(v, "", " ")
		fmt.Fprintf(&out, "%s %v\n", text, err)
	}
	listing, err := w.Spec().List(ctx)
	tell(listing, err)
	tell(w.Spec().Overlays(ctx))
	if err == nil && len(listing.Nodes) > 0 {
		tell(w.Spec().History(ctx, listing.Nodes[0].ID))
	}
	return out.String()
}

// readCold reads without a cache, and does not change the caches.
func (l *life) readCold(r *testrepo.Repo) string {
	for _, dir := range slices.Compact([]string{gitDirOf(l.repo), gitDirOf(r)}) {
		cache := filepath.Join(dir, "ken/cache")
		if err := os.Rename(cache, cache+".aside"); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		defer func() {
			os.RemoveAll(cache)
			os.Rename(cache+".aside", cache)
		}()
	}
	return l.read(r)
}

// keptListings returns the cached listings of all worktrees.
func (l *life) keptListings() []os.FileInfo {
	names, err := filepath.Glob(l.repo.Path(".git/ken/cache/digests/spec-listing-*"))
	if err != nil {
		l.t.Fatal(err)
	}
	var list []os.FileInfo
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			l.t.Fatal(err)
		}
		list = append(list, info)
	}
	return list
}

func gitDirOf(r *testrepo.Repo) string { return r.Git("rev-parse", "--absolute-git-dir") }

// step makes one random change.
func (l *life) step(rt *rapid.T) {
	at := l.repo
	if len(l.linked) > 0 && rapid.Bool().Draw(rt, "in a worktree") {
		at = rapid.SampledFrom(l.linked).Draw(rt, "worktree")
	}
	l.serial++
	events := slices.Sorted(func(yield func(string) bool) {
		for name := range happenings {
			if !yield(name) {
				return
			}
		}
	})
	name := rapid.SampledFrom(events).Draw(rt, "event")
	l.log = append(l.log, filepath.Base(at.Dir)+": "+name)
	happenings[name](l, rt, at)
	if head, err := at.Try("rev-parse", "HEAD"); err == nil && !slices.Contains(l.commits, head) {
		l.commits = append(l.commits, head)
	}
}

var trailers = []string{"", "", "Session: s-1", "Spec-OK: a", "Spec-OK: b", "Spec-OK: deep_a\nSession: s-2", "Spec-OK: a\nSpec-OK-Basis: 0 0"}

func (l *life) commit(rt *rapid.T, r *testrepo.Repo) {
	r.Commit("makes " + fmt.Sprint(l.serial) + "\n\n" + rapid.SampledFrom(trailers).Draw(rt, "trailers"))
}

func (l *life) editCode(rt *rapid.T, r *testrepo.Repo) {
	r.Write(rapid.SampledFrom([]string{"a.go", "b.go", "lib/c.go", "lib/d.go"}).Draw(rt, "code"), rapid.SampledFrom([]string{"1\n", "2\n", "a.go\n"}).Draw(rt, "text"))
}

func (l *life) editSpec(rt *rapid.T, r *testrepo.Repo) {
	name := rapid.SampledFrom([]string{"a", "b", "deep/a", "moved/b"}).Draw(rt, "spec")
	code := rapid.SampledFrom([]string{"a.go, lib/", "b.go", "'**/*.go'", ""}).Draw(rt, "entries")
	r.Write(".spec/"+name+"/spec.md", specText(code, fmt.Sprint(name, l.serial%3)))
}

// settle resolves the conflicts of a merge with our side.
func (l *life) settle(r *testrepo.Repo, err error) {
	if err == nil {
		return
	}
	r.Try("checkout", "--ours", "--", ".")
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message", "settled")
}

func clean(r *testrepo.Repo) {
	r.Git("reset", "--quiet", "--hard")
	r.Git("clean", "--quiet", "-fd")
}

var happenings = map[string]func(l *life, rt *rapid.T, r *testrepo.Repo){
	"nothing":     func(*life, *rapid.T, *testrepo.Repo) {},
	"code":        func(l *life, rt *rapid.T, r *testrepo.Repo) { l.editCode(rt, r); l.commit(rt, r) },
	"more code":   func(l *life, rt *rapid.T, r *testrepo.Repo) { l.editCode(rt, r); l.commit(rt, r) },
	"spec":        func(l *life, rt *rapid.T, r *testrepo.Repo) { l.editSpec(rt, r); l.commit(rt, r) },
	"both":        func(l *life, rt *rapid.T, r *testrepo.Repo) { l.editSpec(rt, r); l.editCode(rt, r); l.commit(rt, r) },
	"ack":         func(l *life, rt *rapid.T, r *testrepo.Repo) { clean(r); l.commit(rt, r) },
	"dirty spec":  func(l *life, rt *rapid.T, r *testrepo.Repo) { l.editSpec(rt, r) },
	"dirty code":  func(l *life, rt *rapid.T, r *testrepo.Repo) { l.editCode(rt, r) },
	"staged spec": func(l *life, rt *rapid.T, r *testrepo.Repo) { l.editSpec(rt, r); r.Git("add", "--all") },
	"amend": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		l.editSpec(rt, r)
		r.Try("commit", "-qa", "--amend", "-m", "amended")
	},
	"clean": func(_ *life, _ *rapid.T, r *testrepo.Repo) { clean(r) },
	"code moved": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		os.Rename(r.Path("a.go"), r.Path("lib/moved.go"))
		l.commit(rt, r)
	},
	"spec gone": func(_ *life, _ *rapid.T, r *testrepo.Repo) { os.RemoveAll(r.Path(".spec/b")) },
	"specs gone": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		os.RemoveAll(r.Path(".spec"))
		l.commit(rt, r)
	},
	"spec moved": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		os.MkdirAll(r.Path(".spec/moved"), 0o755)
		os.Rename(r.Path(".spec/b"), r.Path(".spec/moved/b"))
		l.commit(rt, r)
	},
	"revert": func(_ *life, _ *rapid.T, r *testrepo.Repo) {
		clean(r)
		if _, err := r.Try("revert", "--no-edit", "HEAD"); err != nil {
			r.Try("revert", "--abort")
		}
	},
	"reset": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		r.Git("reset", "--quiet", "--hard", rapid.SampledFrom(l.commits).Draw(rt, "to"))
	},
	"branch": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		clean(r)
		r.Git("checkout", "--quiet", "-b", fmt.Sprint("b", l.serial), rapid.SampledFrom(l.commits).Draw(rt, "from"))
	},
	"back to main": func(_ *life, _ *rapid.T, r *testrepo.Repo) {
		clean(r)
		r.Try("checkout", "--quiet", "main") // another checkout may have it
	},
	"detach": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		clean(r)
		r.Git("checkout", "--quiet", "--detach", rapid.SampledFrom(l.commits).Draw(rt, "at"))
	},
	"merge": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		clean(r)
		_, err := r.Try("merge", "--quiet", "--no-edit", "--no-ff", rapid.SampledFrom(l.commits).Draw(rt, "with"))
		l.settle(r, err)
	},
	"evil merge": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		clean(r)
		r.Try("merge", "--quiet", "--no-commit", "--no-ff", rapid.SampledFrom(l.commits).Draw(rt, "with"))
		r.Try("checkout", "--ours", "--", ".")
		l.editSpec(rt, r)
		l.editCode(rt, r)
		l.commit(rt, r)
	},
	"octopus": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		clean(r)
		r.Try("merge", "--quiet", "--no-edit", "-s", "ours", "--allow-unrelated-histories",
			rapid.SampledFrom(l.commits).Draw(rt, "with"), rapid.SampledFrom(l.commits).Draw(rt, "and"))
	},
	"another root": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		r.Git("checkout", "--quiet", "--orphan", fmt.Sprint("root", l.serial))
		l.commit(rt, r)
	},
	"unborn": func(l *life, _ *rapid.T, r *testrepo.Repo) {
		r.Git("checkout", "--quiet", "--orphan", fmt.Sprint("unborn", l.serial))
	},
	"pack refs": func(_ *life, _ *rapid.T, r *testrepo.Repo) { r.Git("pack-refs", "--all") },
	"a symref": func(l *life, _ *rapid.T, r *testrepo.Repo) {
		name := fmt.Sprint("refs/heads/alias", l.serial)
		if branch, err := r.Try("symbolic-ref", "-q", "HEAD"); err == nil {
			r.Git("symbolic-ref", name, branch)
			r.Git("symbolic-ref", "HEAD", name)
		}
	},
	"worktree": func(l *life, _ *rapid.T, r *testrepo.Repo) {
		if _, err := r.Try("rev-parse", "--verify", "HEAD"); err == nil {
			l.linked = append(l.linked, r.Worktree(fmt.Sprint("w", l.serial)))
		}
	},
	"worktree gone": func(l *life, _ *rapid.T, _ *testrepo.Repo) {
		if n := len(l.linked); n > 0 {
			os.RemoveAll(l.linked[n-1].Dir)
			l.linked = l.linked[:n-1]
		}
	},
	"another main": func(l *life, rt *rapid.T, _ *testrepo.Repo) {
		branches := strings.Fields(l.repo.Git("for-each-ref", "--format=%(refname:short)", "refs/heads"))
		if len(branches) > 0 {
			l.repo.Write(".ken/config.yaml", "spec: {main: "+rapid.SampledFrom(branches).Draw(rt, "main")+"}\n")
		}
	},
	"replaced": func(l *life, rt *rapid.T, r *testrepo.Repo) {
		r.Try("replace", "--force", "--graft", rapid.SampledFrom(l.commits).Draw(rt, "commit"))
	},
	"index lost": func(l *life, _ *rapid.T, _ *testrepo.Repo) { os.RemoveAll(l.repo.Path(".git/ken/cache/history")) },
	"tail lost":  func(l *life, _ *rapid.T, _ *testrepo.Repo) { os.Remove(l.repo.Path(".git/ken/cache/history/tail")) },
	"cache broken": func(l *life, _ *rapid.T, _ *testrepo.Repo) {
		os.Truncate(l.repo.Path(".git/ken/cache/history/base"), 500)
	},
}
