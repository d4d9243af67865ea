package derive_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/testrepo"
)

func TestMain(m *testing.M) {
	defer testrepo.Isolate()()
	m.Run()
}

// TestGitHistoryMatchesModel compares the facts from a real repository with those of the naive model. Where git's two
// ways to count the commits of a path agree, it also compares the counts with git, except for merges that git made
// by itself.
func TestGitHistoryMatchesModel(t *testing.T) {
	r := testrepo.New(t)
	agreed, differed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := drawHistory(rt)
		s.commitTo(t, rt, r)
		w := s.history
		// Derive at each of the last commits, the newest last, so that the index grows.
		for head := max(0, len(w.commits)-5); head < len(w.commits); head++ {
			s.setHead(rt, repo.CommitNumber(head))
			for _, f := range s.deriveFromGit(t, rt, r) {
				want := s.model(f.Node)
				f.Problems = nil
				if got := w.brief(f); got != w.brief(want) {
					rt.Fatalf("%s\n%s at %s:\ngot  %s\nwant %s", s, f.Node.ID, w.commits[s.head].name, got, w.brief(want))
				}
				if got, want := deref(f.Session), deref(want.Session); got != want {
					rt.Fatalf("%s\n%s: session %q, want %q", s, f.Node.ID, got, want)
				}
				if f.Touched == nil || f.Drift == nil || len(f.Versions) == 0 {
					continue
				}
				switch agree := s.compareCounts(rt, r, f); {
				case !agree:
					differed++
				case *f.Touched > 0:
					agreed++
				}
			}
		}
	})
	t.Logf("git's two counts agree on %d nodes with something ahead, and differ on %d", agreed, differed)
	if agreed < differed/4 && !testing.Short() { // a short run draws too few histories to tell
		t.Error("the two counts of git agreed too rarely for a comparison")
	}
}

// commitTo makes the commits in a repository, and takes over their ids and the moves that git detects.
func (s *randomHistory) commitTo(t *testing.T, rt *rapid.T, r *testrepo.Repo) {
	t.Helper()
	os.RemoveAll(r.Path(".git/ken"))
	os.RemoveAll(r.Path(".git/shallow"))
	w := s.history
	var in bytes.Buffer
	data := func(s string) { fmt.Fprintf(&in, "data %d\n%s\n", len(s), s) }
	for i, m := range w.commits {
		date, err := time.Parse(time.RFC3339, m.date)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&in, "reset refs/heads/%s\ncommit refs/heads/%s\nmark :%d\nauthor A <a@x> %d +0000\n", m.name, m.name, i+1, date.Unix())
		fmt.Fprintf(&in, "committer C <c@x> %d +0000\n", date.Unix()+rapid.Int64Range(-1e5, 1e5).Draw(rt, "skew"))
		message := "makes " + m.name + "\n"
		for k, trailer := range m.trailers {
			if k == 0 {
				message += "\n"
			}
			message += trailer.Key + ": " + trailer.Value + "\n"
		}
		data(message)
		for k, p := range m.parents {
			fmt.Fprintf(&in, "%s :%d\n", []string{"from", "merge"}[min(k, 1)], p+1)
		}
		in.WriteString("deleteall\n")
		for _, p := range slices.Sorted(maps.Keys(m.tree)) {
			mode := "100644"
			if m.tree[p].exec {
				mode = "100755"
			}
			fmt.Fprintf(&in, "M %s inline %s\n", mode, string(p))
			data(textOf(m.tree[p].content))
		}
		in.WriteString("\n")
	}
	cmd := exec.CommandContext(t.Context(), "git", "fast-import", "--quiet", "--force", "--export-marks="+r.Path(".git/marks"))
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env(), &in
	if out, err := cmd.CombinedOutput(); err != nil {
		rt.Fatalf("git fast-import: %v\n%s", err, out)
	}
	w.ids = make(map[string]repo.ID)
	var roots strings.Builder
	for line := range strings.Lines(r.Read(".git/marks")) {
		var mark int
		var name string
		fmt.Sscanf(line, ":%d %s", &mark, &name)
		id, err := repo.ParseID(name)
		if err != nil {
			t.Fatal(err)
		}
		w.ids[w.commits[mark-1].name] = id
		if len(w.commits[mark-1].parents) == 0 {
			fmt.Fprintln(&roots, id)
		}
	}
	s.readMoves(r)
	s.readVerdicts(t, r)
	if w.gap != "" {
		r.Write(".git/shallow", roots.String())
	}
}

// readMoves reads the moves of spec files from git, for each commit and parent. The destination must not exist in
// any parent.
func (s *randomHistory) readMoves(r *testrepo.Repo) {
	for i := range s.history.commits {
		m := &s.history.commits[i]
		m.moves = nil
		for _, p := range m.parents {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(m.touches)), func(p repo.Path) bool { return isSpec(p) && m.touches[p] == repo.Added }) {
				break
			}
			before := s.history.commits[p]
			words := strings.Split(r.Git("diff-tree", "-r", "-z", "-M50%", "-l1000", "--name-status", "--diff-filter=R",
				s.history.id(before.name).String(), s.history.id(m.name).String(), "--", ".spec"), "\x00")
			for ; len(words) > 2; words = words[3:] {
				move := repo.Move{Commit: repo.CommitNumber(i), From: repo.Path(words[1]), To: repo.Path(words[2])}
				move.Same = before.tree[move.From].content == m.tree[move.To].content
				kind, touched := m.touches[move.To]
				if !touched || kind != repo.Added {
					continue
				}
				if k := slices.IndexFunc(m.moves, func(x repo.Move) bool { return x.From == move.From && x.To == move.To }); k >= 0 {
					m.moves[k].Same = m.moves[k].Same || move.Same
				} else {
					m.moves = append(m.moves, move)
				}
			}
		}
	}
}

// readVerdicts repeats every merge with git, and records for each path that differs from all parents whether git
// made it, there or at a path that the merge moved a spec from.
func (s *randomHistory) readVerdicts(t *testing.T, r *testrepo.Repo) {
	t.Helper()
	w := s.history
	w.verdicts = make(map[commitPath]repo.MergeVerdict)
	for c, m := range w.commits {
		if len(m.parents) < 2 || len(m.touches) == 0 {
			continue
		}
		conflicts := make(map[string]bool)
		tree, head := "", w.id(w.commits[m.parents[0]].name).String()
		done := []string{"-p", head}
		for _, p := range m.parents[1:] {
			next := w.id(w.commits[p].name).String()
			tree = mergeTree(t, r, head, next, conflicts)
			done = append(done, "-p", next)
			head = r.Git(append([]string{"commit-tree", "-m", "step", tree}, done...)...)
		}
		merged := func(p repo.Path) string {
			blob, _ := r.Try("rev-parse", "-q", "--verify", tree+":"+string(p))
			return blob
		}
		for p := range m.touches {
			want := ""
			if x, ok := m.tree[p]; ok {
				want = idOf(x.content).String()
			}
			paths := []repo.Path{p}
			if !conflicts[string(p)] && merged(p) == "" {
				paths = append(paths, w.sources(repo.CommitNumber(c), p)...) // a person may have moved it
			}
			by := repo.MergeByPerson
			if slices.ContainsFunc(paths, func(q repo.Path) bool { return !conflicts[string(q)] && merged(q) == want }) {
				by = repo.MergeByGit
			}
			w.verdicts[commitPath{repo.CommitNumber(c), p}] = repo.MergeVerdict{By: by}
		}
	}
}

// mergeTree returns the tree that git merge-tree makes of two commits.
func mergeTree(t *testing.T, r *testrepo.Repo, a, b string, conflicts map[string]bool) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "--allow-unrelated-histories", a, b)
	cmd.Dir, cmd.Env = r.Dir, r.Env()
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatalf("git merge-tree %s %s: %v", a, b, err)
	}
	words := strings.Split(string(out), "\x00")
	for _, p := range words[1:] {
		conflicts[p] = true
	}
	return words[0]
}

// deriveFromGit derives facts from the repository, with the caches that earlier commands left.
func (s *randomHistory) deriveFromGit(t *testing.T, rt *rapid.T, r *testrepo.Repo) []derive.Facts {
	t.Helper()
	g, err := git.Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	g.FilterHistory(derive.HistoryFilter())
	head := s.history.id(s.history.commits[s.head].name)
	h, err := g.History(t.Context(), []repo.ID{head})
	if err != nil {
		rt.Fatal(err)
	}
	facts, err := derive.Derive(t.Context(), s.nodes, derive.Options{Head: head}, h, g.Contents())
	if err != nil {
		rt.Fatal(err)
	}
	return facts
}

// compareCounts compares the counts of a node with git rev-list, for the files where its default mode and
// --full-history list the same commits. It reports whether they do for all files.
//
// It subtracts the attested commits itself. For a range A..B, git ignores the parents in A, so a merge that takes
// the content of A would count as a change.
func (s *randomHistory) compareCounts(rt *rapid.T, r *testrepo.Repo, f derive.Facts) bool {
	w := s.history
	m := &naive{randomHistory: s}
	var attested []repo.CommitNumber
	for _, v := range f.Versions {
		attested = append(attested, w.names[w.name(v.Commit)])
	}
	attested = m.maximal(attested)
	for _, a := range f.Acks {
		if a.State == derive.AckValid {
			attested = append(attested, w.names[w.name(a.Commit)])
		}
	}
	covered := w.ancestors(attested...)
	list := func(args ...string) []string {
		out := strings.Fields(r.Git(append([]string{"rev-list", w.id(w.commits[s.head].name).String()}, args...)...))
		out = slices.DeleteFunc(out, func(id string) bool {
			c, err := repo.ParseID(id)
			return err != nil || covered[w.names[w.name(c)]]
		})
		slices.Sort(out)
		return out
	}
	byHand := func(p repo.Path, list []string) []string {
		return slices.DeleteFunc(list, func(id string) bool {
			c, err := repo.ParseID(id)
			return err != nil || m.author(w.names[w.name(c)], p) == repo.MergeByGit
		})
	}
	all := make(map[string]bool)
	agree, lost := true, false
	for _, word := range slices.Concat(randomCode, randomSpecs) {
		p := at(word)
		if !governs(f.Node, p) {
			continue
		}
		one, full := list("--", string(p)), list("--full-history", "--", string(p))
		if !slices.Equal(one, full) {
			agree = false
			continue
		}
		one = byHand(p, one)
		for _, id := range one {
			all[id] = true
		}
		_, there := w.commits[s.head].tree[p]
		lost = lost || !there
		behind := 0
		for _, b := range f.DriftFiles {
			if b.Path == p {
				behind = b.Commits
			}
		}
		if *f.Drift > 0 && behind != len(one) {
			rt.Fatalf("%s\n%s at %s: %s is behind by %d, git says %d", s, f.Node.ID, w.commits[s.head].name, p, behind, len(one))
		}
	}
	// Deleted code may have been followed to paths that this test does not count.
	if agree && !lost && *f.Touched != len(all) {
		rt.Fatalf("%s\n%s at %s: touched %d, git says %d", s, f.Node.ID, w.commits[s.head].name, *f.Touched, len(all))
	}
	return agree
}
