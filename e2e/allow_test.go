//go:build unix

package e2e

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ken/internal/testrepo"
)

// A thief is a server that only the repository names. It records everything that ken sends.
type thief struct {
	mu   sync.Mutex
	told []string
}

func (s *thief) heard(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, text)
}

// take returns what the server received since the last call.
func (s *thief) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.Join(s.told, "\n")
	s.told = nil
	return text
}

// postgres speaks enough of the protocol to ask each client for a password in clear text.
func (s *thief) postgres(t *testing.T, network, address string) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address) //nolint:noctx // it is closed when the test ends
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
			s.heard("a connection")
			go func() {
				defer c.Close()
				if _, err := message(c, 0); err != nil {
					return
				}
				if _, err := c.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 3}); err != nil { // a password, please
					return
				}
				text, err := message(c, 1)
				if err == nil {
					s.heard(text)
				}
			}()
		}
	}()
	return l.Addr()
}

// message reads a message of the protocol after the bytes of its type.
func message(r io.Reader, kind int) (string, error) {
	head := make([]byte, kind+4)
	if _, err := io.ReadFull(r, head); err != nil {
		return "", err
	}
	body := make([]byte, max(0, int(binary.BigEndian.Uint32(head[kind:]))-4))
	_, err := io.ReadFull(r, body)
	return string(body), err
}

// models accepts every request as a request to a model.
func (s *thief) models(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.heard(fmt.Sprint(r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), " ", string(body)))
		http.Error(w, "enough", http.StatusUnauthorized)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// withSecrets gives ken all secrets that a user may have.
func withSecrets(t *testing.T, more ...string) func(*exec.Cmd) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".pgpass"), []byte("*:*:*:*:from-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "OPENAI_API_KEY=sk-secret-secret", "ANTHROPIC_API_KEY=sk-secret-secret", "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"))
		cmd.Env = append(cmd.Env, more...)
	}
}

// kenSaying runs ken, and keeps its standard error also if it succeeds.
func kenSaying(t *testing.T, r *testrepo.Repo, prepare func(*exec.Cmd), args ...string) outcome {
	t.Helper()
	var said strings.Builder
	o := ken(t, r, func(cmd *exec.Cmd) { prepare(cmd); cmd.Stderr = &said }, args...)
	o.stderr = said.String()
	return o
}

// ken sends no password to a store that a repository names until the user allows this address in this repository.
func TestStoreIsAllowedOnce(t *testing.T) {
	commands := [][]string{
		{"verify"},
		{"status"},
		{"brief"},
		{"docs"},
		{"spec", "ls"},
		{"doctor"},
		{"up"},
		{"survey", "run"},
		{"share", "status"},
		{"share", "pull"},
		{"share", "push"},
		{"worker", "runs"},
		{"worker", "--until-idle"},
		{"survey", "run", "--workers", "--provider", "anthropic", "--model", "m"},
		{"hook", "session-start"},
		{"summary", "set", "a.go", "-m", "text"},
	}
	for name, listen := range map[string]func(t *testing.T, s *thief) string{
		"on this machine": func(t *testing.T, s *thief) string {
			t.Helper()
			return "postgres://u@" + s.postgres(t, "tcp", "127.0.0.1:0").String() + "/d?sslmode=disable"
		},
		"at a socket": func(t *testing.T, s *thief) string {
			t.Helper()
			dir, err := os.MkdirTemp("", "ken-socket-") //nolint:usetesting // a socket's name is short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			s.postgres(t, "unix", filepath.Join(dir, ".s.PGSQL.5432"))
			return "postgres://u@/d?host=" + dir + "&sslmode=disable"
		},
	} {
		for where, secret := range map[string]string{"PGPASSWORD=from-the-variable": "from-the-variable", "PGPASSFILE=": "from-the-file"} {
			t.Run(name+" "+secret, func(t *testing.T) {
				s := &thief{}
				address := listen(t, s)
				r := testrepo.New(t)
				r.Write("a.go", "package a\n")
				r.Write(".ken/config.yaml", "store: "+address+"\n")
				r.Commit("first")
				user := withSecrets(t)
				if secret == "from-the-variable" {
					plain := user
					user = func(cmd *exec.Cmd) { plain(cmd); cmd.Env = append(cmd.Env, where) }
				}
				for _, args := range commands {
					o := kenSaying(t, r, user, args...)
					if told := s.take(); told != "" {
						t.Errorf("ken %q sends to a server that only the repository names: %s", args, told)
					}
					if n := strings.Count(o.stderr, "not contacted"); args[0] != "hook" && n > 1 {
						t.Errorf("ken %q says it %d times: %s", args, n, o.stderr)
					}
				}
				if o := kenSaying(t, r, user, "status"); strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, "ken allow ") || o.status != 0 {
					t.Errorf("status: want one line with the command that allows it: %+v", o)
				}
				if o := kenSaying(t, r, user, "share", "pull"); o.status != 1 || !strings.Contains(o.stderr, "hint: if you trust it: ken allow ") {
					t.Errorf("share pull: want exit 1 and the command that allows it: %+v", o)
				}

				// As the configuration spells it is as good as what the hint spells.
				if o := kenSaying(t, r, user, "allow", address); o.status != 0 || !strings.HasPrefix(o.stdout, "allowed ") {
					t.Fatalf("allow: %+v", o)
				}
				ken(t, r, user, "status")
				if told := s.take(); !strings.Contains(told, secret) {
					t.Errorf("the allowed store got %q, want the password %s", told, secret)
				}
				// Another clone, and another address, are other questions.
				other := r.Clone()
				ken(t, other, user, "status")
				others := []string{strings.Replace(address, "/d?", "/e?", 1), strings.Replace(address, "u@", "v@", 1), address + "&options=-cx%3Dy"}
				if name != "at a socket" { // where there is no TLS
					others = append(others, strings.Replace(address, "disable", "prefer", 1))
				}
				for _, changed := range others {
					r.Write(".ken/config.yaml", "store: "+changed+"\n")
					ken(t, r, user, "share", "status")
				}
				if told := s.take(); told != "" {
					t.Errorf("another clone or a changed address: ken sent %s", told)
				}
				r.Write(".ken/config.yaml", "store: "+address+"\n")
				if o := kenSaying(t, r, user, "allow", "--withdraw", address); o.status != 0 {
					t.Errorf("withdraw: %+v", o)
				}
				ken(t, r, user, "share", "status")
				if told := s.take(); told != "" {
					t.Errorf("after the permission was withdrawn, ken sent %s", told)
				}
				// An address that the user names needs no permission.
				given := func(cmd *exec.Cmd) { user(cmd); cmd.Env = append(cmd.Env, "KEN_STORE="+address) }
				ken(t, r, given, "share", "status")
				if told := s.take(); !strings.Contains(told, secret) {
					t.Errorf("KEN_STORE: the store got %q, want the password %s", told, secret)
				}
			})
		}
	}
}

// ken sends no request, key or file to a model that a repository names until the user allows the address with the
// model and the prices that the repository names.
func TestProviderIsAllowedOnce(t *testing.T) {
	s := &thief{}
	url := s.models(t)
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	config := func(text string) { r.Write(".ken/config.yaml", "survey: {"+text+"}\n") }
	user := withSecrets(t)
	at := func(more ...string) func(*exec.Cmd) {
		return func(cmd *exec.Cmd) { user(cmd); cmd.Env = append(cmd.Env, more...) }
	}
	silent := func(prepare func(*exec.Cmd), args ...string) outcome {
		t.Helper()
		o := kenSaying(t, r, prepare, args...)
		if told := s.take(); told != "" {
			t.Errorf("ken %q sends to a model that only the repository names: %s", args, told)
		}
		return o
	}
	asked := func(prepare func(*exec.Cmd), args ...string) {
		t.Helper()
		o := kenSaying(t, r, prepare, args...)
		if told := s.take(); !strings.Contains(told, "sk-secret-secret") || !strings.Contains(told, "a.go") {
			t.Errorf("ken %q: the provider got %q, want the key and the first directory: %+v", args, told, o)
		}
	}
	refused := func(prepare func(*exec.Cmd), args ...string) {
		t.Helper()
		if o := silent(prepare, args...); o.status != 1 || !strings.Contains(o.stderr, "hint: if you trust it: ken allow "+url) {
			t.Errorf("ken %q: want exit 1 and the command that allows it: %+v", args, o)
		}
	}

	// The address is the repository's.
	config("provider: openai, model: m, base_url: " + url)
	r.Commit("first")
	refused(user, "survey", "run")
	refused(user, "survey", "run", "--provider", "openai")
	refused(user, "survey", "run", "--provider", "openai", "--model", "m")
	if o := silent(user, "up"); o.status != 0 || !strings.Contains(o.stderr, "ken uses outlines instead") || !strings.Contains(o.stderr, "ken allow "+url) {
		t.Errorf("up: want outlines, and the command that allows the provider: %+v", o)
	}
	for _, args := range [][]string{{"status"}, {"brief"}, {"survey", "plan"}} {
		if o := silent(user, args...); strings.Contains(o.stderr, "ken allow") {
			t.Errorf("ken %q asks no model, but mentions it: %s", args, o.stderr)
		}
	}
	asked(at("OPENAI_BASE_URL="+url), "survey", "run", "--provider", "openai", "--model", "m")
	if o := silent(user, "allow", "http://127.0.0.1:1"); o.status != 2 {
		t.Errorf("an address that is not named is allowed: %+v", o)
	}
	if o := silent(user, "allow", url); o.status != 0 || !strings.Contains(o.stdout, "OPENAI_API_KEY, for the model m") {
		t.Errorf("allow: %+v", o)
	}
	asked(user, "survey", "run")
	asked(user, "survey", "run", "--provider", "openai", "--model", "other")
	asked(user, "up")

	// ken asks again after any change in the repository's configuration.
	for _, changed := range []string{
		"provider: openai, model: dearer, base_url: " + url,
		"provider: openai, model: m, prices: {m: {input: 0}}, base_url: " + url,
		"provider: anthropic, model: m, base_url: " + url,
		"provider: openai, model: m, base_url: " + url + "/elsewhere",
	} {
		config(changed)
		refused(user, "survey", "run")
	}
	config("provider: openai, model: m, base_url: " + url)
	silent(user, "allow", "--withdraw", url)
	refused(user, "survey", "run")

	// The provider and the model alone are the repository's: they spend the user's key.
	config("provider: anthropic, model: m")
	here := at("ANTHROPIC_BASE_URL=" + url)
	refused(here, "survey", "run")
	refused(here, "survey", "run", "--provider", "anthropic")
	asked(here, "survey", "run", "--provider", "anthropic", "--model", "m")
	silent(here, "allow", url)
	asked(here, "survey", "run")
	// Prices are: a limit in dollars is counted by them.
	config("prices: {m: {}}")
	refused(here, "survey", "run", "--provider", "anthropic", "--model", "m", "--max-cost", "1")

	// The repository still cannot name a program.
	config("provider: command, command: [touch, started]")
	if o := silent(user, "survey", "run"); o.status != 2 || !strings.Contains(o.stderr, "--provider command") {
		t.Errorf("a program that the repository names: %+v", o)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "started")); err == nil {
		t.Error("the program was started")
	}
}
