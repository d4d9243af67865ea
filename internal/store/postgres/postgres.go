// Package postgres keeps the registry and the survey of many machines and repositories in
// one PostgreSQL database: the store of a team.
//
// Texts belong to a repository and are named by content, so that whoever writes one writes
// it for all. Rows, baselines and leases belong to a work tree of a machine. It says what
// is wrong with a server in words that never hold a password. When a machine comes to the
// server, and what it does while there is none, belongs to internal/store/team.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"ken/internal/store"
)

var _ store.Files = (*Store)(nil)

// Options says whose store it is.
type Options struct {
	// Repository names the repository; what one has written, no other sees.
	Repository string
	// Machine identifies the machine; each machine has its own worktrees. Host is
	// what people call it.
	Machine, Host string
	// Connections is how many there may be at a time; 4 when 0.
	Connections int
	// Wait is how long a write waits for others of its repository; 20 seconds when 0.
	Wait time.Duration
}

// connectTimeout is how long a server may take to let somebody in. One at the other end of
// the world takes under a second, with TLS.
const connectTimeout = 5 * time.Second

// A Store is the store of one repository, as one machine sees it. It is safe for concurrent
// use. Nothing is connected before the first call, which also brings the tables to the
// newest schema.
type Store struct {
	opts        Options
	address     Address
	connections *connections

	mu   sync.Mutex
	pool *pgxpool.Pool // of connections, nil while this store uses none
	// repository is the number that the server knows the repository by, 0 before it was
	// asked for.
	repository int64
	database   string // drawn when the tables were made
}

// Open returns the store at an address, as libpq understands it: what it does not say comes
// from the environment (PGPASSWORD, PGSSLMODE and so on) and from ~/.pgpass.
func Open(address string, opts Options) (*Store, error) {
	a, config, err := parse(address)
	if err != nil {
		return nil, err
	}
	if opts.Repository == "" {
		return nil, errors.New("the store needs the identity of its repository")
	}
	if opts.Connections == 0 {
		opts.Connections = 4
	}
	if opts.Wait == 0 {
		opts.Wait = 20 * time.Second
	}
	config.MaxConns = int32(opts.Connections)
	config.MinConns = 0
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "ken"
	}
	return &Store{opts: opts, address: a, connections: &connections{config: config}}, nil
}

// Beside returns the store of another repository in the same database. It uses the same
// connections, which end with the last that is closed.
func (s *Store) Beside(repository string) *Store {
	opts := s.opts
	opts.Repository = repository
	return &Store{opts: opts, address: s.address, connections: s.connections}
}

// Name is what the repository is called.
func (s *Store) Name() string { return s.opts.Repository }

// Scope names the repository in this database, as no other is named: not the one of the same
// name in a database that was made anew at the same address.
func (s *Store) Scope(ctx context.Context) (string, error) {
	if _, err := s.Pool(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/%d", s.database, s.repository), nil
}

// Close lets go of all connections, unless another store uses them.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		s.connections.leave()
		s.pool = nil
	}
	return nil
}

// Config returns the settings of the connection, for callers that need their own connections.
func (s *Store) Config() *pgxpool.Config { return s.connections.config.Copy() }

// Pool returns the connections, to a database that has the tables.
func (s *Store) Pool(ctx context.Context) (*pgxpool.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		return s.pool, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	pool, err := s.connections.join(ctx)
	if err != nil {
		return nil, s.explain("open", err)
	}
	if err := s.enter(ctx, pool); err != nil {
		s.connections.leave()
		return nil, s.explain("open", err)
	}
	s.pool = pool
	return pool, nil
}

// Repository returns the number that the server knows the repository by, which it makes if
// need be.
func (s *Store) Repository(ctx context.Context) (int64, error) {
	_, err := s.Pool(ctx)
	return s.repository, err
}

// enter finds the repository's number, and brings the tables up to date if need be. Mostly that
// is one question.
func (s *Store) enter(ctx context.Context, pool *pgxpool.Pool) error {
	if ok, err := s.find(ctx, pool); ok || err != nil {
		return err
	}
	if err := s.migrate(ctx, pool); err != nil {
		return err
	}
	_, err := pool.Exec(ctx, `INSERT INTO ken.repository (name) VALUES ($1) ON CONFLICT (name) DO NOTHING`, []byte(s.opts.Repository))
	if err != nil {
		return err
	}
	ok, err := s.find(ctx, pool)
	if err == nil && !ok {
		err = errors.New("the row of the repository disappeared after it was written")
	}
	return err
}

// find finds the repository's number. That the tables are not there, or not of this ken's schema,
// is left to who brings them up to date.
func (s *Store) find(ctx context.Context, pool *pgxpool.Pool) (ok bool, err error) {
	var version int
	err = pool.QueryRow(ctx, `
		SELECT s.version, s.database::text, r.id FROM ken.schema s, ken.repository r WHERE r.name = $1`,
		[]byte(s.opts.Repository)).Scan(&version, &s.database, &s.repository)
	switch {
	case errors.Is(err, pgx.ErrNoRows), notOurs(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return version == len(migrations), nil
}

// Transactions carry their bounds themselves: what stands between us and the server may refuse
// settings of a session, or hand the session to somebody else.
//
// The server ends a transaction whose client says nothing for so long. It may have been suspended
// or cut off, and holds what others of its repository wait for; between two statements of ours are
// milliseconds. Who waits gives up after some that fell silent, and is told why.
const (
	silent     = `SET LOCAL idle_in_transaction_session_timeout = '5s'`
	beginRead  = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ` + silent
	beginWrite = `BEGIN; ` + silent + `; SET LOCAL lock_timeout = `
)

// writing begins a transaction that writes.
func (s *Store) writing() pgx.TxOptions {
	return pgx.TxOptions{BeginQuery: beginWrite + strconv.FormatInt(s.opts.Wait.Milliseconds(), 10)}
}

// read calls fn in a transaction that sees one state of everything and changes nothing.
func (s *Store) read(ctx context.Context, what string, fn func(tx pgx.Tx) error) error {
	return s.within(ctx, what, pgx.TxOptions{BeginQuery: beginRead}, fn)
}

// write calls fn in a transaction, and commits it when fn returns nil.
func (s *Store) write(ctx context.Context, what string, fn func(tx pgx.Tx) error) error {
	return s.within(ctx, what, s.writing(), fn)
}

func (s *Store) within(ctx context.Context, what string, opts pgx.TxOptions, fn func(tx pgx.Tx) error) error {
	pool, err := s.Pool(ctx)
	if err != nil {
		return err
	}
	return s.explain(what, pgx.BeginTxFunc(ctx, pool, opts, fn))
}

// A theirs is an error of somebody who was called back: it is not the server's.
type theirs struct{ error }

func (t *theirs) Unwrap() error { return t.error }

// machine is what stands for the machine in the tables.
func (s *Store) machine() []byte { return []byte(s.opts.Machine) }

// scanAll calls scan with each row of an answer.
func scanAll(rows pgx.Rows, err error, scan func() error, into ...any) error {
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, into, scan)
	return err
}
