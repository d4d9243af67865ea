// Package pgtest runs a real PostgreSQL server for tests, and stands in its way.
//
// [Database] is what most tests want: an empty database in a server that the test
// process shares and that ends with it, however it ends. [Start] is for tests that stop
// and restart a server of their own, [NewProxy] for those that cut a connection or let it
// stall. A machine without PostgreSQL fails them: nothing is ever skipped. What is done in
// a database belongs to the tests.
package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A Server is a PostgreSQL server in a temporary directory, on a port of the loopback
// interface. Its superuser is "postgres", from whom it asks no password; everybody else has
// to give theirs.
type Server struct {
	bin, dir string
	port     int
	// alive is the end of a pipe on whose other end a process waits, to stop the server and
	// remove its directory. It is closed by Close, and by the end of this process.
	alive   io.Closer
	watcher *exec.Cmd
}

// shared is the server of this process.
var shared = sync.OnceValues(Run)

// Database returns the address of a new database, for its superuser.
func Database(tb testing.TB) string {
	tb.Helper()
	s, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	return s.Database(tb)
}

// Start returns a server of the test's own.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s, err := Run()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// Run is Start for a program that is no test. The server ends with Close, or with this
// process.
func Run() (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ken-postgres-")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir}
	if err := s.set(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// programs returns the directory of PostgreSQL's programs, of the newest version that is
// there.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	slices.SortFunc(found, func(a, b string) int { return major(a) - major(b) })
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	// Where it was not Debian that installed it.
	path, err := exec.LookPath("postgres")
	if err != nil {
		return "", errors.New("PostgreSQL is not installed: run scripts/setup, or: apt-get install postgresql")
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}

// major returns the version in a name like /usr/lib/postgresql/15/bin/postgres.
func major(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // another name is no version, and comes first
	return n
}

// settings make the server fast: it loses data if the machine crashes, but not if only the server crashes.
const settings = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
full_page_writes = off
shared_buffers = 128MB
max_connections = 200
max_wal_size = 2GB
log_min_messages = warning
`

const access = `
host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`

func (s *Server) set() error {
	if err := own(s.dir); err != nil {
		return err
	}
	data := s.data()
	if err := s.run("initdb", "-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "-A", "trust"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(access), 0o644); err != nil {
		return err
	}
	// A port that is free now may be taken a moment later.
	for try := 0; ; try++ {
		err := s.settle()
		if err == nil {
			break
		}
		if try == 4 {
			return err
		}
	}
	return s.watch()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// settle starts the server on a free port, which it then keeps.
func (s *Server) settle() error {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		return err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return err
	}
	conf := fmt.Sprintf("%sport = %d\n", settings, s.port)
	if err := os.WriteFile(filepath.Join(s.data(), "postgresql.conf"), []byte(conf), 0o644); err != nil {
		return err
	}
	return s.start()
}

func (s *Server) start() error {
	err := s.run("pg_ctl", "-D", s.data(), "-l", s.log(), "-w", "-t", "60", "start")
	if err == nil {
		return nil
	}
	said, _ := os.ReadFile(s.log()) // without it, the error has to do
	return fmt.Errorf("%w\n%s", err, said)
}

func (s *Server) stop(mode string) error {
	return s.run("pg_ctl", "-D", s.data(), "-m", mode, "-w", "-t", "60", "stop")
}

// run runs one of PostgreSQL's programs, which refuse to be run by root.
func (s *Server) run(program string, args ...string) error {
	cmd := s.command(filepath.Join(s.bin, program), args...)
	// Into a file, since the server that pg_ctl leaves behind holds on to what it was given.
	out, err := os.CreateTemp("", "ken-postgres-out-")
	if err != nil {
		return err
	}
	defer func() {
		_ = out.Close()
		_ = os.Remove(out.Name()) // it is in the temporary directory
	}()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name()) // without it, the error has to do
		return fmt.Errorf("%s: %w\n%s", program, err, said)
	}
	return nil
}

func (s *Server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + s.bin + ":/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "TMPDIR=" + s.dir}
	demote(cmd)
	return cmd
}

// watch starts the process that ends the server when this one is gone.
func (s *Server) watch() error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	s.watcher = s.command("/bin/sh", "-c",
		`cat >/dev/null; "$1"/pg_ctl -D "$2/data" -m immediate -w stop >/dev/null 2>&1; cd /; rm -rf "$2"`,
		"sh", s.bin, s.dir)
	s.watcher.Stdin = read
	if err := s.watcher.Start(); err != nil {
		return errors.Join(err, write.Close())
	}
	s.alive = write
	return nil
}

// Close stops the server and removes all that it has left.
func (s *Server) Close() error {
	if err := s.alive.Close(); err != nil {
		return err
	}
	return s.watcher.Wait()
}

// Stop stops the server: connections are cut, transactions rolled back.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if err := s.stop("fast"); err != nil {
		tb.Fatal(err)
	}
}

// Crash stops the server as a crash of it would.
func (s *Server) Crash(tb testing.TB) {
	tb.Helper()
	if err := s.stop("immediate"); err != nil {
		tb.Fatal(err)
	}
}

// Restart starts a server that was stopped, on the port that it had.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	if err := s.start(); err != nil {
		tb.Fatal(err)
	}
}

// Address returns the address of a database, for a user with a password; "" for neither.
func (s *Server) Address(user, password, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(user), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/" + database, RawQuery: "sslmode=disable"}
	if password != "" {
		u.User = url.UserPassword(user, password)
	}
	return u.String()
}

// Database returns the address of a new database, for its superuser.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	name, err := s.Create(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		// A server that the test has stopped takes it along.
		_ = s.exec(context.Background(), `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`)
	})
	return s.Address("postgres", "", name)
}

// Create makes a database and returns its name.
func (s *Server) Create(ctx context.Context) (string, error) {
	name := "t" + strings.ToLower(rand.Text())
	return name, s.exec(ctx, `CREATE DATABASE `+name)
}

func (s *Server) exec(ctx context.Context, query string) error {
	conn, err := pgx.Connect(ctx, s.Address("postgres", "", "postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, query)
	return errors.Join(err, conn.Close(ctx))
}

// Exec runs statements in the database at an address.
func Exec(tb testing.TB, address, query string) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), address)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.PgConn().Exec(tb.Context(), query).ReadAll(); err != nil {
		tb.Fatalf("the query %s failed with %v", query, err)
	}
}

// Column returns the only column of the result of a query in the database at an address.
func Column[T any](tb testing.TB, address, query string, args ...any) []T {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), address)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(tb.Context(), query, args...)
	if err != nil {
		tb.Fatalf("the query %s failed with %v", query, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		tb.Fatalf("the query %s failed with %v", query, err)
	}
	return list
}

// Value returns the result of a query with one row and one column.
func Value[T any](tb testing.TB, address, query string, args ...any) T {
	tb.Helper()
	list := Column[T](tb, address, query, args...)
	if len(list) != 1 {
		tb.Fatalf("%s: %d rows", query, len(list))
	}
	return list[0]
}
