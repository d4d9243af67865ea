//go:build unix

package e2e

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// If the git directory is read-only, ken serve shows the repository. Its token is valid until it
// exits, and it shows summaries that another process writes later.
func TestServeReadOnlyGitDirectory(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("first")
	state := t.TempDir()
	sandbox := asNobody("XDG_STATE_HOME=" + state)
	if os.Geteuid() == 0 { // git reads what is one's own
		err := filepath.WalkDir(r.Dir, func(name string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(name, nobody, nobody))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	closeOff(t, r.Dir, state)

	server := exec.CommandContext(t.Context(), filepath.Join(bin, "ken"), "serve", "--json")
	server.Dir, server.Env = r.Dir, r.Env()
	sandbox(server)
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	var said strings.Builder
	server.Stderr = &said
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
	var lines strings.Builder
	in := bufio.NewReader(out)
	for !strings.Contains(lines.String(), "}") {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("ken serve exited: %v\n%s%s", err, lines.String(), said.String())
		}
		lines.WriteString(line)
	}
	at := decode[struct {
		URL  string `json:"url"`
		Addr string `json:"addr"`
	}](t, lines.String())
	_, token, _ := strings.Cut(at.URL, "/#token=")
	board := func() string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at.Addr+"/api/board", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("the server answered %s, %v; want 200\n%s", resp.Status, err, b)
		}
		return string(b)
	}
	before := board()
	if o := ken(t, r, sandbox, "summary", "set", "a.go", "-m", "from inside"); o.status != 0 {
		t.Fatalf("ken summary set failed: %+v", o)
	}
	if after := board(); after == before || !strings.Contains(after, `"fresh": 1`) {
		t.Errorf("the page does not show the new summary:\n%s", after)
	}
}
