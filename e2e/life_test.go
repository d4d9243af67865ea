package e2e

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/testrepo"
)

// After any sequence of changes to a work tree, ken calls a summary fresh exactly if it was
// written from the content that plain git would store for the file now.
func TestLifeOfARepository(t *testing.T) {
	t.Parallel()
	if !flagGiven("rapid.checks") {
		if err := flag.Set("rapid.checks", "10"); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		l := newLife(t)
		defer os.RemoveAll(filepath.Dir(l.dir))
		t.Repeat(map[string]func(*rapid.T){
			"edit":      l.edit,
			"edit ":     l.edit, // twice as likely as what follows
			"chmod":     l.chmod,
			"delete":    l.remove,
			"rename":    l.rename,
			"commit":    l.commit,
			"amend":     l.amend,
			"branch":    l.branch,
			"stash":     l.stash,
			"pop":       l.pop,
			"flip eol":  l.flip,
			"checkout":  l.restore,
			"summarise": l.summarise,
			"verify":    l.verify,
			"full":      l.full,
			"":          l.check,
		})
	})
}

func flagGiven(name string) (given bool) {
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// A life is a repository that changes at random. The test keeps its own list of the contents
// that summaries were written from, and compares it with the answers of ken.
type life struct {
	t       *rapid.T
	dir     string
	home    string
	env     []string
	known   map[string]bool // content ids a summary was written from
	branch_ int
	ticks   int
}

var (
	names = []string{"a.dat", "b.dat", "sub/c.txt", "sub/deep/d.txt"} // for which no grammar tells how far they moved
	// All of one size, so that only content or time can tell them apart.
	words = []string{"one\ntwo\n", "two\none\n", "six\nten\n", "ten\nsix\n"}
)

func newLife(t *rapid.T) *life {
	dir, err := os.MkdirTemp("", "ken-life-")
	if err != nil {
		t.Fatal(err)
	}
	l := &life{t: t, dir: filepath.Join(dir, "repo"), home: filepath.Join(dir, "home"), known: map[string]bool{}}
	l.env = testrepo.Environ()
	for k, v := range environ(l.home) {
		l.env = append(l.env, k+"="+v)
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(l.home, 0o755))
	must(os.MkdirAll(l.dir, 0o755))
	l.git("init", "-q", "-b", "main")
	switch rapid.IntRange(0, 2).Draw(t, "line endings") {
	case 1:
		l.git("config", "core.autocrlf", "true")
	case 2:
		l.write(".gitattributes", "*.txt text=auto\n*.go text\n")
	}
	for i, n := range names {
		l.write(n, words[i])
	}
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "first")
	return l
}

func (l *life) run(name string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Dir = l.dir
	cmd.Env = l.env
	out, err := cmd.Output()
	return string(out), err
}

func (l *life) git(args ...string) string {
	out, err := l.run("git", args...)
	if err != nil {
		l.t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (l *life) ken(into any, args ...string) {
	out, err := l.run(filepath.Join(bin, "ken"), append(args, "--json")...)
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			l.t.Fatalf("ken %s: %v\n%s%s", strings.Join(args, " "), err, out, exit.Stderr)
		}
		l.t.Fatalf("ken %s: %v", strings.Join(args, " "), err)
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		l.t.Fatalf("ken %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (l *life) write(name, content string) {
	file := filepath.Join(l.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) pick(t *rapid.T) string { return rapid.SampledFrom(names).Draw(t, "file") }

func (l *life) edit(t *rapid.T) { l.write(l.pick(t), rapid.SampledFrom(words).Draw(t, "words")) }

func (l *life) flip(t *rapid.T) {
	name := l.pick(t)
	b, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		return
	}
	s := strings.ReplaceAll(string(b), "\r\n", "\n")
	if s == string(b) {
		s = strings.ReplaceAll(s, "\n", "\r\n")
	}
	l.write(name, s)
}

func (l *life) chmod(t *rapid.T) {
	os.Chmod(filepath.Join(l.dir, l.pick(t)), rapid.SampledFrom([]os.FileMode{0o644, 0o755}).Draw(t, "mode"))
}

func (l *life) remove(t *rapid.T) { os.Remove(filepath.Join(l.dir, l.pick(t))) }

func (l *life) rename(t *rapid.T) { l.run("git", "mv", "-f", l.pick(t), l.pick(t)) }

func (l *life) commit(*rapid.T) {
	l.git("add", "-A")
	l.git("commit", "-q", "--allow-empty", "-m", "more")
}

func (l *life) amend(t *rapid.T) {
	if rapid.Bool().Draw(t, "with changes") {
		l.git("add", "-A")
	}
	l.git("commit", "-q", "--allow-empty", "--amend", "--reset-author", "-m", fmt.Sprint("amended ", rapid.Int().Draw(t, "message")))
}

// branch switches to another branch, or creates one. git may refuse because of local changes,
// which the test accepts.
func (l *life) branch(t *rapid.T) {
	if l.branch_ == 0 || rapid.Bool().Draw(t, "new") {
		l.branch_++
		l.run("git", "checkout", "-q", "-b", fmt.Sprint("b", l.branch_))
		return
	}
	l.run("git", "checkout", "-q", fmt.Sprint("b", rapid.IntRange(1, l.branch_).Draw(t, "branch")))
}

func (l *life) stash(*rapid.T) { l.run("git", "stash", "-q") }

func (l *life) pop(*rapid.T) {
	if _, err := l.run("git", "stash", "pop", "-q"); err != nil {
		// A pop that conflicts is undone; conflicts have a script of their own.
		l.run("git", "reset", "-q", "--hard")
		l.run("git", "stash", "drop", "-q")
	}
}

func (l *life) restore(t *rapid.T) { l.run("git", "checkout", "-q", "--", l.pick(t)) }

func (l *life) summarise(t *rapid.T) {
	name := l.pick(t)
	id, ok := l.oracle()[name]
	if !ok {
		return
	}
	l.ticks++
	var w struct{ Result, Reason string }
	l.ken(&w, "summary", "set", name, "-m", fmt.Sprint("summary ", l.ticks), "--read", id)
	if w.Result != "stored" {
		t.Fatalf("summary of %s, read as %s: %+v", name, id, w)
	}
	l.known[id] = true
}

type report struct {
	State    string
	Counts   map[string]int
	Verdicts []struct {
		Path, Verdict, Summary string
		ID                     string `json:"content_id"`
		MD5                    string `json:"content_md5"`
	}
}

func (l *life) verify(t *rapid.T) { l.verified(t, "verify", "--all") }

func (l *life) full(t *rapid.T) { l.verified(t, "verify", "--all", "--full") }

// verified runs ken verify. It checks that the md5 of every file is that of its bytes, and that
// ken status then finds no change.
func (l *life) verified(t *rapid.T, args ...string) {
	var rep report
	l.ken(&rep, args...)
	if rep.State != "trust" || args[len(args)-1] == "--full" {
		for _, v := range rep.Verdicts {
			b, err := os.ReadFile(filepath.Join(l.dir, v.Path))
			if err != nil || v.Verdict == "missing" {
				continue
			}
			// A match needs no read, and its bytes may have other line endings
			// than those last read; a full run reads everything.
			if sum := md5.Sum(b); v.MD5 != hex.EncodeToString(sum[:]) && (v.Verdict != "match" || args[len(args)-1] == "--full") {
				t.Fatalf("%s: md5 %s, want %x", v.Path, v.MD5, sum)
			}
		}
	}
	var again report
	l.ken(&again, "status")
	if again.Counts["mismatch"]+again.Counts["new"] != 0 {
		t.Fatalf("after ken verify, ken status still finds %v", again.Counts)
	}
}

// oracle asks git which content it would store for every tracked file that exists.
func (l *life) oracle() map[string]string {
	// The copy keeps its time: a newer index would make racy entries look safe
	// to git.
	if out, err := exec.CommandContext(context.Background(), "cp", "-p", filepath.Join(l.dir, ".git", "index"), l.index()).CombinedOutput(); err != nil {
		l.t.Fatalf("copy the index: %v %s", err, out)
	}
	asked := l.asked()
	asked.git("add", "-u")
	out := map[string]string{}
	for _, line := range strings.Split(asked.git("ls-files", "-s", "-z"), "\x00") {
		if meta, name, ok := strings.Cut(line, "\t"); ok {
			out[name] = strings.Fields(meta)[1]
		}
	}
	return out
}

func (l *life) index() string { return filepath.Join(l.home, "index") }

// asked is the same repository with the index of the oracle.
func (l *life) asked() *life {
	asked := *l
	asked.env = append(append([]string(nil), l.env...), "GIT_INDEX_FILE="+l.index())
	return &asked
}

// check compares the answers of ken with those of the test, for every tracked file.
func (l *life) check(t *rapid.T) {
	l.t = t
	want := l.oracle()
	var rep report
	l.ken(&rep, "status", "--all")
	// git status itself calls a file modified whose line endings alone changed
	// its size, until the index is refreshed; what git would commit does not.
	if _, err := l.asked().run("git", "diff-index", "--cached", "--quiet", "HEAD"); rep.State == "trust" && err != nil {
		t.Fatal("ken reports trust, but git has changes to commit")
	}
	seen := 0
	for _, v := range rep.Verdicts {
		id, tracked := want[v.Path]
		if !tracked || v.Verdict == "missing" {
			continue
		}
		seen++
		if v.ID != id {
			t.Errorf("%s: content id %s, but git would store %s", v.Path, v.ID, id)
		}
		if fresh := v.Summary == "fresh"; fresh != l.known[id] {
			t.Errorf("%s is %s (%s), and a summary of %s is known: %v", v.Path, v.Summary, v.Verdict, id, l.known[id])
		}
	}
	if seen != len(want) {
		t.Errorf("ken judged %d files, but git has %d", seen, len(want))
	}
}
