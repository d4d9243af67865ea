package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/git/remerge"
	"ken/internal/repo"
	"ken/internal/testrepo"
)

// A mergeLab is a repository for tests of merges.
type mergeLab struct {
	*testrepo.Repo
	t *testing.T
}

func newMergeLab(t *testing.T, opts ...testrepo.Option) *mergeLab {
	t.Helper()
	l := &mergeLab{testrepo.New(t, opts...), t}
	l.Write("f", lines(""))
	l.Write("other", "other\n")
	l.Commit("base")
	l.Git("branch", "base")
	return l
}

// lines returns a text with some lines replaced, as in "1=x 20=y".
func lines(edits string) string {
	list := make([]string, 21)
	for i := range list {
		list[i] = fmt.Sprint("line ", i)
	}
	for edit := range strings.FieldsSeq(edits) {
		var n int
		var text string
		fmt.Sscanf(edit, "%d=%s", &n, &text)
		list[n] = text
	}
	return strings.Join(list[1:], "\n") + "\n"
}

// branch makes a branch at a commit, with one new commit.
func (l *mergeLab) branch(name, at, path, text string) {
	l.t.Helper()
	l.Git("checkout", "-q", "-B", name, at)
	l.Write(path, text)
	l.Commit(name)
}

// merge merges branches into a new branch at the first, and writes content to a path in the merge commit. With "" the
// merge commit has the content that git made.
func (l *mergeLab) merge(name, first string, others []string, path, text string) repo.ID {
	l.t.Helper()
	l.Git("checkout", "-q", "-B", name, first)
	_, err := l.Try(append([]string{"merge", "-q", "--no-ff", "--no-commit", "--allow-unrelated-histories"}, others...)...)
	if err != nil && text == "" {
		l.t.Fatalf("merge %s into %s: %v", others, first, err)
	}
	if text != "" {
		l.Write(path, text)
	}
	l.Git("add", "-A")
	l.Git("commit", "-q", "-m", name)
	return l.id("HEAD")
}

func (l *mergeLab) id(rev string) repo.ID {
	l.t.Helper()
	id, err := repo.ParseID(l.Git("rev-parse", rev))
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

func (l *mergeLab) file(commit repo.ID, path string) repo.MergedFile {
	l.t.Helper()
	f := repo.MergedFile{Commit: commit, Path: repo.Path(path)}
	for word := range strings.FieldsSeq(l.Git("rev-parse", commit.String()+"^@")) {
		id, err := repo.ParseID(word)
		if err != nil {
			l.t.Fatal(err)
		}
		f.Parents = append(f.Parents, id)
	}
	return f
}

// ask calls Merged in a new Repo, which finds the cache of earlier calls.
func (l *mergeLab) ask(files ...repo.MergedFile) []repo.MergeVerdict {
	l.t.Helper()
	g, err := openFiltered(l.t.Context(), l.Dir)
	if err != nil {
		l.t.Fatal(err)
	}
	list, err := g.Contents().Merged(l.t.Context(), files)
	if err != nil {
		l.t.Fatal(err)
	}
	return list
}

var authorNames = map[repo.MergeAuthor]string{repo.MergeUnknown: "unknown", repo.MergeByGit: "git", repo.MergeByPerson: "a person"}

// mergeCases makes merges of all kinds, and returns the expected author of each file.
func (l *mergeLab) mergeCases() (files []repo.MergedFile, want []repo.MergeAuthor, names []string) {
	l.t.Helper()
	add := func(name string, commit repo.ID, path string, by repo.MergeAuthor) {
		l.t.Helper()
		files, want, names = append(files, l.file(commit, path)), append(want, by), append(names, name)
	}
	two := func(b string) []string { return []string{b} }
	l.branch("first", "base", "f", lines("1=x"))
	l.branch("last", "base", "f", lines("20=y"))
	l.branch("rival", "base", "f", lines("1=z"))
	clean := l.merge("clean", "first", two("last"), "", "")
	add("clean", clean, "f", repo.MergeByGit)
	add("edited", l.merge("edited", "first", two("last"), "f", lines("1=x 10=new 20=y")), "f", repo.MergeByPerson)
	add("conflict", l.merge("conflict", "first", two("rival"), "f", lines("1=xz")), "f", repo.MergeByPerson)

	// A conflict in one file, and another one that git merged.
	l.Git("checkout", "-q", "-B", "both1", "first")
	l.Write("other", "mine\n")
	l.Commit("both1")
	l.Git("checkout", "-q", "-B", "both2", "last")
	l.Write("other", "theirs\n")
	l.Commit("both2")
	mixed := l.merge("mixed", "both1", two("both2"), "other", "ours\n")
	add("git's file beside a conflict", mixed, "f", repo.MergeByGit)
	add("the conflict beside it", mixed, "other", repo.MergeByPerson)

	// Moved on one side, edited on the other.
	l.Git("checkout", "-q", "-B", "mover", "base")
	l.Git("mv", "f", "g")
	l.Git("commit", "-q", "-m", "mover")
	add("moved there", l.merge("moved", "first", two("mover"), "", ""), "g", repo.MergeByGit)
	add("moved here", l.merge("moved2", "mover", two("first"), "", ""), "g", repo.MergeByGit)

	// Moved by a person after git merged it.
	for _, move := range []struct {
		name, text string
		by         repo.MergeAuthor
	}{
		{"moved in the merge", lines("1=x 20=y"), repo.MergeByGit},
		{"moved and edited in the merge", lines("1=x 10=new 20=y"), repo.MergeByPerson},
	} {
		l.Git("checkout", "-q", "-B", "move", "first")
		l.Git("merge", "-q", "--no-ff", "--no-commit", "last")
		l.Git("mv", "f", "g")
		l.Write("g", move.text)
		l.Git("commit", "-qam", move.name)
		f := l.file(l.id("HEAD"), "g")
		f.From = []repo.Path{"elsewhere", "f"}
		files, want, names = append(files, f), append(want, move.by), append(names, move.name)
	}

	// Criss-cross: git merges the two merge bases into one.
	other := l.merge("clean2", "last", two("first"), "", "")
	l.branch("cross1", clean.String(), "f", lines("1=x 8=p 20=y"))
	l.branch("cross2", other.String(), "f", lines("1=x 14=q 20=y"))
	add("criss-cross", l.merge("criss", "cross1", two("cross2"), "", ""), "f", repo.MergeByGit)
	add("edited criss-cross", l.merge("criss2", "cross1", two("cross2"), "f", lines("1=x 8=p 10=n 14=q 20=y")), "f", repo.MergeByPerson)

	// Octopus.
	l.branch("mid", "base", "f", lines("10=m"))
	add("octopus", l.merge("octopus", "first", []string{"last", "mid"}, "", ""), "f", repo.MergeByGit)
	add("edited octopus", l.merge("octopus2", "first", []string{"last", "mid"}, "f", lines("1=x 5=n 10=m 20=y")), "f", repo.MergeByPerson)
	tree := l.Git("rev-parse", "conflict^{tree}")
	hand, err := repo.ParseID(l.Git("commit-tree", "-m", "by hand", tree, "-p", "first", "-p", "mover", "-p", "rival"))
	if err != nil {
		l.t.Fatal(err)
	}
	add("octopus with a conflict", hand, "f", repo.MergeByPerson)

	// No merge base at all.
	l.Git("checkout", "-q", "--orphan", "root")
	l.Git("rm", "-q", "-rf", ".")
	l.Write("h", "h\n")
	l.Commit("root")
	unrelated := l.merge("unrelated", "first", two("root"), "f", lines("2=n"))
	add("edited merge of unrelated histories", unrelated, "f", repo.MergeByPerson)
	return files, want, names
}

// Repeating a merge tells whether git or a person made a file, and the cache gives the same answer.
func TestMerged(t *testing.T) {
	for _, opts := range [][]testrepo.Option{nil, {testrepo.SHA256}} {
		l := newMergeLab(t, opts...)
		files, want, names := l.mergeCases()
		before := l.Git("count-objects", "-v")
		for round, what := range []string{"repeated", "kept"} {
			if round == 1 {
				withoutGit(t)
			}
			for i, m := range l.ask(files...) {
				if m.By != want[i] {
					t.Errorf("%s, %s: %s made it, want %s %s", names[i], what, authorNames[m.By], authorNames[want[i]], m.Why)
				}
			}
			if round == 0 {
				if after := l.Git("count-objects", "-v"); before != after {
					t.Errorf("objects were written into the repository:\n%s\n%s", before, after)
				}
			}
		}
		t.Setenv("PATH", gitPath)
	}
}

var gitPath = os.Getenv("PATH")

// A damaged cache of verdicts is ignored and written again.
func TestMergedCache(t *testing.T) {
	l := newMergeLab(t)
	l.branch("first", "base", "f", lines("1=x"))
	l.branch("last", "base", "f", lines("20=y"))
	f := l.file(l.merge("m", "first", []string{"last"}, "", ""), "f")
	l.ask(f)
	names, err := filepath.Glob(l.Path(".git/ken/cache/digests/merges-*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("the cache has the entries %v, want one: %v", names, err)
	}
	name := names[0]
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	g, err := openFiltered(t.Context(), l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := g.historyInputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if cached := g.loadMerges(inputs.key); len(cached.byGit) != 1 {
		t.Fatalf("the cache has the verdicts %v, want one", cached.byGit)
	}
	for i := range whole {
		broken := append([]byte{}, whole...)
		broken[i] ^= 1
		if err := os.WriteFile(name, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if cached := g.loadMerges(inputs.key); len(cached.byGit) > 0 {
			t.Fatalf("with byte %d changed, the cache still has verdicts: %v", i, cached.byGit)
		}
	}
	if m := l.ask(f)[0]; m.By != repo.MergeByGit {
		t.Errorf("after the file was broken: %s made it, want git %s", authorNames[m.By], m.Why)
	}
	if again, err := os.ReadFile(name); err != nil || string(again) != string(whole) {
		t.Errorf("the file was not made again: %v", err)
	}
}

// Configuration, attributes and merge drivers do not change a verdict, and no driver is started.
func TestMergedIgnoresConfig(t *testing.T) {
	l := newMergeLab(t)
	files, want, names := l.mergeCases()
	ran := filepath.Join(t.TempDir(), "ran")
	l.Git("checkout", "-q", "-f", "first")
	l.Write(".gitattributes", "* merge=evil\n")
	l.Write(".git/info/attributes", "* merge=evil\n")
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "attributes"), []byte("* merge=evil\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := "[merge]\n\trenames = false\n\tconflictStyle = diff3\n[merge \"evil\"]\n\tdriver = touch " + ran + "\n" +
		"[diff]\n\talgorithm = patience\n[core]\n\tattributesFile = " + filepath.Join(home, "attributes") + "\n"
	if err := os.WriteFile(filepath.Join(home, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "config"))
	l.Git("config", "merge.renames", "false")
	l.Git("config", "merge.evil.driver", "touch "+ran)
	for i, m := range l.ask(files...) {
		if m.By != want[i] {
			t.Errorf("%s: %s made it, want %s %s", names[i], authorNames[m.By], authorNames[want[i]], m.Why)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a merge driver was started")
	}
}

// A merge with a missing object is unknown and tried again. Other merges are not affected.
func TestMergedWithoutObjects(t *testing.T) {
	l := newMergeLab(t)
	files, want, names := l.mergeCases()
	lost := l.Git("rev-parse", "rival:f") // which "conflict" and an octopus need
	object := l.Path(filepath.Join(".git/objects", lost[:2], lost[2:]))
	content, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	for i, m := range l.ask(files...) {
		needs := names[i] == "conflict" || names[i] == "octopus with a conflict"
		switch {
		case needs && (m.By != repo.MergeUnknown || m.Why == ""):
			t.Errorf("%s: %s made it, want unknown with a reason, not %q", names[i], authorNames[m.By], m.Why)
		case !needs && m.By != want[i]:
			t.Errorf("%s: %s made it, want %s %s", names[i], authorNames[m.By], authorNames[want[i]], m.Why)
		}
	}
	if err := os.WriteFile(object, content, 0o400); err != nil {
		t.Fatal(err)
	}
	for i, m := range l.ask(files...) {
		if m.By != want[i] {
			t.Errorf("%s, with the object: %s made it, want %s %s", names[i], authorNames[m.By], authorNames[want[i]], m.Why)
		}
	}
}

// If git fails at every merge, ken stops after some of them.
func TestMergedGivesUp(t *testing.T) {
	l := newMergeLab(t)
	l.branch("first", "base", "f", lines("1=x"))
	var files []repo.MergedFile
	first := l.Git("rev-parse", "first")
	for i := range 100 {
		id, err := repo.ParseID(l.Git("commit-tree", "-m", fmt.Sprint(i), "first^{tree}", "-p", first, "-p", "base"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, l.file(id, "f"))
	}
	count := filepath.Join(t.TempDir(), "count")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	fakeGit(t, `case "$*" in *merge-tree*) echo x >>`+count+`; echo "fatal: no" >&2; exit 128;; esac; exec `+real+` "$@"`)
	for i, m := range l.ask(files...) {
		if m.By != repo.MergeUnknown || !strings.Contains(m.Why, "no") {
			t.Errorf("merge %d: %s made it, want unknown: no; got %q", i, authorNames[m.By], m.Why)
		}
	}
	runs, _ := os.ReadFile(count)
	if n := strings.Count(string(runs), "x"); n == 0 || n > 2*remerge.MaxFailures {
		t.Errorf("git merge-tree was started %d times, want at most %d", n, 2*remerge.MaxFailures)
	}
}

// Verdicts are cached even if git is stopped in a later batch, so that every run has more of them.
func TestMergedCachesPartialResults(t *testing.T) {
	l := newMergeLab(t)
	l.branch("first", "base", "f", lines("1=x"))
	first := l.Git("rev-parse", "first")
	var files []repo.MergedFile
	for i := range 40 {
		id, err := repo.ParseID(l.Git("commit-tree", "-m", fmt.Sprint(i), "first^{tree}", "-p", first, "-p", "base"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, l.file(id, "f"))
	}
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	fakeGit(t, `case "$*" in *merge-tree*)
		list=$(cat)
		if [ $(echo "$list" | wc -l) -gt 4 ]; then kill -9 $$; fi
		echo "$list" | `+real+` "$@"
		exit;;
	esac
	exec `+real+` "$@"`)
	unknown := len(files)
	for run := 1; unknown > 0; run++ {
		left := 0
		for _, m := range l.ask(files...) {
			if m.By == repo.MergeUnknown {
				left++
			}
		}
		if left >= unknown {
			t.Fatalf("run %d: %d merges are unknown, want fewer than the %d before it", run, left, unknown)
		}
		unknown = left
	}
}

// With a git without merge-tree --stdin, ken merges files that were not moved. Others are unknown.
func TestMergedByOldGit(t *testing.T) {
	l := newMergeLab(t)
	files, want, names := l.mergeCases()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	fakeGit(t, `case "$*" in *merge-tree*) echo "usage: git merge-tree" >&2; exit 129;; esac; exec `+real+` "$@"`)
	known := 0
	for i, m := range l.ask(files...) {
		beyond := strings.Contains(names[i], "moved") || strings.Contains(names[i], "criss") || strings.Contains(names[i], "octopus") ||
			strings.Contains(names[i], "unrelated")
		switch {
		case beyond && (m.By != repo.MergeUnknown || !strings.Contains(m.Why, "2.39")):
			t.Errorf("%s: %s made it, want unknown, because git 2.39 is needed; got %q", names[i], authorNames[m.By], m.Why)
		case !beyond && m.By != want[i]:
			t.Errorf("%s: %s made it, want %s %s", names[i], authorNames[m.By], authorNames[want[i]], m.Why)
		case !beyond:
			known++
		}
	}
	if known < 4 {
		t.Errorf("%d merges were repeated, want at least 4", known)
	}
}

// A merge of replaced commits uses the replacements.
func TestMergedReplaced(t *testing.T) {
	l := newMergeLab(t)
	l.branch("first", "base", "f", lines("1=x"))
	l.branch("last", "base", "f", lines("20=y"))
	m := l.merge("m", "first", []string{"last"}, "", "")
	if got := l.ask(l.file(m, "f"))[0]; got.By != repo.MergeByGit {
		t.Fatalf("%s made it, want git %s", authorNames[got.By], got.Why)
	}
	// With another merge base the merge has a conflict.
	l.branch("base2", "base", "f", lines("1=other 20=other"))
	l.Git("replace", l.Git("rev-parse", "base"), l.Git("commit-tree", "-m", "base", "base2^{tree}"))
	if got := l.ask(l.file(m, "f"))[0]; got.By != repo.MergeByPerson {
		t.Errorf("after the base was replaced, %s made it, want a person %s", authorNames[got.By], got.Why)
	}
}

// A cancelled context stops Merged.
func TestMergedStops(t *testing.T) {
	l := newMergeLab(t)
	l.branch("first", "base", "f", lines("1=x"))
	l.branch("last", "base", "f", lines("20=y"))
	f := l.file(l.merge("m", "first", []string{"last"}, "", ""), "f")
	g, err := openFiltered(t.Context(), l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	done, cancel := contextDone(t)
	defer cancel()
	if _, err := g.Contents().Merged(done, []repo.MergedFile{f}); err == nil {
		t.Error("Merged returned no error for a cancelled context")
	}
}

func contextDone(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	return done, cancel
}
