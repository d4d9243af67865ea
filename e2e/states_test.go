package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/testrepo"
)

// A fileState is a state of the file pkg/app.py, which has a summary, a governing spec and a user, with what each
// command says about it.
type fileState struct {
	name string
	make func(r *testrepo.Repo) *testrepo.Repo
	path string // pkg/app.py if ""
	// want has a pattern by command; "" wants an answer without the path.
	want map[string]string
}

const stateFile = "pkg/app.py"

// comparing are the commands that compare with the last check. After one was recorded, they compare with the new content.
var comparing = []string{"status", "json", "mcp"}

var fileStates = []fileState{
	{name: "clean", make: func(r *testrepo.Repo) *testrepo.Repo { return r }, want: map[string]string{
		"status": `1 fresh, 0 stale`, "json": `^match fresh$`, "show": `^fresh +pkg/app.py`, "ls": `^fresh +pkg/app.py`,
		"brief": `^\[fresh\] pkg/app.py`, "uses": `used by 1 file`, "review": `nothing to do`, "survey": `^outline +pkg`,
		"spec": `^merged +p +v1$`, "mcp": `"match" "fresh"`, "mcp brief": `\[fresh\] pkg/app.py`, "resource": `verdict: fresh`, "page": `> fresh<`,
		"user": `used by 1 file\n +pkg/app.py:5`, "home": `^Nothing needs attention`, "docs": `^0 stale mentions`,
		"owner": `^governs +pkg/app.py +p`, "mcp spec": `^governs +pkg/app.py +p`, "board": `fresh:1 .*none:5`,
	}},
	{name: "edited", make: func(r *testrepo.Repo) *testrepo.Repo {
		r.Write(stateFile, r.Read(stateFile)+"y = 2\n")
		return r
	}, want: map[string]string{
		"status": `^stale +pkg/app.py`, "json": `^mismatch stale$`, "show": `^stale +pkg/app.py`, "ls": `^stale +pkg/app.py`,
		"brief": `^\[stale: .*\] pkg/app.py`, "uses": `used by 1 file`, "review": `^stale +pkg/app.py`, "survey": `^outline +pkg`,
		"mcp": `"mismatch" "stale"`, "mcp brief": `\[stale: .*\] pkg/app.py`, "resource": `verdict: stale`, "page": `> stale`,
		"user": `used by 1 file\n +pkg/app.py:5`, "home": `^stale +pkg/app.py`, "spec": `^merged +p +v1$`,
		"docs": `^0 stale mentions`, "owner": `^governs +pkg/app.py +p`, "mcp spec": `^governs +pkg/app.py +p`,
		"board": `stale:1`,
	}},
	{name: "staged edit", make: func(r *testrepo.Repo) *testrepo.Repo {
		r.Write(stateFile, r.Read(stateFile)+"y = 2\n")
		r.Git("add", stateFile)
		return r
	}, want: map[string]string{
		"status": `^stale +pkg/app.py`, "json": `^mismatch stale$`, "show": `^stale +pkg/app.py`, "ls": `^stale +pkg/app.py`,
		"brief": `^\[stale: .*\] pkg/app.py`, "uses": `used by 1 file`, "review": `^stale +pkg/app.py`,
		"mcp": `"mismatch" "stale"`, "resource": `verdict: stale`, "page": `> stale`,
		"user": `used by 1 file\n +pkg/app.py:5`, "home": `^stale +pkg/app.py`, "spec": `^merged +p +v1$`,
		"survey": `^outline +pkg`, "mcp brief": `\[stale: .*\] pkg/app.py`, "docs": `^0 stale mentions`,
		"owner": `^governs +pkg/app.py +p`, "mcp spec": `^governs +pkg/app.py +p`, "board": `stale:1`,
	}},
	{name: "untracked", path: "pkg/new.py", make: func(r *testrepo.Repo) *testrepo.Repo {
		r.Write("pkg/new.py", "n = 1\n")
		return r
	}, want: map[string]string{
		"status": `not tracked: pkg/new.py`, "show": `^none +pkg/new.py  not tracked`, "ls": "", "brief": `pkg/new.py is untracked`,
		"uses": `pkg/new.py is untracked`, "mcp brief": `is untracked`, "resource": `verdict: none`, "page": `not a tracked file`,
		"user": `used by 1 file\n +pkg/app.py:5`, "home": ``, "spec": `^merged +p +v1$`, "survey": `^outline +pkg`,
		"review": `1 file changed since HEAD .*nothing to do`, "docs": `^0 stale mentions`, "owner": `^none +pkg/new.py`,
		"mcp spec": `^none +pkg/new.py`, "board": `fresh:1`,
	}},
	{name: "deleted on disk", make: func(r *testrepo.Repo) *testrepo.Repo {
		r.Remove(stateFile)
		return r
	}, want: map[string]string{
		"status": `^gone +pkg/app.py +deleted on disk`, "json": `^missing gone$`, "show": `^gone +pkg/app.py +deleted on disk`, "ls": `^gone +pkg/app.py`,
		"brief": `^\[gone\] pkg/app.py: .*(?s:.*)used by 1 file: main.py(?s:.*)deleted on disk`, "uses": `used by 1 file(?s:.*)deleted on disk`,
		"review": `main.py:2 +still uses run`, "survey": `pkg  nothing in it`, "spec": `^merged +p +v1$`, "mcp": `"missing" "gone"`,
		"mcp brief": `\[gone\] pkg/app.py`, "resource": `verdict: gone`, "page": `> gone`, "home": `^gone +pkg/app.py  deleted on disk`,
		"user": `found no use`, "docs": `pkg/app.py — gone, not committed yet`, "owner": `^governs +pkg/app.py +p`,
		"mcp spec": `^governs +pkg/app.py +p`, "board": `gone:1 .*missing:1`,
	}},
	{name: "staged deletion", make: func(r *testrepo.Repo) *testrepo.Repo {
		r.Git("rm", "-q", stateFile)
		return r
	}, want: map[string]string{
		"status": `gone +pkg/app.py +no longer tracked`, "json": `^missing gone$`, "show": `^gone +pkg/app.py +no longer tracked`, "ls": ``,
		"brief": `pkg/app.py is gone: no longer tracked`, "uses": `pkg/app.py is gone: no longer tracked`, "review": `main.py:2 +still uses run`,
		"spec": `^merged +p +v1 +not tracked: pkg/app.py$`, "mcp brief": `pkg/app.py is gone: no longer tracked`, "resource": `verdict: gone`, "page": `gone: no longer tracked`,
		"user": `found no use`, "survey": `nothing in it`, "home": `^gone +README.md:3 +mentions pkg/app.py`,
		"docs": `pkg/app.py — gone, not committed yet`, "owner": `^governs +pkg/app.py +p`,
		"mcp spec": `^governs +pkg/app.py +p`, "board": `files:5 fresh:0`,
	}},
	{name: "rm --cached", make: func(r *testrepo.Repo) *testrepo.Repo {
		r.Git("rm", "-q", "--cached", stateFile)
		return r
	}, want: map[string]string{
		"status": `gone +pkg/app.py +no longer tracked`, "json": `^missing gone$`, "show": `^gone +pkg/app.py +no longer tracked`, "ls": ``,
		"brief": `pkg/app.py is gone: no longer tracked`, "uses": `pkg/app.py is gone: no longer tracked`, "spec": `^merged +p +v1 +not tracked: pkg/app.py$`,
		"review": `broken +main.py:2 .*pkg/app.py, which this change removes`, "mcp brief": `pkg/app.py is gone: no longer tracked`, "resource": `verdict: gone`, "page": `gone: no longer tracked`,
		"user": `found no use`, "survey": `nothing in it`,
		"home": `^broken +p +it governs files that do not exist: pkg/app.py`, "docs": `^0 stale mentions`,
		"owner": `^governs +pkg/app.py +p`, "mcp spec": `^governs +pkg/app.py +p`, "board": `files:5 fresh:0`,
	}},
	{name: "unmerged", make: func(r *testrepo.Repo) *testrepo.Repo {
		r.Git("checkout", "-q", "-b", "other")
		r.Write(stateFile, r.Read(stateFile)+"y = 2\n")
		r.Commit("other")
		r.Git("checkout", "-q", "main")
		r.Write(stateFile, r.Read(stateFile)+"y = 3\n")
		r.Commit("mine")
		_, _ = r.Try("merge", "-q", "other")
		return r
	}, want: map[string]string{
		"status": `^unknown +pkg/app.py +merge conflict`, "json": `^conflicted unknown$`, "show": `^unknown +pkg/app.py +merge conflict`,
		"brief": `^\[unknown\] pkg/app.py: merge conflict`, "uses": `users unknown: .*merge conflict`, "review": `^unknown +pkg/app.py with a merge conflict`,
		"survey": `^unknown +pkg +app.py: merge conflict`, "mcp": `"conflicted" "unknown"`, "mcp brief": `\[unknown\] pkg/app.py`,
		"resource": `verdict: unknown`, "page": `> unknown`, "home": `^unknown +pkg/app.py +merge conflict`, "user": `not read: pkg/app.py: merge conflict`,
		"ls": `^unknown +pkg/app.py`, "spec": `^drift +p +v1`, "docs": `^0 stale mentions`,
		"owner": `^governs +pkg/app.py +p`, "mcp spec": `^governs +pkg/app.py +p`, "board": `conflicted:1 .*fresh:0`,
	}},
	{name: "intent to add", path: "pkg/new.py", make: func(r *testrepo.Repo) *testrepo.Repo {
		r.Write("pkg/new.py", "n = 1\n")
		r.Git("add", "-N", "pkg/new.py")
		return r
	}, want: map[string]string{
		"status": `^new +pkg/new.py`, "json": `^new none$`, "show": `^none +pkg/new.py$`, "ls": "", "brief": `^\[none\] pkg/new.py|^pkg/new.py`,
		"uses": `ken found no use of it`, "mcp": `"new" "none"`, "resource": `verdict: none`, "page": `no summary`,
		"user": `used by 1 file\n +pkg/app.py:5`, "review": `1 file changed since HEAD`, "survey": `^outline +pkg`,
		"spec": `^merged +p +v1$`, "mcp brief": `\[none\] pkg/new.py`, "home": ``, "docs": `^0 stale mentions`,
		"owner": `^none +pkg/new.py`, "mcp spec": `^none +pkg/new.py`, "board": `fresh:1 .*none:6`,
	}},
	{name: "sparse", make: func(r *testrepo.Repo) *testrepo.Repo {
		r.Git("sparse-checkout", "set", "--no-cone", "/*", "!pkg/")
		return r
	}, want: map[string]string{
		"status": `1 fresh, 0 stale \(1 not checked out\)`, "json": `^sparse fresh$`, "show": `^fresh +pkg/app.py`, "ls": `^fresh +pkg/app.py`,
		"brief": `^\[fresh\] pkg/app.py`, "uses": `used by 1 file`, "review": `nothing to do`, "spec": `^merged +p +v1$`, "mcp": `"sparse" "fresh"`,
		"mcp brief": `\[fresh\] pkg/app.py`, "resource": `verdict: fresh`, "page": `> fresh<`, "user": `used by 1 file`,
		"survey": `^outline +pkg`, "home": `^Nothing needs attention`, "docs": `^0 stale mentions`,
		"owner": `^governs +pkg/app.py +p`, "mcp spec": `^governs +pkg/app.py +p`, "board": `fresh:1 .*sparse:2`,
	}},
	{name: "content that git lacks", make: lackContents, want: map[string]string{
		"status": `^unknown +pkg/app.py +not checked out, and git lacks the content`, "json": `^sparse unknown$`,
		"show": `^unknown +pkg/app.py +not checked out, and git lacks the content`, "brief": `^\[unknown\] pkg/app.py: .*git lacks the content`,
		"uses": `users unknown: .*git lacks the content`, "survey": `git lacks`, "spec": `^unknown .*git lacks`, "review": `nothing to do|unknown`,
		"mcp": `"sparse" "unknown"`, "mcp brief": `\[unknown\] pkg/app.py`, "resource": `verdict: unknown`, "page": `> unknown`,
		"user": `not read: 2 files \(.*\): git lacks the content`,
		"ls":   ``, "home": `^unknown +spec p +drift: git lacks the content`, "docs": `^0 stale mentions`,
		"owner":    `^unknown +pkg/app.py +p +git lacks the content`,
		"mcp spec": `^unknown +pkg/app.py +p +git lacks the content`, "board": `fresh:0 .*sparse:3`,
	}},
	{name: "typechange", make: func(r *testrepo.Repo) *testrepo.Repo {
		r.Remove(stateFile)
		r.Symlink("../lib.py", stateFile)
		return r
	}, want: map[string]string{
		"status": `pkg/app.py .*excluded: symlink`, "json": `^mismatch excluded$`, "show": `^excluded +pkg/app.py +symlink`, "ls": ``,
		"uses": `users unknown: .*symlink`, "mcp": `"mismatch" "excluded"`, "resource": `verdict: excluded`, "page": `> excluded`,
		"brief": `^\[unknown\] pkg/app.py: a symbolic link`, "mcp brief": `\[unknown\] pkg/app.py: a symbolic link`,
		"user": `found no use`, "review": `pkg/app.py`, "survey": `nothing in it`, "spec": `^merged +p +v1$`, "home": ``,
		"docs": `^0 stale mentions`, "owner": `^governs +pkg/app.py +p`, "mcp spec": `^governs +pkg/app.py +p`,
		"board": `excluded:1`,
	}},
}

// lackContents returns a sparse partial clone without the content of the file, whose origin cannot be reached.
func lackContents(r *testrepo.Repo) *testrepo.Repo {
	r.Git("config", "uploadpack.allowFilter", "true")
	clone := r.Clone("--no-local", "--filter=blob:none", "--sparse")
	clone.Git("remote", "set-url", "origin", "file:///nowhere")
	return clone
}

// One state of a file has one word, in every command that speaks about the file, before and after a check is recorded.
func TestOneStateOneWord(t *testing.T) {
	t.Parallel()
	for _, s := range fileStates {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := testrepo.New(t)
			r.Write("lib.py", "def helper():\n    pass\n")
			r.Write(stateFile, "from lib import helper\n\n\ndef run():\n    helper()\n\n\nx = 1\n")
			r.Write("main.py", "from pkg.app import run\nrun()\n")
			r.Write("pkg/other.py", "z = 1\n")
			r.Write(".spec/p/spec.md", "---\ncode: [pkg/app.py]\n---\nThe app.\n")
			r.Write("README.md", "# Shop\n\nSee `pkg/app.py`.\n")
			r.Commit("one")
			mustKen(t, r, "verify")
			mustKen(t, r, "summary", "set", stateFile, "-m", "Runs the app.")
			mustKen(t, r, "find", "helper")
			s.want = maps.Clone(s.want)
			r = s.make(r)
			if s.path == "" {
				s.path = stateFile
			}
			s.check(t, r, "before a check")
			ken(t, r, nil, "verify")
			for _, command := range comparing {
				delete(s.want, command)
			}
			s.check(t, r, "after a check")
		})
	}
}

func (s *fileState) check(t *testing.T, r *testrepo.Repo, when string) {
	t.Helper()
	if _, ok := s.want["json"]; ok {
		var doc struct {
			Verdicts []struct{ Path, Verdict, Summary string }
		}
		got := ken(t, r, nil, "status", "--json", "--all")
		if err := json.Unmarshal([]byte(got.stdout), &doc); err != nil {
			t.Fatal(err)
		}
		words := ""
		for _, v := range doc.Verdicts {
			if v.Path == s.path {
				words = v.Verdict + " " + v.Summary
			}
		}
		s.expect(t, when, "json", words)
	}
	a := connect(t, r)
	if _, ok := s.want["mcp"]; ok {
		var doc struct {
			Verdicts []struct{ Path, Verdict, Summary string }
		}
		a.call("file_registry_verify", map[string]any{"paths": []string{s.path}, "dry": true, "all": true}, &doc)
		words := ""
		for _, v := range doc.Verdicts {
			words += fmt.Sprintf("%q %q\n", v.Verdict, v.Summary)
		}
		s.expect(t, when, "mcp", words)
	}
	// Status is first: the others record a check, and the next status says what changed since.
	asks := []struct {
		command string
		args    []string
	}{
		{"status", []string{"status", s.path}},
		{"home", nil},
		{"show", []string{"summary", "show", s.path}},
		{"ls", []string{"summary", "ls"}},
		{"brief", []string{"brief", s.path}},
		{"uses", []string{"uses", s.path}},
		{"user", []string{"uses", "lib.py#helper"}},
		{"review", []string{"review"}},
		{"survey", []string{"survey", "show", "pkg"}},
		{"spec", []string{"spec", "ls"}},
		{"docs", []string{"docs"}},
		{"owner", []string{"spec", "owner", s.path}},
	}
	for _, ask := range asks {
		var stderr strings.Builder
		got := ken(t, r, func(cmd *exec.Cmd) { cmd.Stderr = &stderr }, ask.args...)
		said := got.stdout + stderr.String()
		s.expect(t, when, ask.command, said)
		if strings.Contains(said, "fatal:") {
			t.Errorf("%s, %s: ken %s passes on an error of git: %s", s.name, when, strings.Join(ask.args, " "), said)
		}
		s.runPrinted(t, r, said)
	}
	res, err := a.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "brief", Arguments: map[string]any{"paths": []string{s.path}}})
	if err != nil {
		t.Fatal(err)
	}
	s.expect(t, when, "mcp brief", strings.ReplaceAll(textOf(res), `"`, ""))
	s.expect(t, when, "resource", a.resource("ken://summary/"+s.path))
	res, err = a.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "spec", Arguments: map[string]any{"paths": []string{s.path}}})
	if err != nil {
		t.Fatal(err)
	}
	s.expect(t, when, "mcp spec", strings.ReplaceAll(textOf(res), `"`, ""))
	d := openDashboard(t, r)
	s.expect(t, when, "page", d.get(t, "/file?path="+url.QueryEscape(s.path), `class="ghost"`))
	s.expect(t, when, "board", boardCounts(t, d.get(t, "/api/board", `"counts": null`)))
}

// boardCounts returns the files of the document of the dashboard, by verdict of their summary.
func boardCounts(t *testing.T, document string) string {
	t.Helper()
	var doc struct {
		Worktrees []struct {
			Files struct {
				Known struct{ Counts map[string]int }
			}
		}
	}
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	return fmt.Sprint(doc.Worktrees[0].Files.Known.Counts)
}

// expect checks that an answer matches what the state wants of a command.
func (s *fileState) expect(t *testing.T, when, command, got string) {
	t.Helper()
	want, ok := s.want[command]
	switch {
	case !ok && !slices.Contains(comparing, command):
		t.Errorf("%s, %s: the table does not say what %s answers: %s", s.name, when, command, got)
	case !ok:
	case want == "" && strings.Contains(got, s.path):
		t.Errorf("%s, %s, %s: %s\nwant nothing about %s", s.name, when, command, got, s.path)
	case want != "" && !regexp.MustCompile(`(?m)`+want).MatchString(got):
		t.Errorf("%s, %s, %s: %s\nwant %s", s.name, when, command, got, want)
	}
}

var printedCommand = regexp.MustCompile(`(?m)(?:→ |run: |hint: (?:[^:\n]*: )?|  )((?:ken|git) (?:summary diff|diff|add|uses|brief|status) [^\n]*)$`)

// runPrinted runs the commands about the file that an answer prints.
func (s *fileState) runPrinted(t *testing.T, r *testrepo.Repo, answer string) {
	t.Helper()
	for _, m := range printedCommand.FindAllStringSubmatch(answer, -1) {
		if !strings.Contains(m[1], s.path) || strings.Contains(m[1], "git add") {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", m[1])
		cmd.Dir, cmd.Env = r.Dir, append(r.Env(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: the printed command %q fails with %v: %s", s.name, m[1], err, out)
		}
	}
	if s.name == "unmerged" && strings.Contains(answer, "git add") {
		t.Errorf("%s: git add would resolve the conflict: %s", s.name, answer)
	}
}

// A dashboard is a running ken serve.
type dashboard struct {
	client *http.Client
	addr   string
	at     *url.URL
	token  string
}

// openDashboard starts a dashboard, which the end of the test stops.
func openDashboard(t *testing.T, r *testrepo.Repo) *dashboard {
	t.Helper()
	server := exec.CommandContext(t.Context(), filepath.Join(bin, "ken"), "serve", "--json")
	server.Dir, server.Env = r.Dir, r.Env()
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Wait() })
	var said struct{ URL, Addr string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&said); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(said.URL)
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	return &dashboard{&http.Client{Jar: jar}, said.Addr, at, strings.TrimPrefix(at.Fragment, "token=")}
}

// get returns a page. It asks again while the page has the text of a part that is not read yet.
func (d *dashboard) get(t *testing.T, path, notReady string) string {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = d.at.Host
		req.Header.Set("Authorization", "Bearer "+d.token)
		res, err := d.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(body), notReady) || time.Now().After(deadline) {
			return string(body)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
