package e2e

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"ken/internal/pgtest"
	"ken/internal/testrepo"
)

// server is the PostgreSQL server that all scripts share. Each script has its own databases.
var server = sync.OnceValues(pgtest.Run)

// postgres NAME creates a database and sets a variable to its address for the superuser.
// postgres NAME ROLE PASSWORD also creates a role without privileges, and the address is for
// that role, with the password.
func postgres(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 && len(args) != 3 {
		ts.Fatalf("usage: postgres NAME [ROLE PASSWORD]")
	}
	s, err := server()
	ts.Check(err)
	database := ts.Getenv("DATABASE")
	if database == "" {
		database, err = s.Create(context.Background())
		ts.Check(err)
		ts.Setenv("DATABASE", database)
	}
	if len(args) == 1 {
		ts.Setenv(args[0], s.Address("postgres", "", database))
		return
	}
	role := database + "_" + args[1] // roles are the server's, and scripts run side by side
	runSQL(ts, s.Address("postgres", "", database), `CREATE ROLE `+role+` LOGIN PASSWORD '`+args[2]+`'`)
	ts.Setenv(args[0], s.Address(role, args[2], database))
	ts.Setenv(args[0]+"_ROLE", role)
}

// sql ADDRESS STATEMENTS runs statements.
func sql(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: sql ADDRESS STATEMENTS")
	}
	runSQL(ts, args[0], strings.Join(args[1:], " "))
}

func runSQL(ts *testscript.TestScript, address, statements string) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, address)
	ts.Check(err)
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, statements).ReadAll()
	ts.Check(err)
}

// ken never prints a password, for any source of the password and any error.
func TestPasswordIsNotPrinted(t *testing.T) {
	const secret = "s3cr3t/%41:x"
	address := pgtest.Database(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	role := "wrong_" + strings.TrimPrefix(u.Path, "/")
	pgtest.Exec(t, address, `CREATE ROLE `+role+` LOGIN PASSWORD 'right'`)
	with := func(change func(*url.URL)) string {
		v := *u
		v.User = url.User(role)
		change(&v)
		return v.String()
	}
	plain := with(func(*url.URL) {})
	cases := map[string]struct {
		store string
		env   []string
		says  string
	}{
		"in the address":         {store: with(func(v *url.URL) { v.User = url.UserPassword(role, secret) }), says: "password authentication failed"},
		"as a parameter":         {store: with(func(v *url.URL) { v.RawQuery += "&password=" + url.QueryEscape(secret) }), says: "password authentication failed"},
		"in the environment":     {store: plain, env: []string{"PGPASSWORD=" + secret}, says: "password authentication failed"},
		"not escaped":            {store: "postgres://" + role + ":" + secret + "@" + u.Host + "/x", says: "address of the store"},
		"of a host that is none": {store: "postgres://ken:" + url.QueryEscape(secret) + "@db..invalid/ken", says: "no such host: db..invalid"},
		"with a wrong option":    {store: with(func(v *url.URL) { v.User = url.UserPassword(role, secret); v.RawQuery = "sslmode=maybe" }), says: "sslmode is invalid"},
		"of no such database":    {store: with(func(v *url.URL) { v.User = url.UserPassword(role, "right"); v.Path = "/absent" }), says: "does not exist"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir, env := teamRepository(t)
			env = append(append(env, "KEN_STORE="+c.store), c.env...)
			var all strings.Builder
			for _, args := range [][]string{
				{"verify"}, {"status"}, {"share", "status"}, {"share", "pull", "--json"}, {"share", "push"}, {"doctor"}, {"doctor", "--json"},
			} {
				out, _ := runKen(t, dir, env, args...)
				all.WriteString(out)
			}
			for _, hidden := range []string{"s3cr3t", ":right"} {
				if strings.Contains(all.String(), hidden) {
					t.Errorf("the password is printed:\n%s", all.String())
				}
			}
			if !strings.Contains(all.String(), c.says) {
				t.Errorf("no output contains %q:\n%s", c.says, all.String())
			}
			left, err := exec.CommandContext(t.Context(), "grep", "-rl", "s3cr3t", dir, filepath.Join(filepath.Dir(dir), "home")).Output()
			if len(left) > 0 {
				t.Errorf("ken wrote the password to %s (%v)", left, err)
			}
		})
	}
}

// The commands in the README and in the manual work: the last clone finds every summary fresh,
// also if a survey was made before the team existed.
func TestTeamLines(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"../README.md", "../docs/manual/team.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			block := regexp.MustCompile("(?s)```\n(createuser .*?)```").FindStringSubmatch(string(text))
			if block == nil {
				t.Fatal("the document has no commands that create a store")
			}
			origin := testrepo.New(t)
			origin.Write("src/a.go", "package src\n")
			origin.Commit("first")
			origin.Git("config", "receive.denyCurrentBranch", "ignore") // as a remote has none checked out
			r, second := origin.Clone(), filepath.Join(t.TempDir(), "second")
			mustKen(t, r, "survey", "run")
			script := strings.NewReplacer(
				"postgres://ken@db.example.com/ken", pgtest.Database(t), "git clone … && cd …", "git clone -q '"+origin.Dir+"' '"+second+"' && cd '"+second+"'",
			).Replace(regexp.MustCompile(`(?m)\s+#.*$|^(createuser|export) .*$`).ReplaceAllString(block[1], ""))
			cmd := exec.CommandContext(t.Context(), "sh", "-exc", script+"\n! ken survey show | grep -v '^outline \\|^excluded '")
			cmd.Dir, cmd.Env = r.Dir, r.Env("PATH="+bin+":"+os.Getenv("PATH"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("the script of the manual failed with %v\n%s", err, out)
			}
		})
	}
}

// ken doctor warns about a password in a file that all users can read.
func TestPasswordInTheConfiguration(t *testing.T) {
	dir, env := teamRepository(t)
	config := filepath.Join(dir, ".ken", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("store: postgres://ken:s3cr3t@127.0.0.1:1/ken\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := runKen(t, dir, env, "doctor")
	if !strings.Contains(out, "STORE_PASSWORD") || strings.Contains(out, "s3cr3t") {
		t.Errorf("doctor says:\n%s", out)
	}
}

// A database that stalls delays one command for a bounded time, and the next commands not at
// all.
func TestStalledDatabase(t *testing.T) {
	proxy := pgtest.NewProxy(t, pgtest.Database(t))
	dir, env := teamRepository(t)
	if out, err := runKen(t, dir, env, "verify"); err != nil {
		t.Fatalf("ken verify failed with %v\n%s", err, out)
	}
	env = append(env, "KEN_STORE="+proxy.Address())
	proxy.Stall(true)
	env = append(env, "KEN_STORE_TIMEOUT=2s")
	out, err := runKen(t, dir, env, "summary", "set", "a.go", "-m", "greets")
	if err != nil || !strings.Contains(out, "the server does not answer; answered from the local store") {
		t.Errorf("ken summary set ended with %v; want a note that the server does not answer\n%s", err, out)
	}
	visits := func() int {
		t.Helper()
		before := proxy.Taken()
		for range 5 {
			if out, err := runKen(t, dir, env, "status"); err != nil {
				t.Fatalf("ken status failed with %v\n%s", err, out)
			}
		}
		return proxy.Taken() - before
	}
	// ken does not contact a database that did not answer for at least 15 seconds. A busy machine
	// runs one or two commands in that time.
	if n := visits(); n > 2 {
		t.Errorf("five commands contacted the stalled database %d times, want 0", n)
	}
	proxy.Stall(false)
	env = append(env, "KEN_STORE_TIMEOUT=2m") // the last one counts
	if out, err := runKen(t, dir, env, "share", "push"); err != nil || !strings.Contains(out, "1 record") {
		t.Errorf("ken share push ended with %v; want 1 record pushed\n%s", err, out)
	}
	if n := visits(); n >= 5 {
		t.Errorf("five commands in a row contacted the database %d times, want fewer", n)
	}
}

// teamRepository creates a repository with one file, and an environment for commands in it.
func teamRepository(t *testing.T) (dir string, env []string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "repo")
	home := filepath.Join(top, "home")
	for _, d := range []string{dir, home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env = testrepo.Environ()
	for k, v := range environ(home) {
		env = append(env, k+"="+v)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir, env
}

// runKen runs ken and returns its output.
func runKen(t *testing.T, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "ken"), args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	return string(out), err
}
