package testrepo

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Env is [Repo.Env] for a child process that has no repository.
func Env(tb testing.TB, extra ...string) []string {
	tb.Helper()
	return append(isolated(newHome(tb)), extra...)
}

// Isolate gives the test process itself such an environment, for packages that
// start git with the inherited environment. It returns a function that undoes it:
//
//	func TestMain(m *testing.M) {
//		defer testrepo.Isolate()()
//		m.Run()
//	}
//
// It panics if it cannot create a home, because the test would otherwise read the
// configuration of the developer.
func Isolate() func() {
	home, err := os.MkdirTemp("", "ken-home-")
	if err == nil {
		err = furnish(home)
	}
	if err != nil {
		panic(err)
	}
	before := os.Environ()
	setAll(isolated(home))
	return func() {
		setAll(before)
		_ = os.RemoveAll(home) // if it fails, an empty home stays in the temporary directory
	}
}

func setAll(env []string) {
	os.Clearenv()
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		_ = os.Setenv(name, value) // a name that came from the environment is a valid one
	}
}

// sessions are the environment variables in which agents name their session. Tests remove them, so that commits in tests
// have no session even if an agent runs the tests. A test compares this list with ken's own.
var sessions = []string{
	"CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_REMOTE_SESSION_ID", "CLAUDE_SESSION_ID", "CODEX_THREAD_ID",
	"CURSOR_CONVERSATION_ID", "COPILOT_AGENT_SESSION_ID", "GEMINI_SESSION_ID", "AMP_CURRENT_THREAD_ID",
	"OPENCODE_SESSION_ID", "AGENT_SESSION_ID",
}

// Environ returns the environment of the process without variables that configure git or ken,
// locate their settings, or name a session.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "KEN_") {
			return true
		}
		switch name {
		case "HOME", "USERPROFILE", "LANG", "LC_ALL", "LANGUAGE", "TZ", "EDITOR", "VISUAL", "PAGER", "NO_COLOR", "EMAIL":
			return true
		}
		return slices.Contains(sessions, name)
	})
}

// isolated is [Environ] with a home of its own. Where Go keeps its caches is spelled
// out, since it would follow HOME otherwise and build everything again.
func isolated(home string) []string {
	return append(
		Environ(),
		"HOME="+home,
		"USERPROFILE="+home,
		"LC_ALL=C",
		"TZ=UTC",
		"KEN_HOOK_TIMEOUT=10m", // a busy machine must not change an answer
		"KEN_STORE_TIMEOUT=2m",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"),
		"GIT_TERMINAL_PROMPT=0",
		"GOCACHE="+goCache(),
		"GOPATH="+build.Default.GOPATH,
	)
}

func goCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "off"
	}
	return filepath.Join(dir, "go-build")
}

const gitconfig = `[user]
	name = Ada Example
	email = ada@example.com
[init]
	defaultBranch = main
[core]
	autocrlf = false
	editor = true
[commit]
	gpgSign = false
[gc]
	auto = 0
[maintenance]
	auto = false
[protocol "file"]
	allow = always
`

func newHome(tb testing.TB) string {
	tb.Helper()
	home := tempDir(tb)
	if err := furnish(home); err != nil {
		tb.Fatal(err)
	}
	return home
}

// furnish writes a real file rather than naming the null device, which
// `git config --global` would try to replace.
func furnish(home string) error {
	return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitconfig), 0o644)
}

// tempDir is t.TempDir with its symbolic links resolved, as git reports it.
func tempDir(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}
