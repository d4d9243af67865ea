//go:build unix

package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"ken/internal/testrepo"
)

// calls listens on a local port and counts the connections.
func calls(t *testing.T) (address string, count func() int64) {
	t.Helper()
	var n atomic.Int64
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed when the test ends
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			c.Close()
		}
	}()
	return l.Addr().String(), n.Load
}

// Like git, every command of ken refuses a repository of another user, even if its store and
// caches are filled.
func TestRepositoryOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a program as another user")
	}
	address, came := calls(t)
	r := testrepo.New(t)
	r.Write("a.go", "// Package a is planted text.\npackage a\n")
	r.Write(".ken/config.yaml", "store: postgres://u@"+address+"/d?sslmode=disable\nsurvey: {provider: openai, model: m, base_url: 'http://"+address+"/v1'}\n")
	r.Write(".spec/spec.md", "---\ntitle: A\ndesc: planted text\ncode: ['*.go']\n---\n")
	r.Commit("first")
	// The store and the caches are filled, so that no command has to ask git.
	for _, args := range [][]string{{"up", "--provider", "outline"}, {"spec", "ls"}, {"docs"}, {"status"}} {
		mustKen(t, r, args...)
	}
	before := came()
	home := t.TempDir()
	closeOff(t, r.Dir, home)
	victim := func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Env = append(cmd.Env, "HOME="+home, "XDG_STATE_HOME="+home, "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"),
			"PGPASSWORD=secret", "OPENAI_API_KEY=secret")
	}
	list := [][]string{
		{"status"},
		{"verify"},
		{"brief"},
		{"docs"},
		{"spec", "ls"},
		{"doctor"},
		{"up"},
		{"survey", "run"},
		{"summary", "show", "a.go"},
		{"share", "status"},
		{"worker", "runs"},
		{"worker", "--until-idle"},
		{"state", "audit"},
		{"install", "git", "--dry-run"},
		{"serve", "--addr", "127.0.0.1:0"},
		{"install", "claude", "--dry-run"},
	}
	for _, args := range list {
		o := ken(t, r, victim, args...)
		if o.status != 1 || !strings.Contains(o.stderr, "belongs to another user") || !strings.Contains(o.stderr, "hint: if you trust it: git config --global --add safe.directory "+r.Dir) {
			t.Errorf("ken %q: want exit 1 and a hint with safe.directory: %+v", args, o)
		}
		if strings.Contains(o.stdout, "planted") {
			t.Errorf("ken %q shows the text of another user's repository: %s", args, o.stdout)
		}
	}
	// Hooks and tools tell an agent nothing about it.
	hook := func(cmd *exec.Cmd) {
		victim(cmd)
		cmd.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"SessionStart","cwd":"` + r.Dir + `"}`)
	}
	if o := ken(t, r, hook, "hook", "session-start"); strings.Contains(o.stdout, "planted") || o.stdout != "" {
		t.Errorf("the hook tells the agent: %+v", o)
	}
	tool := func(cmd *exec.Cmd) {
		victim(cmd)
		cmd.Dir = home
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"by hand","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"brief","arguments":{"root":"` + r.Dir + `"}}}
`)
	}
	if o := ken(t, r, tool, "mcp"); strings.Contains(o.stdout, "planted") || !strings.Contains(o.stdout, "belongs to another user") {
		t.Errorf("the tool answers about another user's repository: %+v", o)
	}
	if n := came() - before; n != 0 {
		t.Errorf("the address that another user's repository names was contacted %d times", n)
	}

	// The user can declare the repository safe.
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[safe]\n\tdirectory = "+r.Dir+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if o := ken(t, r, victim, "spec", "show", "root"); o.status != 0 || !strings.Contains(o.stdout, "planted") {
		t.Errorf("a repository that the user declared safe: %+v", o)
	}
}
