package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ken/internal/repo"
	"ken/internal/testrepo"
)

// readHistory opens the repository again, as each command does, and returns its history.
func readHistory(t *testing.T, r *testrepo.Repo, heads ...repo.ID) *History {
	t.Helper()
	g, err := openFiltered(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	h, err := g.History(t.Context(), heads)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The history is the same as git's, for random commits that are read in random steps.
func TestHistory(t *testing.T) {
	for _, opt := range [][]testrepo.Option{nil, {testrepo.SHA256}} {
		for range 3 {
			seed := rand.Uint64()
			t.Run(fmt.Sprintf("%v %d", opt, seed), func(t *testing.T) {
				t.Parallel()
				rnd := rand.New(rand.NewPCG(seed, 0))
				r := testrepo.New(t, opt...)
				ids := randomHistory(t, r, rnd, 60)
				m := newModel(t, r)
				for step := range 8 {
					heads := []repo.ID{ids[rnd.IntN(len(ids))]}
					if step == 0 {
						heads[0] = ids[rnd.IntN(10)]
					}
					for range rnd.IntN(3) {
						heads = append(heads, ids[rnd.IntN(len(ids))])
					}
					h := readHistory(t, r, heads...)
					m.check(h, heads)
					if h.Gap() != "" || h.Remarks() != nil {
						t.Errorf("gap %q, remarks %q", h.Gap(), h.Remarks())
					}
				}
				h := readHistory(t, r, ids...)
				m.check(h, ids)
				r.Remove(".git/ken/cache/history")
				m.check(readHistory(t, r, ids...), ids)
			})
		}
	}
}

// Without new commits History starts no git, in every worktree.
func TestHistoryWarm(t *testing.T) {
	r := testrepo.New(t)
	r.Write(".spec/a/spec.md", "a\n")
	r.Commit("one")
	side := r.Worktree("side")
	side.Write("b", "b\n")
	side.Commit("two\n\nSession: s\nSpec-OK: a")
	heads := []repo.ID{headOf(t, r, "main"), headOf(t, r, "side")}
	first := readHistory(t, r, heads...)
	withoutGit(t)
	for _, at := range []*testrepo.Repo{r, side} {
		h := readHistory(t, at, heads...)
		if d := differ(first, h); d != "" {
			t.Errorf("the history from the cache differs: %s", d)
		}
		if h.Len() != 2 || len(h.Marked()) != 1 {
			t.Errorf("%d commits, %v marked", h.Len(), h.Marked())
		}
	}
	if h := readHistory(t, r); h.Len() != 2 {
		t.Errorf("without heads %d commits", h.Len())
	}
}

// differ describes a difference between two histories, "" if there is none. The numbers of commits may differ.
func differ(a, b *History) string {
	if x, y := a.Len(), b.Len(); x != y {
		return fmt.Sprintf("%d commits and %d", x, y)
	}
	name := func(h *History, n repo.CommitNumber) string { return h.Commit(n).ID.String() }
	facts := func(h *History) []string {
		var list []string
		for n := range h.Len() {
			c := h.Commit(n)
			line := fmt.Sprint("commit ", c.ID, c.Date, c.Subject, c.Trailers)
			for _, p := range c.Parents {
				line += " " + name(h, p)
			}
			list = append(list, line)
		}
		for _, n := range h.Marked() {
			list = append(list, "marked "+name(h, n))
		}
		for _, p := range h.Below("") {
			for _, touch := range h.Touching(p) {
				list = append(list, fmt.Sprint("touch ", p, name(h, touch.Commit), touch.Kind))
			}
		}
		for _, m := range h.Moves() {
			list = append(list, fmt.Sprint("move ", name(h, m.Commit), m.From, m.To, m.Same))
		}
		slices.Sort(list)
		return list
	}
	x, y := facts(a), facts(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("%q and %q", x[i], y[i])
		}
	}
	if len(x) != len(y) {
		return fmt.Sprintf("%d facts and %d", len(x), len(y))
	}
	return ""
}

// A large tail is merged into the base, and commits keep their numbers.
func TestHistoryGrows(t *testing.T) {
	r := testrepo.New(t)
	var in bytes.Buffer
	const n = 3000
	for i := range n {
		fmt.Fprintf(&in, "commit refs/heads/main\nmark :%d\ncommitter C <c@x> %d +0000\ndata <<E\ncommit %d with some words\n\nSession: s%d\nE\n", i+1, 1_600_000_000+i, i, i)
		if i%10 == 9 { // three parents at a time
			fmt.Fprintf(&in, "from :%d\nmerge :%d\nmerge :%d\n", i, i-3, i-5)
		}
		fmt.Fprintf(&in, "M 644 inline dir%d/file%d\ndata <<E\n%d\nE\n\n", i%7, i%101, i)
	}
	fastImport(t, r, &in)
	line := strings.Fields(r.Git("rev-list", "--reverse", "--first-parent", "main"))
	bases := make(map[string]bool)
	var h *History
	for at := 1; at < n; at += 1 + at/7 {
		head, err := repo.ParseID(line[at])
		if err != nil {
			t.Fatal(err)
		}
		before := h
		h = readHistory(t, r, head)
		base, _ := h.Files()
		bases[string(base)] = true
		for k := repo.CommitNumber(0); before != nil && k < before.Len(); k++ {
			if before.Commit(k).ID != h.Commit(k).ID {
				t.Fatalf("commit number %d was %s and is %s", k, before.Commit(k).ID, h.Commit(k).ID)
			}
		}
	}
	if len(bases) < 3 || len(bases) > 25 {
		t.Errorf("the base was written %d times, want 3 to 25", len(bases))
	}
	h = readHistory(t, r, headOf(t, r, "main"))
	r.Remove(".git/ken/cache/history")
	if d := differ(h, readHistory(t, r, headOf(t, r, "main"))); d != "" || h.Len() != n {
		t.Errorf("the history has %d commits, want %d; it differs without the cache: %s", h.Len(), n, d)
	}
}

func TestHistoryEmpty(t *testing.T) {
	r := testrepo.New(t)
	withoutGit(t)
	h := readHistory(t, r, repo.ID{})
	if h.Len() != 0 || h.Below("") != nil || h.Touching("a") != nil || h.Marked() != nil || h.Moves() != nil || h.Gap() != "" || h.Remarks() != nil {
		t.Errorf("the history of an empty repository is %+v, want an empty one", h)
	}
	if _, err := os.Stat(r.Path(".git/ken")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("History wrote to the cache of an empty repository: %v", err)
	}
}

// History works after known commits were pruned.
func TestHistoryPruned(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a", "1\n")
	r.Commit("one")
	m := newModel(t, r)
	for i := range 3 {
		r.Write("b", fmt.Sprint(i))
		r.Commit(fmt.Sprint("lost ", i))
		readHistory(t, r, headOf(t, r, "HEAD"))
		r.Git("reset", "-q", "--hard", "HEAD~1")
		r.Git("reflog", "expire", "--expire=now", "--all")
		r.Git("prune", "--expire=now")
		r.Write("c", fmt.Sprint(i))
		r.Commit(fmt.Sprint("kept ", i))
		head := headOf(t, r, "HEAD")
		m.check(readHistory(t, r, head), []repo.ID{head})
	}
}

// If the cache cannot be written, the history has a remark. An invalid cache is built again.
func TestHistoryUnwritable(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a", "1\n")
	r.Commit("one")
	head := headOf(t, r, "HEAD")
	r.Write(".git/ken", "in the way\n")
	h := readHistory(t, r, head)
	if len(h.Remarks()) != 1 || !strings.Contains(h.Remarks()[0], "could not be written") || h.Len() != 1 {
		t.Errorf("%d commits, remarks %q", h.Len(), h.Remarks())
	}
	r.Remove(".git/ken")
	r.Write(".git/ken/cache/history/base", "nonsense\n")
	r.Write(".git/ken/cache/history/tail/dir", "nonsense\n")
	if d := differ(h, readHistory(t, r, head)); d != "" {
		t.Errorf("the history differs with a damaged cache: %s", d)
	}
	r.Remove(".git/ken/cache/history")
	r.Write(".git/ken/cache/history/base/dir", "nonsense\n")
	if again := readHistory(t, r, head); differ(h, again) != "" || len(again.Remarks()) != 1 {
		t.Errorf("the history differs: %s, with the remarks %q; want one remark", differ(h, again), again.Remarks())
	}
}

// The history of a shallow clone has a gap. After a fetch it has more commits.
func TestHistoryShallow(t *testing.T) {
	origin := testrepo.New(t)
	for i := range 5 {
		origin.Write("a", fmt.Sprint(i))
		origin.Commit("c")
	}
	r := origin.Clone("--depth=2")
	head := headOf(t, r, "HEAD")
	if h := readHistory(t, r, head); h.Len() != 2 || !strings.Contains(h.Gap(), "shallow") || len(h.Touching("a")) != 2 {
		t.Errorf("%d commits, gap %q", h.Len(), h.Gap())
	}
	if h := readHistory(t, r, head); h.Len() != 2 || h.Gap() == "" {
		t.Errorf("again: %d commits, gap %q", h.Len(), h.Gap())
	}
	r.Git("fetch", "-q", "--deepen=1")
	if h := readHistory(t, r, head); h.Len() != 3 || h.Gap() == "" {
		t.Errorf("deeper: %d commits, gap %q", h.Len(), h.Gap())
	}
	r.Git("fetch", "-q", "--unshallow")
	if h := readHistory(t, r, head); h.Len() != 5 || h.Gap() != "" {
		t.Errorf("whole: %d commits, gap %q", h.Len(), h.Gap())
	}
}

// With replaced commits the history is the same as that of git log, also after the replacement is deleted.
func TestHistoryReplaced(t *testing.T) {
	r := testrepo.New(t)
	for i := range 5 {
		r.Write("a", fmt.Sprint(i))
		r.Commit(fmt.Sprint(i))
	}
	head := headOf(t, r, "HEAD")
	check := func(want repo.CommitNumber) {
		t.Helper()
		h := readHistory(t, r, head)
		if got := r.Git("rev-list", "--count", "HEAD"); got != fmt.Sprint(want) || h.Len() != want {
			t.Errorf("%d commits, git has %s, want %d", h.Len(), got, want)
		}
		newModel(t, r).check(h, []repo.ID{head})
	}
	check(5)
	r.Git("replace", "--graft", "HEAD~1", "HEAD~4")
	check(3)
	r.Git("pack-refs", "--all")
	check(3)
	r.Git("config", "core.useReplaceRefs", "false")
	check(5)
	r.Git("config", "--unset", "core.useReplaceRefs")
	check(3)
	r.Git("replace", "-d", r.Git("rev-parse", "HEAD~1"))
	check(5)
	r.Write(".git/info/grafts", r.Git("rev-parse", "HEAD~2")+"\n")
	check(3)
}

// A missing object is an error each time, and does not change the cache.
func TestHistoryBroken(t *testing.T) {
	r := testrepo.New(t)
	for i := range 10 {
		r.Write("a", fmt.Sprint(i))
		r.Commit("c")
	}
	head, known := headOf(t, r, "HEAD"), headOf(t, r, "HEAD~7")
	tree := r.Git("rev-parse", "HEAD~4^{tree}")
	g, err := openFiltered(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	tag := r.Git("commit-tree", "-m", "x", "HEAD^{tree}")
	r.Git("tag", "-a", "-m", "x", "tagged", tag)
	if _, err := g.History(t.Context(), []repo.ID{headOf(t, r, "refs/tags/tagged")}); err == nil {
		t.Error("History accepted a tag as a commit")
	}
	r.Remove(".git/objects/" + tree[:2] + "/" + tree[2:])
	files := func() []string {
		list, err := filepath.Glob(r.Path(".git/ken/cache/history/*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	before := files()
	for range 2 {
		if _, err := g.History(t.Context(), []repo.ID{head}); err == nil {
			t.Error("History returned no error for a missing tree")
		}
	}
	if after := files(); !slices.Equal(before, after) {
		t.Errorf("a failed History changed the files of the cache: %q", after)
	}
	h := readHistory(t, r, known)
	if _, err := g.History(t.Context(), []repo.ID{head}); err == nil {
		t.Error("History returned no error for a missing tree in new commits")
	}
	if d := differ(h, readHistory(t, r, known)); d != "" {
		t.Errorf("the history differs after a failed read: %s", d)
	}
}

// Processes that read the history in parallel with different heads all get the right history.
func TestHistoryAtOnce(t *testing.T) {
	r := testrepo.New(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	ids := randomHistory(t, r, rnd, 40)
	m := newModel(t, r)
	m.reachable(ids)
	var wait sync.WaitGroup
	got := make([]*History, 24)
	for i := range got {
		wait.Go(func() {
			g, err := openFiltered(t.Context(), r.Dir)
			if err == nil {
				got[i], err = g.History(t.Context(), ids[i:i+2])
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for i, h := range got {
		if h != nil {
			m.check(h, ids[i:i+2])
		}
	}
	m.check(readHistory(t, r, ids...), ids)
	left, err := filepath.Glob(r.Path(".git/ken/cache/history/.*"))
	if err != nil || left != nil {
		t.Errorf("temporary files left in the cache: %q, %v", left, err)
	}
}

// A commit can add 80,000 files.
func TestHistoryWide(t *testing.T) {
	r := testrepo.New(t)
	const n = 80_000
	var in bytes.Buffer
	fmt.Fprintf(&in, "blob\nmark :1\ndata 1\nx\ncommit refs/heads/main\ncommitter C <c@x> 1600000000 +0000\ndata 1\nm\n")
	for i := range n {
		fmt.Fprintf(&in, "M 644 :1 dir%d/sub%d/file%d\n", i%100, i%1000, i)
	}
	fastImport(t, r, &in)
	h := readHistory(t, r, headOf(t, r, "main"))
	if got := len(h.Below("")); got != n {
		t.Errorf("Below(\"\") returned %d paths, want %d", got, n)
	}
	if got := len(h.Below("dir7")); got != n/100 {
		t.Errorf("Below(dir7) returned %d paths, want %d", got, n/100)
	}
	if got := h.Touching("dir5/sub5/file5"); len(got) != 1 || got[0].Kind != repo.Added {
		t.Errorf("Touching returned %v, want one addition", got)
	}
}

// Moves has the moves of specs that git finds, also in commits with other changes and in merges.
func TestHistoryMoves(t *testing.T) {
	r := testrepo.New(t)
	text := func(name string) string {
		return strings.Repeat(name+" says something\n", 20)
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		r.Write(".spec/"+name+"/spec.md", text(name))
	}
	r.Write("notes/spec.md", text("notes"))
	r.Commit("begin")
	r.Git("mv", ".spec/a", ".spec/a2")
	r.Git("mv", ".spec/b", ".spec/b2")
	r.Write(".spec/b2/spec.md", text("b")+"more\n")
	// These are not moves of a spec: another file, a spec that keeps its path, a new spec.
	r.Git("mv", "notes/spec.md", ".spec/notes.md")
	r.Write(".spec/d/spec.md", text("something else, entirely"))
	r.Write(".spec/f/spec.md", "quite\nanother\nthing\nfrom the start\n")
	r.Remove(".spec/e")
	r.Commit("reorganise")
	r.Git("checkout", "-q", "-b", "side")
	r.Write("s", "s")
	r.Git("mv", ".spec/c", ".spec/c-side")
	r.Commit("side")
	r.Git("checkout", "-q", "main")
	r.Write("m", "m")
	r.Commit("main")
	r.Git("merge", "-q", "--no-commit", "side")
	r.Git("mv", ".spec/c-side", ".spec/c3")
	r.Git("mv", ".spec/a2", ".spec/a3")
	r.Write(".spec/a3/spec.md", text("a")+"more\n")
	r.Commit("merged")
	h := readHistory(t, r, headOf(t, r, "HEAD"))
	var got []string
	for _, m := range h.Moves() {
		got = append(got, fmt.Sprint(h.Commit(m.Commit).Subject, ": ", m.From, " > ", m.To, " ", m.Same))
	}
	slices.Sort(got)
	want := []string{
		"merged: .spec/a2/spec.md > .spec/a3/spec.md false",
		"merged: .spec/c-side/spec.md > .spec/c3/spec.md true",
		"merged: .spec/c/spec.md > .spec/c3/spec.md true",
		"reorganise: .spec/a/spec.md > .spec/a2/spec.md true",
		"reorganise: .spec/b/spec.md > .spec/b2/spec.md false",
		"side: .spec/c/spec.md > .spec/c-side/spec.md true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("moves\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	newModel(t, r).check(h, []repo.ID{headOf(t, r, "HEAD")})
}
