package e2e

import (
	"bytes"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A httpRemote serves a repository with git's own HTTP backend.
type httpRemote struct {
	*httptest.Server
	refuse bool          // asks for a password
	stall  chan struct{} // answers only when it is closed; nil: at once
}

func serveGit(t *testing.T, root string) *httpRemote {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + root},
	}
	r := new(httpRemote)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.stall != nil {
			select {
			case <-r.stall:
			case <-req.Context().Done():
			}
			return
		}
		if r.refuse {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

// ken share works over HTTP. If the server asks for a password or stalls, the command fails
// with a clear error and does not wait forever.
func TestShareOverHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := os.Environ()
	for k, v := range environ(filepath.Join(dir, "home")) {
		env = append(env, k+"="+v)
	}
	run := func(at string, status int, args ...string) string {
		t.Helper()
		if args[0] == "ken" {
			args[0] = filepath.Join(bin, "ken")
		}
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = filepath.Join(dir, at), env
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
			t.Fatalf("%s: %v, want status %d\n%s", strings.Join(args, " "), err, status, &out)
		}
		return out.String()
	}
	run("", 0, "git", "init", "-q", "--bare", "-b", "main", "remote.git")
	run("", 0, "git", "-C", "remote.git", "config", "http.receivepack", "true")
	server := serveGit(t, dir)
	for _, name := range []string{"ada", "bob"} {
		run("", 0, "git", "clone", "-q", server.URL+"/remote.git", name)
		if name == "ada" {
			if err := os.WriteFile(filepath.Join(dir, name, "a.go"), []byte("package a\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			run(name, 0, "git", "add", "-A")
			run(name, 0, "git", "commit", "-q", "-m", "first")
			run(name, 0, "git", "push", "-q", "origin", "HEAD")
		}
	}
	want := func(got, what string) {
		t.Helper()
		if !strings.Contains(got, what) {
			t.Errorf("%q is not in\n%s", what, got)
		}
	}
	run("ada", 0, "ken", "summary", "set", "a.go", "-m", "Nothing yet.")
	want(run("ada", 0, "ken", "share", "push"), "1 record")
	want(run("bob", 0, "ken", "share", "pull"), "1 record")
	want(run("bob", 0, "ken", "status"), "1 fresh")
	run("bob", 0, "ken", "survey", "run")
	want(run("bob", 0, "ken", "share", "push"), "1 record")
	want(run("ada", 0, "ken", "share", "pull"), "1 record")
	want(run("ada", 0, "ken", "survey", "plan"), "outline     .")

	run("ada", 0, "ken", "summary", "set", "a.go", "-m", "Still nothing.")
	server.refuse = true
	said := run("ada", 1, "ken", "share", "push")
	want(said, "could not read Username")
	want(said, "hint: check the remote: git ls-remote origin")
	server.refuse = false
	server.stall = make(chan struct{})
	env = append(env, "KEN_GIT_TIMEOUT=2s")
	want(run("ada", 1, "ken", "share", "push"), "no answer within 2s")
	want(run("ada", 1, "ken", "share", "pull"), "no answer within 2s")
	env = append(env, "KEN_GIT_TIMEOUT=") // the last one counts
	close(server.stall)
	server.stall = nil
	want(run("ada", 0, "ken", "share", "push"), "1 record")
}
