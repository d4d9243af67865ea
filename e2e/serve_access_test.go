//go:build unix

package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ken/internal/testrepo"
)

// Another user of the machine can connect to the dashboard, but reads neither the token
// nor anything of the repository.
func TestServeForAnotherUser(t *testing.T) {
	r := testrepo.New(t)
	r.Write("plan.go", "package plan\n\nfunc Confidential() {}\n")
	r.Commit("first")
	mustKen(t, r, "summary", "set", "plan.go", "-m", "Confidential plans.")
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
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	})
	var said struct{ URL, Addr string }
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(said.URL)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.TrimPrefix(at.Fragment, "token=")
	name := strings.TrimSuffix(at.Hostname(), ".localhost")

	// stranger runs a program as another user, if the test may.
	stranger := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = "/"
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		answer, _ := cmd.CombinedOutput() // cat fails, as it should
		return string(answer)
	}
	file := r.Path(".git/ken/serve.token")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the token file has mode %v, %v; want 0600", info.Mode(), err)
	}
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(stored))
	if os.Geteuid() == 0 {
		for d := r.Dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
			chmod(t, d, 0o755)
		}
		if got := stranger("cat", r.Path("plan.go")); !strings.Contains(got, "Confidential") {
			t.Fatalf("the other user cannot reach the directory, so this test proves nothing: %s", got)
		}
		if got := stranger("cat", file); strings.Contains(got, token) {
			t.Errorf("another user reads the token: %s", got)
		}
	}
	for _, path := range []string{
		"/", "/file?path=plan.go", "/map", "/files", "/review", "/documents", "/specs", "/state", "/worktrees", "/events",
		"/api/board", "/api/summary?path=plan.go", "/api/survey", "/mcp",
	} {
		for _, accept := range []string{"text/html", "application/json"} {
			got := stranger("curl", "-sS", "-L", "--max-time", "20", "-H", "Accept: "+accept, "http://"+said.Addr+path)
			isTold := func(secret string) bool { return strings.Contains(got, secret) }
			if slices.ContainsFunc([]string{"onfidential", token, key, name}, isTold) {
				t.Errorf("another user reads %s as %s:\n%s", path, accept, got)
			}
			if !strings.Contains(got, "token") {
				t.Errorf("the answer to another user who asks for %s does not say that it needs the token:\n%s", path, got)
			}
		}
	}
	for what, bearer := range map[string]string{"the token": token, "the key in the address": key} {
		got := stranger("curl", "-sS", "--max-time", "20", "-H", "Authorization: Bearer "+bearer, "http://"+said.Addr+"/api/summary?path=plan.go")
		if !strings.Contains(got, "Confidential plans.") {
			t.Errorf("with %s the answer is: %s", what, got)
		}
	}
}
