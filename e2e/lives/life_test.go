package lives

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ken/internal/testrepo"
)

// The kinds of lives. They share the operations of git; a kind decides which parts of ken are
// used and compared, so that one life stays fast.
const (
	files    = "files"    // summaries of files, in a repository, a linked worktree and a clone
	agents   = "agents"   // directories that agents describe
	outlines = "outlines" // directories that ken outlines
	specs    = "specs"    // versions, drift and acks
	uses     = "uses"     // imports and uses: the index that ken updated against a new one
)

var kinds = []string{files, specs, agents, files, outlines, specs, uses}

// An op is one operation of a life. It is a piece of shell that runs in a place, and what the
// models must know about it beyond what git shows.
type op struct {
	name  string
	place string // repo, tree (a linked worktree of repo) or clone
	shell string
	write write
	look  look
}

// A look lists the parts that are compared after an operation. Each comparison changes the cache of
// ken, so lives compare in different ways.
type look int

const (
	lookAway   look = iota // compare nothing
	lookStatus             // ask status alone, which writes nothing
	lookAll
)

// A write is a summary or ack that an operation gives to ken.
type write struct {
	act  string // set, confirm, describe, keep, outline, ack, push, pull
	path string
	text string
	read string // the content that a set names
}

// A life has a repository with a linked worktree and a clone, and the state of the models.
type life struct {
	seed  int64
	kind  string
	tb    testing.TB
	dir   string
	env   []string
	rand  *rand.Rand // nil in a replay
	ops   []op
	clock int // the number of the operation, which dates its commits

	stores map[string]*store // repo and tree share one
	specs  *specModel
	dead   bool // git or the disk failed: the test has an error, and nothing more is tried

	failure  string
	compared int // verdicts
}

// A store is the model of the summaries of one clone.
type store struct {
	texts   []fileText
	dirs    []dirText
	outline []outlineRun
}

// live runs the life of a seed until a difference or up to a number of operations.
func live(tb testing.TB, seed int64, length int) *life {
	tb.Helper()
	l := newLife(tb, seed, kindOf(seed))
	defer l.bury()
	l.rand = rand.New(rand.NewSource(seed))
	l.begin()
	for len(l.ops) < length && l.failure == "" && !l.dead && tb.Context().Err() == nil {
		o, ok := l.next()
		if !ok {
			continue
		}
		l.ops = append(l.ops, o)
		l.do(o)
	}
	return l
}

func kindOf(seed int64) string {
	if *kindFlag != "" {
		return *kindFlag
	}
	return kinds[int(seed)%len(kinds)]
}

// replay runs recorded operations.
func replay(tb testing.TB, seed int64, kind string, ops []op) *life {
	tb.Helper()
	l := newLife(tb, seed, kind)
	defer l.bury()
	l.begin()
	for _, o := range ops {
		l.ops = append(l.ops, o)
		l.do(o)
		if l.failure != "" || l.dead {
			break
		}
	}
	return l
}

func newLife(tb testing.TB, seed int64, kind string) *life {
	tb.Helper()
	dir, err := os.MkdirTemp("", "ken-life-") //nolint:usetesting // a long run would keep all its lives until the end
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		tb.Errorf("seed %d: %v", seed, err)
	}
	own := &store{}
	l := &life{
		seed: seed, kind: kind, tb: tb, dir: dir, dead: err != nil,
		stores: map[string]*store{"repo": own, "tree": own, "clone": {}},
		specs:  newSpecModel(),
	}
	l.env = append(
		testrepo.Environ(),
		"HOME="+filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM=1", "TZ=UTC", "LC_ALL=C", "NO_COLOR=1",
		"KEN_AUTHOR=ada", "GIT_EDITOR=true", "GIT_MERGE_AUTOEDIT=no", "GIT_TERMINAL_PROMPT=0",
		"PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"),
	)
	return l
}

func (l *life) bury() {
	if l.dir == "" {
		return
	}
	_ = os.RemoveAll(l.dir) // what stays behind lies in the temporary directory
}

// prologue creates the repository, the worktree and the clone. Operations add filters, attributes and so on.
func (l *life) prologue() string {
	r := rand.New(rand.NewSource(l.seed))
	var b strings.Builder
	b.WriteString(`git config --global user.name Ada
git config --global user.email ada@example.org
git config --global init.defaultBranch main
git config --global core.autocrlf false
git config --global gc.auto 0
git config --global advice.detachedHead false
git config --global protocol.file.allow always
git init -q --bare remote.git
git init -q repo
cd repo
git config filter.rot.clean 'tr a-y b-z'
git config filter.rot.smudge 'tr b-z a-y'
git config filter.strip.clean 'tr -d 0-9'
git config filter.strip.smudge cat
git remote add origin "$PWD/../remote.git"
mkdir -p src/deep lib doc
`)
	for _, name := range firstFiles {
		fmt.Fprintf(&b, "printf %s > %s\n", quote(newFile(r, name)), name)
	}
	if l.kind == uses {
		b.WriteString(firstUses(r))
	}
	if l.kind == specs {
		for _, n := range firstSpecs {
			fmt.Fprintf(&b, "mkdir -p .spec/%s\nprintf %s > .spec/%s/spec.md\n", n.dir, quote(specFile(r, n.code)), n.dir)
		}
	}
	b.WriteString(`git add -A
git commit -q -m first
git push -q -u origin main
git worktree add -q -b side ../tree
git clone -q ../remote.git ../clone
cd ..
`)
	return b.String()
}

var firstFiles = []string{
	"a.go", "b.txt", "src/c.go", "src/d.py", "src/deep/e.sh", "src/deep/f.go", "lib/g.js", "lib/h.txt", "doc/i.txt",
}

func (l *life) begin() {
	if l.dead {
		return
	}
	err := os.MkdirAll(filepath.Join(l.dir, "home"), 0o755)
	if err == nil {
		_, err = l.sh(l.dir, "set -e\n"+l.prologue())
	}
	if err != nil {
		l.tb.Errorf("seed %d: begin: %v", l.seed, err)
		l.dead = true
	}
}

// do runs an operation, updates the models and compares.
func (l *life) do(o op) {
	l.clock++
	var before *sight
	if o.write.act != "" {
		before = l.observe(o.place)
	}
	out, _ := l.sh(l.at(o.place), o.shell) // git may refuse: the models look at what is there
	if strings.Contains(out, "panic:") || strings.Contains(out, "goroutine 1 [") {
		l.differs(o.place, "ken does not panic", out)
		return
	}
	if o.write.act != "" {
		l.wrote(o, before, out)
	}
	if l.failure == "" && o.look != lookAway {
		l.compare(o)
	}
}

func (l *life) at(place string) string { return filepath.Join(l.dir, place) }

// differs records the first difference.
func (l *life) differs(place, want, got string) {
	if l.failure == "" {
		l.failure = fmt.Sprintf("in %s\nexpected: %s\nfound:    %s\n", place, want, got)
	}
}

// commitDate is the date of the commits of an operation, so that a replay makes the same ids.
func commitDate(clock int) string {
	return time.Date(2024, time.January, 2, 3, 0, 0, 0, time.UTC).Add(time.Duration(clock) * time.Minute).Format(time.RFC3339)
}

// sh runs a piece of shell. Its standard output and error come back together; the error is
// that of the last command.
func (l *life) sh(dir, script string) (string, error) {
	ctx, cancel := context.WithTimeout(l.tb.Context(), 2*time.Minute) // nothing here asks for input or waits
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(l.env, "GIT_AUTHOR_DATE="+commitDate(l.clock), "GIT_COMMITTER_DATE="+commitDate(l.clock))
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &out
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out.String())
	}
	return out.String(), err
}

// run starts one program and returns its standard output.
func (l *life) run(dir, stdin string, extra []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(l.tb.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(l.env, extra...)
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &stdout
	cmd.Stderr = &stderr
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), err
}

// git runs a git command that must succeed.
func (l *life) git(place string, args ...string) string {
	out, err := l.run(l.at(place), "", nil, "git", args...)
	if err != nil && l.tb.Context().Err() == nil {
		l.tb.Errorf("seed %d: %v", l.seed, err)
		l.dead = true
	}
	return out
}

// try runs a git command that may fail.
func (l *life) try(place string, args ...string) (string, bool) {
	out, err := l.run(l.at(place), "", nil, "git", args...)
	return out, err == nil
}

// ken runs ken and decodes its JSON. A failure is a difference.
func (l *life) ken(place string, into any, args ...string) bool {
	args = append(args, "--json")
	out, err := l.run(l.at(place), "", nil, program, args...)
	if err == nil {
		err = json.Unmarshal([]byte(out), into)
	}
	if err != nil {
		l.differs(place, "ken "+strings.Join(args, " ")+" answers", err.Error())
		return false
	}
	return true
}

// documents decodes the JSON documents in the output of a script, and skips other output.
func documents[T any](out string) []T {
	var list []T
	for {
		start := strings.IndexAny(out, "{[")
		if start < 0 {
			return list
		}
		out = out[start:]
		d := json.NewDecoder(strings.NewReader(out))
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) || err != nil {
			out = out[1:]
			continue
		}
		var one T
		if json.Unmarshal(raw, &one) == nil {
			list = append(list, one)
		}
		out = out[d.InputOffset():]
	}
}

// script returns a life as a shell script.
func (l *life) script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# seed %d, %s: ken must be in PATH\n", l.seed, l.kind)
	b.WriteString("cd \"$(mktemp -d)\" && mkdir home && top=$PWD\n")
	b.WriteString("export HOME=$top/home GIT_CONFIG_NOSYSTEM=1 TZ=UTC KEN_AUTHOR=ada GIT_EDITOR=true GIT_MERGE_AUTOEDIT=no\n")
	fmt.Fprintf(&b, "export GIT_AUTHOR_DATE=%s GIT_COMMITTER_DATE=%s\n", commitDate(0), commitDate(0))
	b.WriteString(l.prologue())
	for i, o := range l.ops {
		fmt.Fprintf(&b, "\n# %d: %s\n", i+1, o.name)
		fmt.Fprintf(&b, "cd \"$top/%s\"; export GIT_AUTHOR_DATE=%s GIT_COMMITTER_DATE=%s\n", o.place, commitDate(i+1), commitDate(i+1))
		b.WriteString(strings.TrimRight(o.shell, "\n") + "\n")
		switch o.look {
		case lookStatus:
			b.WriteString("ken status --all --json\n")
		case lookAll:
			b.WriteString(looking(l.kind))
		case lookAway:
		}
	}
	return b.String()
}

func looking(kind string) string {
	switch kind {
	case specs:
		return "ken spec ls --json\n"
	case agents, outlines:
		return "ken survey show --json\n"
	case uses:
		return lookingAtUses
	}
	return "ken status --all --json; ken verify --all --json; ken summary show --json $(git ls-files); ken verify --full --all --json\n"
}
