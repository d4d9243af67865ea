package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ken/internal/model"
	"ken/internal/model/modeltest"
	"ken/internal/pgtest"
	"ken/internal/testrepo"
)

// shared is the document of ken worker runs RUN --json.
type shared struct {
	ID          int64
	State, Why  string
	Directories struct{ Total, Done, Unasked, Failed, Dead, Taken int }
	Calls       int
	Spent       struct{ Tokens int64 }
	Assumed     struct{ Tokens int64 }
	Reserved    struct{ Tokens int64 }
	Dead        []struct{ Path, Error string }
	Blocked     []struct{ Path string }
}

// A team has a repository, a PostgreSQL server and a model.
type team struct {
	*testrepo.Repo

	t       *testing.T
	srv     *modeltest.Server
	address string
	env     []string // more variables for its commands
}

// at makes a command run with the store of the team and the key of the model.
func (m *team) at(address string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, append(m.srv.Env(), "KEN_STORE="+address)...)
		cmd.Env = append(cmd.Env, m.env...)
	}
}

func (m *team) ken(args ...string) outcome {
	m.t.Helper()
	return ken(m.t, m.Repo, m.at(m.address), args...)
}

// handOut creates a run that the workers process.
func (m *team) handOut(args ...string) int64 {
	m.t.Helper()
	o := m.ken(append([]string{"survey", "run", "--workers", "--detach", "--provider", "anthropic", "--model", "m1", "--json"}, args...)...)
	doc := decode[struct{ Run int64 }](m.t, o.stdout)
	if o.status != 0 || doc.Run == 0 {
		m.t.Fatalf("ken survey run: %+v; want a new run", o)
	}
	return doc.Run
}

func (m *team) run(id int64) shared {
	m.t.Helper()
	return decode[shared](m.t, m.ken("worker", "runs", fmt.Sprint(id), "--json").stdout)
}

// A hand is a worker that runs concurrently with the test.
type hand struct {
	*exec.Cmd

	mu   sync.Mutex
	out  *bytes.Buffer
	gone chan struct{}
	err  error
}

// Write records the output of the worker.
func (h *hand) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.out.Write(b)
}

// said returns the output so far.
func (h *hand) said() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.out.String()
}

// worker starts a worker in a clone.
func (m *team) worker(dir, address string, args ...string) *hand {
	m.t.Helper()
	return m.start(dir, address, append([]string{"worker"}, args...)...)
}

// start starts a command in a clone.
func (m *team) start(dir, address string, args ...string) *hand {
	m.t.Helper()
	h := &hand{Cmd: exec.CommandContext(m.t.Context(), filepath.Join(bin, "ken"), args...), out: new(bytes.Buffer), gone: make(chan struct{})}
	h.Dir, h.Env = dir, m.Env()
	m.at(address)(h.Cmd)
	h.Stdout, h.Stderr = h, h
	h.WaitDelay = 5 * time.Second
	if err := h.Start(); err != nil {
		m.t.Fatal(err)
	}
	go func() {
		h.err = h.Wait()
		close(h.gone)
	}()
	m.t.Cleanup(func() {
		_ = h.Process.Kill()
		<-h.gone
		if m.t.Failed() {
			m.t.Logf("the worker in %s: %v\n%s", dir, h.err, h.out)
		}
	})
	return h
}

// ends waits for a worker to exit without an error.
func (h *hand) ends(t *testing.T) {
	t.Helper()
	select {
	case <-h.gone:
	case <-time.After(5 * time.Minute):
		t.Fatalf("the worker does not exit\n%s", h.out)
	}
	if h.err != nil {
		t.Errorf("the worker: %v\n%s", h.err, h.out)
	}
}

// await waits until a condition is true.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); {
		if time.Since(begun) > 5*time.Minute {
			t.Fatalf("the condition never became true: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// bare creates a clone without a work tree.
func (m *team) bare() string {
	m.t.Helper()
	dir := filepath.Join(m.t.TempDir(), "bare.git")
	cmd := exec.CommandContext(m.t.Context(), "git", "clone", "-q", "--bare", m.Dir, dir)
	cmd.Env = m.Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("git clone failed with %v\n%s", err, out)
	}
	return dir
}

// texts returns the number of summaries by models for each directory, according to the store.
func texts(t *testing.T, address string) map[string]int {
	t.Helper()
	times := make(map[string]int)
	for _, p := range pgtest.Column[string](t, address, `SELECT convert_from(path, 'UTF8') FROM ken.record WHERE basis_id IS NOT NULL AND NOT outlined`) {
		times[p]++
	}
	return times
}

// count counts directories of runs.
func count(t *testing.T, address, which string, args ...any) int {
	t.Helper()
	return pgtest.Value[int](t, address, `SELECT count(*) FROM ken.survey_directory WHERE `+which, args...)
}

func newTeam(t *testing.T, address string, script modeltest.Script) *team {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the signals differ on this system")
	}
	return &team{Repo: testrepo.New(t), t: t, srv: modeltest.Start(t, script), address: address}
}

// order checks that the model is asked about a directory only after those below it.
type order struct {
	mu    sync.Mutex
	done  map[string]bool
	early []string
}

func (o *order) asked(r *testrepo.Repo, dir string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	entries, _ := os.ReadDir(filepath.Join(r.Dir, dir))
	for _, e := range entries {
		child := strings.TrimPrefix(dir+"/"+e.Name(), "./")
		if e.IsDir() && e.Name() != ".git" && !o.done[child] {
			o.early = append(o.early, dir+" before "+child)
		}
	}
}

func (o *order) answered(dir string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done[dir] = true
}

// Two workers, one of them in a bare clone, summarize a commit together. All clones get the
// summaries, and a second survey finds nothing to do. A worker exits cleanly on a signal.
func TestWorkersShareASurvey(t *testing.T) {
	t.Parallel()
	o := &order{done: make(map[string]bool)}
	var m *team
	m = newTeam(t, pgtest.Database(t), func(turn modeltest.Turn) modeltest.Answer {
		o.asked(m.Repo, about(turn))
		defer o.answered(about(turn))
		a := describe(turn)
		if about(turn) == "a" {
			a.Calls = []model.Call{call("submit", map[string]any{"summary": "What a is for.", "files": map[string]string{"x.go": "Says x."}})}
		}
		a.Usage = model.Usage{Input: 1000, Output: 50}
		return a
	})
	for _, dir := range []string{"", "a/", "a/b/", "a/b/c/", "d/", "d/e/", "f/"} {
		m.Write(dir+"x.go", "package x\n\n// X of "+dir+"\nconst X = 1\n")
	}
	m.Commit("first")
	one, two := m.worker(m.Dir, m.address, "--jobs", "1"), m.worker(m.bare(), m.address, "--jobs", "2")
	out := m.ken("survey", "run", "--workers", "--provider", "anthropic", "--model", "m1", "--json")
	if out.status != 0 {
		t.Fatalf("ken survey run failed: %+v\nthe workers printed\n%s\n%s", out, one.out, two.out)
	}
	doc := decode[shared](t, out.stdout)
	if doc.State != "done" || doc.Directories.Done != 7 || doc.Calls != 7 || doc.Spent.Tokens != 7*1050 || doc.Reserved.Tokens != 0 {
		t.Fatalf("ken survey run: %+v; want 7 directories done with 7 calls", out)
	}
	if len(o.early) > 0 {
		t.Errorf("asked too early: %v", o.early)
	}
	if got := texts(t, m.address); len(got) != 7 || got["a/b/c"] != 1 {
		t.Errorf("the server has the texts %v; want 7 directories, a/b/c once", got)
	}
	if o := m.ken("survey", "run", "--workers", "--provider", "anthropic", "--model", "m1"); o.status != 0 || !strings.HasPrefix(o.stdout, "all directories have a current summary") {
		t.Errorf("ken survey run: %+v; want all directories current", o)
	}
	for _, h := range []*hand{one, two} {
		if err := h.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		h.ends(t)
	}
}

// Workers are killed, stopped for longer than their lease, and disconnected by a crash of the
// server. Still, every directory gets one summary, and the run stays within its ceiling.
func TestWorkersSurviveFaults(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	const perCall, most = 1100, 600_000
	m := newTeam(t, server.Database(t), func(turn modeltest.Turn) modeltest.Answer {
		time.Sleep(100 * time.Millisecond) // a model takes its time
		a := describe(turn)
		a.Usage = model.Usage{Input: perCall - 100, Output: 100}
		return a
	})
	dirs := 1
	for i := range 8 {
		dirs++
		for j := range 9 {
			m.Write(fmt.Sprintf("d%d/e%d/x.go", i, j), fmt.Sprintf("package x%d_%d\n", i, j))
			dirs++
		}
	}
	m.Commit("first")
	id := m.handOut("--max-tokens", fmt.Sprint(most))
	through := pgtest.NewProxy(t, m.address)
	killed := m.worker(m.Dir, m.address, "--jobs", "2", "--lease", "1s")
	stopped := m.worker(m.bare(), m.address, "--jobs", "2", "--lease", "1s", "--until-idle")
	cut := m.worker(m.bare(), through.Address(), "--jobs", "2", "--lease", "1s", "--until-idle")
	// inHand waits until a worker has leased a directory, and then sends it a signal.
	inHand := func(h *hand, s syscall.Signal) {
		t.Helper()
		await(t, "it has something in hand", func() bool {
			return count(t, m.address, `state = 'taken' AND worker LIKE '%/' || $1`, fmt.Sprint(h.Process.Pid)) > 0
		})
		if err := h.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	// lost waits until this many directories of lost workers were leased again.
	lost := func(n int) {
		t.Helper()
		await(t, "they are handed on", func() bool { return count(t, m.address, `attempts > 0`) >= n })
	}
	inHand(killed, syscall.SIGKILL)
	lost(1)
	had := count(t, m.address, `attempts > 0`)
	inHand(stopped, syscall.SIGSTOP)
	through.Cut()
	lost(had + 1)
	if err := stopped.Process.Signal(syscall.SIGCONT); err != nil { // after its lease
		t.Fatal(err)
	}
	server.Crash(t)
	server.Restart(t)
	third := m.worker(m.Dir, m.address, "--jobs", "2", "--lease", "1s", "--until-idle")
	stopped.ends(t)
	cut.ends(t)
	third.ends(t)
	doc := m.run(id)
	if doc.State != "done" || doc.Directories.Done != dirs || doc.Reserved.Tokens != 0 {
		t.Fatalf("the run is %+v; want all %d directories done\nthe workers printed\n%s\n%s\n%s", doc, dirs, stopped.out, cut.out, third.out)
	}
	got := texts(t, m.address)
	for p, n := range got {
		if n != 1 {
			t.Errorf("%q was summarized %d times", p, n)
		}
	}
	calls := len(m.srv.Turns())
	if len(got) != dirs || calls < dirs {
		t.Errorf("%d texts by %d calls, of %d directories", len(got), calls, dirs)
	}
	paid := int64(calls * perCall)
	if paid > most || doc.Spent.Tokens+doc.Assumed.Tokens < paid || doc.Spent.Tokens+doc.Assumed.Tokens > most {
		t.Errorf("%d tokens were paid for; the run reports %d and up to %d, of %d", paid, doc.Spent.Tokens, doc.Assumed.Tokens, most)
	}
	t.Logf("%d calls about %d directories; %+v", calls, dirs, doc)
}

// ken worker fails with a hint if there is no store, the password is wrong, the run does not
// exist, the model is outlines, or only the repository names the program.
func TestWorkerErrorsHaveHints(t *testing.T) {
	t.Parallel()
	m := newTeam(t, pgtest.Database(t), describe)
	m.Write("x.go", "package x\n")
	m.Commit("first")
	const secret = "very-secret"
	wrong := strings.Replace(m.address, "postgres@", "nobody:"+secret+"@", 1)
	for _, c := range []struct {
		address string
		args    []string
		status  int
		says    string
	}{
		{"", []string{"worker"}, 2, "none is configured"},
		{"postgres://:::", []string{"worker"}, 2, "address of the store"},
		{wrong, []string{"worker"}, 1, "nobody"},
		{m.address, []string{"worker", "runs", "7"}, 2, "no run 7"},
		{m.address, []string{"worker", "cancel", "x"}, 2, "invalid run"},
		{m.address, []string{"worker", "retry", "7"}, 2, "no run 7 in this repository"},
		{m.address, []string{"survey", "run", "--workers"}, 2, "need no workers"},
		{m.address, []string{"survey", "run", "--workers", "--provider", "anthropic", "--model", "m1", "--max-cost", "1"}, 2, "--max-tokens"},
		{m.address, []string{"survey", "run", "--workers", "--provider", "anthropic", "--model", "m1", "--at", "nowhere"}, 2, "no such commit"},
		{m.address, []string{"survey", "run", "--detach"}, 2, "need --workers"},
		{m.address, []string{"worker", "--provider", "anthropic"}, 2, "unknown --provider"},
		{m.address, []string{"worker", "--lease", "1ms"}, 2, "--lease to at least 1s"},
	} {
		o := ken(t, m.Repo, m.at(c.address), c.args...)
		if o.status != c.status || !strings.Contains(o.stderr, c.says) || !strings.Contains(o.stderr, "hint: ") && c.status == 2 {
			t.Errorf("%q at %q: %+v", c.args, c.address, o)
		}
		if strings.Contains(o.stdout+o.stderr, secret) {
			t.Errorf("%q prints the password: %+v", c.args, o)
		}
	}
}

// Runs whose addresses the user of a worker did not allow stop no worker. It tells the reason of each once, and
// describes the directories of other runs.
func TestRunsThatAreNotAllowedStopNoWorker(t *testing.T) {
	t.Parallel()
	m := newTeam(t, pgtest.Database(t), describe)
	other := t.TempDir()
	handOut := func(address string) int64 {
		m.Write(".ken/config.yaml", "survey:\n  provider: anthropic\n  model: m1\n  exclude: [.ken]\n  base_url: "+address+"\n")
		m.Write("x.go", "package x // "+address+"\n")
		m.Commit(address)
		m.env = []string{"HOME=" + other, "XDG_STATE_HOME=" + other} // another user starts the run
		defer func() { m.env = nil }()
		m.ken("allow", address)
		return m.handOut()
	}
	handOut("http://127.0.0.1:9/a")
	handOut("http://127.0.0.1:9/b")
	w := m.worker(m.Dir, m.address)
	await(t, "both runs are refused", func() bool { return strings.Count(w.said(), "leaving a directory") >= 2 })
	time.Sleep(5 * time.Second) // several attempts
	run := handOut(m.srv.URL)
	m.ken("allow", m.srv.URL)
	await(t, "the run is done", func() bool { return m.run(run).State == "done" })
	if told := strings.Count(w.said(), "leaving a directory"); told != 2 {
		t.Errorf("the worker told %d times why it leaves two runs to others\n%s", told, w.said())
	}
}

// A worker whose key is not accepted exits with the reason, and another worker continues. A
// directory that fails repeatedly is listed with the reason and with the directories that wait for
// it.
func TestWorkerFailures(t *testing.T) {
	t.Parallel()
	var refuses sync.Map
	m := newTeam(t, pgtest.Database(t), func(turn modeltest.Turn) modeltest.Answer {
		if _, ok := refuses.Load(about(turn)); ok {
			return modeltest.Answer{Stop: model.Refusal, Text: "I will not."}
		}
		return describe(turn)
	})
	m.Write("a/b/x.go", "package b\n")
	m.Write("a/x.go", "package a\n")
	m.Commit("first")
	refuses.Store("a/b", true)
	id := m.handOut("--max-tokens", "1000000")
	bad := func(cmd *exec.Cmd) {
		m.at(m.address)(cmd)
		cmd.Env = append(cmd.Env, "ANTHROPIC_API_KEY=sk-wrong-0123456789abcdefghijklmnopqrst")
	}
	if o := ken(t, m.Repo, bad, "worker", "--until-idle"); o.status != 1 || !strings.Contains(o.stderr, "hint: ") {
		t.Errorf("a wrong key: %+v", o)
	}
	o := m.ken("worker", "--until-idle", "--json")
	if did := decode[struct{ Described, Refused int }](t, o.stdout); o.status != 0 || did.Described != 2 || did.Refused != 1 {
		t.Errorf("ken worker: %+v; want 2 directories described and 1 refused", o)
	}
	// The clone of the worker has the summaries after the next command.
	shown := decode[struct {
		Directories []struct{ Path, Verdict string }
	}](t, m.ken("survey", "show", "a", "--json").stdout).Directories
	if len(shown) != 2 || shown[0].Verdict != "incomplete" { // for want of what was refused
		t.Errorf("the worker's own clone shows %+v", shown)
	}
	if doc := m.run(id); doc.State != "done" || doc.Directories.Failed != 1 || doc.Directories.Done != 2 {
		t.Errorf("the run is %+v; want it done, with 2 directories done and 1 failed", doc)
	}
	if why := pgtest.Value[string](t, m.address, `SELECT string_agg(convert_from(path, 'UTF8') || ': ' || convert_from(reason, 'UTF8'), ', ') FROM ken.directory_failure`); !strings.HasPrefix(why, "a/b: ") {
		t.Errorf("the store keeps %q", why)
	}
	page := m.dashboard()
	board := decode[struct {
		Runs struct{ Known struct{ Runs []shared } }
	}](t, page("/api/board"))
	if list := board.Runs.Known.Runs; len(list) != 1 || list[0].ID != id || list[0].State != "done" {
		t.Errorf("the board has %+v", board)
	}
	await(t, "the dashboard has the run", func() bool { return strings.Contains(page("/"), fmt.Sprintf(`id="run-%d"`, id)) })
	if text := page("/"); !strings.Contains(text, "3 of 3, 1 refused") || !strings.Contains(text, `<progress max="3" value="3"`) {
		t.Errorf("the dashboard:\n%s", text)
	}
}

// Directories with the same content are summarized once, and the prompts of the directories above
// contain the final summaries: the run leaves nothing to do.
func TestWorkersShareSameContent(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	said := 0
	m := newTeam(t, pgtest.Database(t), func(turn modeltest.Turn) modeltest.Answer {
		mu.Lock()
		defer mu.Unlock()
		said++
		return submit(fmt.Sprintf("Words about %s, of the answer %d.", about(turn), said))
	})
	for i := range 6 {
		m.Write(fmt.Sprintf("p%d/lib/deep/x.go", i), "package deep\n")
		m.Write(fmt.Sprintf("p%d/lib/x.go", i), "package lib\n")
		m.Write(fmt.Sprintf("p%d/x.go", i), fmt.Sprintf("package p%d\n", i))
	}
	m.Commit("first")
	id := m.handOut()
	others := m.worker(m.bare(), m.address, "--jobs", "4", "--until-idle")
	m.worker(m.Dir, m.address, "--jobs", "4", "--until-idle").ends(t)
	others.ends(t)
	if doc := m.run(id); doc.State != "done" || doc.Calls != 9 || doc.Directories.Unasked != 10 {
		t.Errorf("the run is %+v; want it done with 9 calls and 10 directories that needed none", doc)
	}
	if o := m.ken("survey", "plan", "--provider", "anthropic", "--model", "m1"); o.stdout != "no directory needs a summary\n" {
		t.Errorf("ken survey plan: %+v; want no directory that needs a summary", o)
	}
}

// A worker with --until-idle reports directories without a summary when it exits.
func TestUntilIdleReportsIncompleteRuns(t *testing.T) {
	t.Parallel()
	m := newTeam(t, pgtest.Database(t), func(modeltest.Turn) modeltest.Answer { return modeltest.Answer{Text: "I would rather talk."} })
	m.Write("x.go", "package x\n")
	m.Commit("first")
	id := m.handOut()
	pgtest.Value[int](t, m.address, `UPDATE ken.survey_directory SET attempts = 4 RETURNING attempts`) // that have failed
	o := m.ken("worker", "--until-idle")
	if want := fmt.Sprintf("run %d ended incomplete: some directories failed too often\nhint: see the errors with: ken worker dead %[1]d\n", id); o.status != 3 || !strings.HasSuffix(o.stderr, want) {
		t.Errorf("%+v, want %q", o, want)
	}
	// A worker that starts later does not report them.
	if o := m.ken("worker", "--until-idle"); o.status != 0 {
		t.Errorf("ken worker failed: %+v", o)
	}
}

// A command that follows a run continues after a restart of the server.
func TestFollowAcrossServerRestart(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	m := newTeam(t, server.Database(t), describe)
	m.Write("a/x.go", "package a\n")
	m.Commit("first")
	follows := m.start(m.Dir, m.address, "survey", "run", "--workers", "--provider", "anthropic", "--model", "m1", "--json")
	await(t, "the run is started", func() bool { return strings.Contains(follows.said(), "started") })
	server.Crash(t)
	await(t, "it notices", func() bool { return strings.Contains(follows.said(), "waiting for the server") })
	server.Restart(t)
	m.worker(m.Dir, m.address, "--until-idle").ends(t)
	follows.ends(t)
	if !strings.Contains(follows.said(), `"state": "done"`) {
		t.Errorf("ken survey run printed %s; want the state done", follows.said())
	}
}

// The commands about runs concern only the current repository. With --all, they include others.
func TestRunsOfOthers(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	ours, theirs := newTeam(t, address, describe), newTeam(t, address, describe)
	for name, m := range map[string]*team{"ours": ours, "theirs": theirs} {
		m.Write("x.go", "package "+name+"\n")
		m.Commit("first of " + name)
	}
	// Reading creates no tables.
	if text := ours.dashboard()("/api/board"); !strings.Contains(text, `"worktrees"`) {
		t.Errorf("the board is: %s", text)
	}
	if n := pgtest.Value[*string](t, address, `SELECT to_regclass('ken.survey_version')::text`); n != nil {
		t.Errorf("the board created %s", *n)
	}
	mine, other := ours.handOut(), fmt.Sprint(theirs.handOut())
	if got := decode[struct{ Runs []shared }](t, ours.ken("worker", "runs", "--json").stdout).Runs; len(got) != 1 || got[0].ID != mine {
		t.Errorf("ken worker runs lists %+v; want only run %d", got, mine)
	}
	if got := decode[struct{ Runs []shared }](t, ours.ken("worker", "runs", "--all", "--json").stdout).Runs; len(got) != 2 {
		t.Errorf("ken worker runs --all lists %+v; want 2 runs", got)
	}
	pgtest.Exec(t, address, `UPDATE ken.survey_directory SET state = 'dead', error = 'no words'`)
	for _, args := range [][]string{{"runs", other}, {"cancel", other}, {"resume", other}, {"dead", other}, {"retry", other}} {
		if o := ours.ken(append([]string{"worker"}, args...)...); o.status != 2 || !strings.Contains(o.stderr, "in this repository") || !strings.Contains(o.stderr, "--all") {
			t.Errorf("ken worker %q for another repository: %+v; want a usage error that names --all", args, o)
		}
	}
	dead := func(args ...string) int {
		return len(decode[struct{ Dead []any }](t, ours.ken(append([]string{"worker", "dead", "--json"}, args...)...).stdout).Dead)
	}
	if dead() != 1 || dead("--all") != 2 || dead(other, "--all") != 1 {
		t.Errorf("%d dead, %d of all", dead(), dead("--all"))
	}
	if o := ours.ken("worker", "dead"); !strings.Contains(o.stdout, fmt.Sprintf("run %d", mine)) || !strings.Contains(o.stdout, "no words") {
		t.Errorf("ken worker dead: %+v; want run %d and its error", o, mine)
	}
	if o := ours.ken("worker", "retry"); o.status != 0 || o.stdout != "1 directory will be tried again\n" || dead() != 0 || dead("--all") != 1 {
		t.Errorf("ken worker retry: %+v; want 1 directory tried again", o)
	}
	if o := ours.ken("worker", "retry", "--all"); o.status != 0 || dead("--all") != 0 {
		t.Errorf("ken worker retry --all: %+v; want no dead directory left", o)
	}
	if o := ours.ken("worker", "cancel", other, "--all", "--json"); decode[shared](t, o.stdout).State != "cancelled" {
		t.Errorf("ken worker cancel --all: %+v; want the state cancelled", o)
	}
	// The price of this model is not known.
	if o := ours.ken("worker", "ceiling", "--max-cost", "5"); o.status != 0 || !strings.Contains(o.stdout, "ceiling $5") {
		t.Errorf("ken worker ceiling: %+v; want the ceiling $5", o)
	}
	o := ours.ken("survey", "run", "--workers", "--detach", "--provider", "anthropic", "--model", "m1")
	if o.status != 2 || !strings.Contains(o.stderr, "per day") || !strings.Contains(o.stderr, "survey.prices") {
		t.Errorf("ken survey run: %+v; want a usage error about the ceiling per day and survey.prices", o)
	}
	// 0 allows nothing, and none removes the limit.
	if o := ours.ken("worker", "ceiling", "--max-cost", "0"); o.status != 0 || !strings.Contains(o.stdout, "ceiling $0.0000") {
		t.Errorf("%+v; 0 should be the limit", o)
	}
	if o := ours.ken("worker", "ceiling", "--max-cost", "few"); o.status != 2 || !strings.Contains(o.stderr, "--max-cost few: expected a number") {
		t.Errorf("%+v; it should name the wrong value", o)
	}
	if o := ours.ken("worker", "ceiling", "--max-cost", "none"); o.status != 0 || !strings.Contains(o.stdout, "ceiling none") {
		t.Errorf("%+v; none should remove the limit", o)
	}
	// A run with a limit of 0 makes no call.
	o = ours.ken("survey", "run", "--workers", "--detach", "--provider", "anthropic", "--model", "m1", "--max-tokens", "0", "--json")
	if o.status != 0 || !strings.Contains(ours.ken("worker", "runs", "--json").stdout, `"max_tokens": 0`) {
		t.Errorf("%+v; the run should have a ceiling of 0 tokens", o)
	}
}

// dashboard starts one, and returns what gets its pages.
func (m *team) dashboard() func(path string) string {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), filepath.Join(bin, "ken"), "serve", "--json")
	cmd.Dir, cmd.Env = m.Dir, m.Env()
	m.at(m.address)(cmd)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var at struct{ Addr, URL string }
	if err := json.NewDecoder(out).Decode(&at); err != nil {
		m.t.Fatal(err)
	}
	_, token, _ := strings.Cut(at.URL, "#token=")
	return func(path string) string {
		m.t.Helper()
		req, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, "http://"+at.Addr+path, nil)
		if err != nil {
			m.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			m.t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			m.t.Fatal(err)
		}
		return string(text)
	}
}
