// Package postgres implements the shared store of a team in a PostgreSQL database: a log of the records of many
// repositories.
//
// Records belong to a repository and are identified by their content, so all machines share them. Error messages never
// contain a password. Package internal/store/team decides when a machine contacts the server.
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
)

// Options identifies the repository of a Store.
type Options struct {
	// Repository is the name of the repository. Repositories do not see each other's records.
	Repository string
	// Connections limits the connections of the pool; 0 means 4.
	Connections int
	// Wait limits how long a write waits for other writes to the repository; 0 means 20 seconds.
	Wait time.Duration
	Now  func() time.Time // the clock; time.Now if nil
}

// connectTimeout limits a connection attempt. A distant server takes less than a second, with TLS.
const connectTimeout = 5 * time.Second

// A Store is the shared store of one repository. It is safe for concurrent use. The first call connects, and creates
// the tables if there are none.
type Store struct {
	opts        Options
	address     Address
	connections *connections

	mu   sync.Mutex
	pool *pgxpool.Pool // nil before the first call
	// repository is the id of the repository in the database, 0 before the first call.
	repository int64
	database   string // the random id that the database got when its tables were created
}

// Open returns the store at an address. It does not connect. As in libpq, missing settings come from the
// environment (PGPASSWORD, PGSSLMODE and so on) and from ~/.pgpass.
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
	if opts.Now == nil {
		opts.Now = time.Now
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

// ForRepository returns the store of another repository in the same database. Both use the same pool, which closes with
// the last store.
func (s *Store) ForRepository(repository string) *Store {
	opts := s.opts
	opts.Repository = repository
	return &Store{opts: opts, address: s.address, connections: s.connections}
}

// Name returns the name of the repository.
func (s *Store) Name() string { return s.opts.Repository }

// Scope returns an identifier of the repository in this database. It changes if the database at the address is
// created again.
func (s *Store) Scope(ctx context.Context) (string, error) {
	if _, err := s.Pool(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/%d", s.database, s.repository), nil
}

// Close closes the connections, unless another store uses them.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		s.connections.release()
		s.pool = nil
	}
	return nil
}

// Config returns the settings of the connection, for callers that need their own connections.
func (s *Store) Config() *pgxpool.Config { return s.connections.config.Copy() }

// Pool returns the connection pool. It connects, and creates the tables if there are none.
func (s *Store) Pool(ctx context.Context) (*pgxpool.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		return s.pool, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	pool, err := s.connections.acquire(ctx)
	if err != nil {
		return nil, s.explain("open", err)
	}
	if err := s.prepare(ctx, pool); err != nil {
		s.connections.release()
		return nil, s.explain("open", err)
	}
	s.pool = pool
	return pool, nil
}

// Repository returns the id of the repository in the database, and creates it if necessary.
func (s *Store) Repository(ctx context.Context) (int64, error) {
	_, err := s.Pool(ctx)
	return s.repository, err
}

// prepare finds the id of the repository. If necessary it creates the tables and the repository. Usually it needs one
// query.
func (s *Store) prepare(ctx context.Context, pool *pgxpool.Pool) error {
	v, err := s.find(ctx, pool)
	if err == nil && v != schemaVersion {
		err = s.create(ctx, pool)
	}
	if err != nil || s.repository != 0 {
		return err
	}
	_, err = pool.Exec(ctx, `INSERT INTO ken.repository (name) VALUES ($1) ON CONFLICT (name) DO NOTHING`, []byte(s.opts.Repository))
	if err != nil {
		return err
	}
	_, err = s.find(ctx, pool)
	if err == nil && s.repository == 0 {
		err = errors.New("the row of the repository disappeared after it was written")
	}
	return err
}

// find reads the version of the tables, 0 if there are none, and the ids of the database and the repository.
func (s *Store) find(ctx context.Context, q querier) (version int, err error) {
	s.repository = 0
	var id *int64
	err = q.QueryRow(ctx, `
		SELECT s.version, s.database::text, r.id FROM ken.schema s LEFT JOIN ken.repository r ON r.name = $1`,
		[]byte(s.opts.Repository)).Scan(&version, &s.database, &id)
	if errors.Is(err, pgx.ErrNoRows) || isUndefined(err) {
		return 0, nil
	}
	if id != nil && version == schemaVersion {
		s.repository = *id
	}
	return version, err
}

// Each transaction sets its own timeouts, because a connection pooler may refuse session settings or give the
// session to another client.
//
// The server ends a transaction whose client sends nothing for five seconds. The client may be suspended or
// disconnected, and other writers of the repository wait for its locks. ken itself needs milliseconds between
// two statements.
const (
	idleLimit  = `SET LOCAL idle_in_transaction_session_timeout = '5s'`
	beginRead  = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ` + idleLimit
	beginWrite = `BEGIN; ` + idleLimit + `; SET LOCAL lock_timeout = `
)

// writeOptions returns the options of a writing transaction.
func (s *Store) writeOptions() pgx.TxOptions {
	return pgx.TxOptions{BeginQuery: beginWrite + strconv.FormatInt(s.opts.Wait.Milliseconds(), 10)}
}

// read calls fn in a read-only transaction with a consistent snapshot. what names the operation in errors.
func (s *Store) read(ctx context.Context, what string, fn func(tx pgx.Tx) error) error {
	return s.within(ctx, what, pgx.TxOptions{BeginQuery: beginRead}, fn)
}

// write calls fn in a transaction, and commits if fn returns nil. what names the operation in errors.
func (s *Store) write(ctx context.Context, what string, fn func(tx pgx.Tx) error) error {
	return s.within(ctx, what, s.writeOptions(), fn)
}

func (s *Store) within(ctx context.Context, what string, opts pgx.TxOptions, fn func(tx pgx.Tx) error) error {
	pool, err := s.Pool(ctx)
	if err != nil {
		return err
	}
	return s.explain(what, pgx.BeginTxFunc(ctx, pool, opts, fn))
}

// scanAll scans each row into the variables and calls scan after each.
func scanAll(rows pgx.Rows, err error, scan func() error, into ...any) error {
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, into, scan)
	return err
}
