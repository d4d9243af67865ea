// Package e2e runs the built program like a user: one script per behaviour, each with its own repository.
package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// bin is the directory of the ken that was built for this run.
var bin string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ken-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	if err := os.Chmod(dir, 0o755); err != nil { // some tests run it as another user
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	build := exec.CommandContext(context.Background(), "go", "build", "-o", filepath.Join(dir, "ken"), "ken/cmd/ken")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build ken: %v\n%s", err, out)
		return 1
	}
	for _, tool := range []string{"git", "sqlite3", "strace", "curl", "jq", "shellcheck"} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Fprintf(os.Stderr, "%s is missing: run scripts/setup\n", tool)
			return 1
		}
	}
	return m.Run()
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"gitinit":  gitinit,
			"commit":   commit,
			"exits":    exits,
			"json":     jsonIs,
			"opens":    opens,
			"write":    write,
			"touchat":  touchAt,
			"let":      let,
			"postgres": postgres,
			"sql":      sql,
		},
	})
}

// setup gives a script its own home, so that it does not read the configuration of the machine.
func setup(e *testscript.Env) error {
	e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
	for k, v := range environ(filepath.Join(e.WorkDir, ".home")) {
		e.Setenv(k, v)
	}
	return os.MkdirAll(filepath.Join(e.WorkDir, ".home"), 0o755)
}

// environ returns the variables that make commits and their ids the same on every machine.
func environ(home string) map[string]string {
	return map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "XDG_STATE_HOME": filepath.Join(home, ".state"),
		"GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME":     "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
		"TZ": "UTC", "NO_COLOR": "1", "KEN_AUTHOR": "ada",
		// A busy machine must not change an answer.
		"KEN_HOOK_TIMEOUT": "10m", "KEN_STORE_TIMEOUT": "2m",
	}
}

// gitinit creates a repository and commits all files. It passes its arguments to git init.
func gitinit(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! gitinit")
	}
	must(ts, "git", append([]string{"init", "-q", "-b", "main"}, args...)...)
	ts.Check(os.WriteFile(ts.MkAbs(".git/info/exclude"), []byte(".home\n.tmp\n"), 0o644))
	commit(ts, false, []string{"first"})
}

// commit MESSAGE commits all files.
func commit(ts *testscript.TestScript, _ bool, args []string) {
	must(ts, "git", "add", "-A")
	must(ts, "git", "commit", "-q", "--allow-empty", "-m", strings.Join(args, " "))
}

func must(ts *testscript.TestScript, name string, args ...string) {
	if err := ts.Exec(name, args...); err != nil {
		ts.Fatalf("%s %s failed with %v", name, strings.Join(args, " "), err)
	}
}

// exits STATUS COMMAND… runs a command that must end with this status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s exited %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// json PATH VALUE checks that the last stdout is JSON in which PATH has VALUE. A
// path consists of names, [index], [name=value] and, for a list, length.
// VALUE is JSON text or a bare string.
func jsonIs(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc); err != nil {
		ts.Fatalf("stdout is no JSON: %v", err)
	}
	got, err := dig(doc, args[0])
	if err != nil {
		ts.Fatalf("stdout has no %s: %v", args[0], err)
	}
	text, err := json.Marshal(got)
	ts.Check(err)
	s, isString := got.(string)
	same := string(text) == args[1] || isString && s == args[1]
	if same == neg {
		ts.Fatalf("%s is %s; compared with %s, equal is %v", args[0], text, args[1], same)
	}
}

// let NAME PATH sets a variable to the text at PATH in the last stdout, which is JSON.
func let(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: let NAME PATH")
	}
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc); err != nil {
		ts.Fatalf("stdout is no JSON: %v", err)
	}
	got, err := dig(doc, args[1])
	ts.Check(err)
	text, ok := got.(string)
	if !ok {
		ts.Fatalf("%s is no text: %v", args[1], got)
	}
	ts.Setenv(args[0], text)
}

var step = regexp.MustCompile(`^(?:\[([^\]=]+)=([^\]]*)\]|\[(\d+)\]|\.?([A-Za-z0-9_]+))`)

func dig(doc any, path string) (any, error) {
	for path != "" {
		m := step.FindStringSubmatch(path)
		if m == nil {
			return nil, fmt.Errorf("cannot follow %q", path)
		}
		path = path[len(m[0]):]
		switch {
		case m[4] != "":
			if list, ok := doc.([]any); ok && m[4] == "length" {
				return float64(len(list)), nil
			}
			obj, ok := doc.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("no object to take %s of", m[4])
			}
			doc = obj[m[4]]
		case m[3] != "":
			list, _ := doc.([]any)
			i, _ := strconv.Atoi(m[3])
			if i >= len(list) {
				return nil, fmt.Errorf("only %d elements", len(list))
			}
			doc = list[i]
		default:
			found := false
			list, _ := doc.([]any)
			for _, e := range list {
				if obj, ok := e.(map[string]any); ok && fmt.Sprint(obj[m[1]]) == m[2] {
					doc, found = e, true
					break
				}
			}
			if !found {
				return nil, nil
			}
		}
	}
	return doc, nil
}

// opens [!] PATTERN COMMAND… runs a command under strace and checks that it opened a file
// whose name matches, or with ! that it opened none.
func opens(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] opens PATTERN COMMAND…")
	}
	log := filepath.Join(ts.Getenv("HOME"), "strace.log")
	must(ts, "strace", append([]string{"-f", "-y", "-qq", "-e", "trace=open,openat,openat2,execve", "-o", log}, args[1:]...)...)
	b, err := os.ReadFile(log)
	ts.Check(err)
	re := regexp.MustCompile(args[0])
	for line := range strings.Lines(string(b)) {
		if re.MatchString(line) && !strings.Contains(line, "ENOENT") {
			if neg {
				ts.Fatalf("it was opened: %s", line)
			}
			return
		}
	}
	if !neg {
		ts.Fatalf("nothing like %s was opened", args[0])
	}
}

// write FILE QUOTED writes a file whose name and content are Go strings, for bytes that a
// script cannot contain.
func write(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: write NAME CONTENT")
	}
	name, err := strconv.Unquote(`"` + args[0] + `"`)
	ts.Check(err)
	content, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	file := ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
	ts.Check(os.WriteFile(file, []byte(content), 0o644))
}

// touchat SECONDS FILE… sets modification times to this many seconds ago, so that
// no file is racy by accident.
func touchAt(ts *testscript.TestScript, _ bool, args []string) {
	ago, err := strconv.Atoi(args[0])
	ts.Check(err)
	at := time.Now().Add(-time.Duration(ago) * time.Second)
	for _, f := range args[1:] {
		ts.Check(os.Chtimes(ts.MkAbs(f), at, at))
	}
}
