package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"ken/bench/scale"
	"ken/internal/pgtest"
	"ken/internal/queue"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/store/postgres"
)

// measureScale fills a base, a tenth of it and then all, and measures at both.
func (b *bench) measureScale(ctx context.Context, w io.Writer) (m scale.Measured, err error) {
	server, err := pgtest.Run()
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	name, err := server.Create(ctx)
	if err != nil {
		return m, err
	}
	address := server.Address("postgres", "", name)
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return m, err
	}
	defer conn.Close(ctx)
	s := &scaleSite{address: address, conn: conn, fill: newFiller(1)}
	// A server of a test forgets what a crash of the machine would; this one is to pay for it.
	for _, set := range []string{`fsync = on`, `full_page_writes = on`, `max_wal_size = '1GB'`} {
		if _, err := s.conn.Exec(ctx, `ALTER SYSTEM SET `+set); err != nil {
			return m, err
		}
	}
	var version string
	if err := s.conn.QueryRow(ctx, `SELECT pg_reload_conf()::text || ' ' || current_setting('server_version')`).Scan(&version); err != nil {
		return m, err
	}
	progress("%s, PostgreSQL %s", scaleMeasured, version[len("true "):])

	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return s.fillTo(ctx, fillTenth) },
		s.rates,
		func(ctx context.Context) error { return s.fillTo(ctx, fillFull) },
		s.rates,
		s.sizes,
		s.partitions,
		s.hotRow,
		s.jobs,
		s.idleQueues,
		s.queue,
	} {
		if err := step(ctx); err != nil {
			return m, err
		}
	}
	if err := b.refs(ctx, s); err != nil {
		return m, err
	}
	s.print(w)
	return s.m, nil
}

// A scaleSite is a base under measurement.
type scaleSite struct {
	address string
	conn    *pgx.Conn // beside the store's
	fill    *filler
	filled  int // repositories
	m       scale.Measured

	// Figures, by name: at a tenth and at full where both were taken.
	names   []string
	figures map[string][]string
}

func (s *scaleSite) note(what, figure string) {
	if s.figures == nil {
		s.figures = make(map[string][]string)
	}
	if s.figures[what] == nil {
		s.names = append(s.names, what)
	}
	s.figures[what] = append(s.figures[what], figure)
	progress("%s: %s", what, figure)
}

func (s *scaleSite) print(w io.Writer) {
	g := newGrid(w, fmt.Sprintf("Measured, with %d and with %d repositories in the base", fillTenth, fillFull), "what", "tenth", "full", "partitioned")
	for _, name := range s.names {
		f := s.figures[name]
		if len(f) == 1 {
			f = []string{"", f[0]}
		}
		g.line(append([]string{name}, append(f, "")[:3]...)...)
	}
	g.end()
}

func (s *scaleSite) open(of, machine int) (*postgres.Store, error) {
	return postgres.Open(s.address, postgres.Options{Repository: fmt.Sprintf("team/repository-%d", of), Machine: fmt.Sprintf("machine-%d", machine), Host: "bench"})
}

// wal returns how many bytes of WAL were ever written.
func (s *scaleSite) wal(ctx context.Context) (n float64, err error) {
	err = s.conn.QueryRow(ctx, `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8`).Scan(&n)
	return n, err
}

// cost runs something, and returns what it took in time and WAL.
func (s *scaleSite) cost(ctx context.Context, do func() error) (took time.Duration, wal float64, err error) {
	before, err := s.wal(ctx)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := do(); err != nil {
		return 0, 0, err
	}
	took = time.Since(start)
	after, err := s.wal(ctx)
	return took, after - before, err
}

// fillTo fills the base with repositories, up to so many, and notes what the last ones cost.
func (s *scaleSite) fillTo(ctx context.Context, repositories int) error {
	var rows, files, dirs struct {
		n    int
		took time.Duration
		wal  float64
	}
	for ; s.filled < repositories; s.filled++ {
		if s.filled == repositories-min(5, repositories/2) {
			rows.n, files.n, dirs.n, rows.took, files.took, dirs.took, rows.wal, files.wal, dirs.wal = 0, 0, 0, 0, 0, 0, 0, 0, 0
		}
		of := s.filled
		texts, about := s.fill.files(of, 0, fillTexts, 0), s.fill.directories(of, 0, fillFiles/fillDirectory, 0)
		for machine := range fillMachines {
			store, err := s.open(of, machine)
			if err != nil {
				return err
			}
			if _, err := store.Repository(ctx); err != nil {
				return err
			}
			if machine == 0 {
				took, wal, err := s.cost(ctx, func() error { return store.Absorb(ctx, texts) })
				if err != nil {
					return err
				}
				files.n, files.took, files.wal = files.n+len(texts), files.took+took, files.wal+wal
				took, wal, err = s.cost(ctx, func() error { return store.Absorb(ctx, about) })
				if err != nil {
					return err
				}
				dirs.n, dirs.took, dirs.wal = dirs.n+len(about), dirs.took+took, dirs.wal+wal
			}
			list := s.fill.rows(of, 0, fillFiles, 0)
			took, wal, err := s.cost(ctx, func() error {
				return store.Commit(ctx, "", registry.Change{Put: list}, nil)
			})
			if err != nil {
				return err
			}
			rows.n, rows.took, rows.wal = rows.n+len(list), rows.took+took, rows.wal+wal
			if err := store.Close(); err != nil {
				return err
			}
		}
		if s.filled%10 == 9 {
			progress("%s, %d of %d repositories", scaleMeasured, s.filled+1, fillFull)
		}
	}
	if _, err := s.conn.Exec(ctx, `ANALYZE`); err != nil {
		return err
	}
	rate := func(n int, took time.Duration) string { return number(float64(n)/took.Seconds()) + "/s" }
	s.note("rows of a new work tree", rate(rows.n, rows.took))
	s.note("texts about files, 4,000 at once", rate(files.n, files.took))
	s.note("texts about directories, 1,666 at once", rate(dirs.n, dirs.took))
	s.m.RowWAL, s.m.RecordWAL, s.m.DirectoryWAL = rows.wal/float64(rows.n), files.wal/float64(files.n), dirs.wal/float64(dirs.n)
	s.note("WAL of a row, new", bulk(s.m.RowWAL))
	s.note("WAL of a text about a file", bulk(s.m.RecordWAL))
	s.note("WAL of a text about a directory", bulk(s.m.DirectoryWAL))
	return nil
}

// rates measures what machines do all day, in repositories drawn by lot.
func (s *scaleSite) rates(ctx context.Context) error {
	stores := make([]*postgres.Store, 0, 5)
	marks := make([]share.Mark, 0, 5)
	late := make([]share.Mark, 0, 5)
	for i := range 5 {
		store, err := s.open(i*s.filled/5, 0)
		if err != nil {
			return err
		}
		defer store.Close()
		// Another 100 records, so that there are some to be brought.
		end, err := endOf(ctx, store)
		if err != nil {
			return err
		}
		late = append(late, end)
		if err := store.Absorb(ctx, s.fill.files(i*s.filled/5, 0, 100, s.filled)); err != nil {
			return err
		}
		if end, err = endOf(ctx, store); err != nil {
			return err
		}
		stores, marks = append(stores, store), append(marks, end)
	}
	one := func(what string, rounds int, do func(i, round int) error) (time.Duration, error) {
		var took []time.Duration
		for round := range rounds {
			i := round % len(stores)
			start := time.Now()
			if err := do(i, round); err != nil {
				return 0, err
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		s.note(what, fmt.Sprintf("%s ms, p99 %s", ms(took[len(took)/2]), ms(took[len(took)*99/100])))
		return took[len(took)/2], nil
	}
	// What reads is also asked for the pages it looked at: these are the same however busy the
	// machine is.
	read := func(what string, rounds int, do func(i, round int) error) error {
		// A connection tells its counts with the first transaction that ends a second after the last
		// time.
		told := func() error {
			time.Sleep(1100 * time.Millisecond)
			for i := range stores {
				if err := do(i, i); err != nil {
					return err
				}
			}
			return nil
		}
		if err := told(); err != nil {
			return err
		}
		before, err := s.pages(ctx)
		if err != nil {
			return err
		}
		if _, err := one(what, rounds, do); err != nil {
			return err
		}
		if err := told(); err != nil {
			return err
		}
		after, err := s.pages(ctx)
		s.note(what+", pages", number((after-before)/float64(rounds+len(stores))))
		return err
	}
	const rounds = 500
	if err := read("sync with nothing new", rounds, func(i, _ int) error {
		list, _, err := stores[i].Since(ctx, marks[i], 1000)
		return expect(len(list), 0, err)
	}); err != nil {
		return err
	}
	took, err := one("the same, with a connection of its own", 100, func(i, _ int) error {
		store, err := s.open(i*s.filled/5, 0)
		if err != nil {
			return err
		}
		list, _, err := store.Since(ctx, marks[i], 1000)
		return errors.Join(expect(len(list), 0, err), store.Close())
	})
	if err != nil {
		return err
	}
	s.m.SyncSeconds = took.Seconds()
	if err := read("sync that brings 100 records", 200, func(i, _ int) error {
		list, _, err := stores[i].Since(ctx, late[i], 1000)
		return expect(len(list), 100, err)
	}); err != nil {
		return err
	}
	if err := read("newest text for a content", rounds, func(i, round int) error {
		found, err := stores[i].Newest(ctx, []repo.Content{content(i*s.filled/5, round*7%fillTexts, 0)})
		return expect(len(found), 1, err)
	}); err != nil {
		return err
	}
	// What writes is also asked for its WAL. A checkpoint comes first, so that the first change of
	// each page is paid for in full, as it is for somebody who comes by once in five minutes.
	write := func(what string, rounds, each int, wal *float64, do func(i, round int) error) error {
		if _, err := s.conn.Exec(ctx, `CHECKPOINT`); err != nil {
			return err
		}
		_, bytes, err := s.cost(ctx, func() error { _, err := one(what, rounds, do); return err })
		if err != nil {
			return err
		}
		per := bytes / float64(rounds*each)
		if wal != nil {
			*wal = per
		}
		s.note(what+", WAL of one", bulk(per))
		return nil
	}
	if err := write("10 rows rewritten", 100, 10, &s.m.UpdateWAL, func(i, round int) error {
		of := i * s.filled / 5
		from := (round * 977) % (fillFiles - 10)
		return stores[i].Commit(ctx, "", registry.Change{Put: s.fill.rows(of, from, 10, 1+s.filled)}, nil)
	}); err != nil {
		return err
	}
	if err := write("5 texts about files absorbed", 100, 5, &s.m.FewRecordWAL, func(i, round int) error {
		return stores[i].Absorb(ctx, s.fill.files(i*s.filled/5, round*5, 5, 2+s.filled))
	}); err != nil {
		return err
	}
	if err := write("2 texts about directories absorbed", 100, 2, &s.m.FewDirectoryWAL, func(i, round int) error {
		return stores[i].Absorb(ctx, s.fill.directories(i*s.filled/5, round*2, 2, 2+s.filled))
	}); err != nil {
		return err
	}
	if err := write("a work tree tells how it stands", 100, 1, &s.m.SyncWAL, func(i, round int) error {
		return stores[i].Tell(ctx, "", &registry.Baseline{Head: content(i, round, 0).ID, At: fillTime}, registry.Tally{Files: fillFiles, Fresh: round})
	}); err != nil {
		return err
	}
	return s.crowd(ctx, stores, marks)
}

// pages returns how many pages were looked at in this database, as far as it was told.
func (s *scaleSite) pages(ctx context.Context) (n float64, err error) {
	time.Sleep(100 * time.Millisecond) // what was told just now is on its way
	err = s.conn.QueryRow(ctx, `SELECT (blks_hit + blks_read)::float8 FROM pg_stat_database WHERE datname = current_database()`).Scan(&n)
	return n, err
}

func expect(got, want int, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("%d, want %d", got, want)
	}
	return err
}

// endOf returns the mark behind everything.
func endOf(ctx context.Context, store *postgres.Store) (mark share.Mark, err error) {
	for {
		list, next, err := store.Since(ctx, mark, 5000)
		if err != nil || len(list) == 0 {
			return next, err
		}
		mark = next
	}
}

const crowdTime = 3 * time.Second

// crowd measures how many syncs there are in a second when 20 are under way at a time.
func (s *scaleSite) crowd(ctx context.Context, stores []*postgres.Store, marks []share.Mark) error {
	n, err := together(ctx, 20, func(ctx context.Context, i int) error {
		i %= len(stores)
		_, _, err := stores[i].Since(ctx, marks[i], 1000)
		return err
	})
	s.note("syncs with nothing new, 20 at once", number(n)+"/s")
	if err != nil {
		return err
	}
	n, err = together(ctx, 20, func(ctx context.Context, i int) error {
		i %= len(stores)
		store, err := s.open(i*s.filled/5, 0)
		if err != nil {
			return err
		}
		_, _, err = store.Since(ctx, marks[i], 1000)
		return errors.Join(err, store.Close())
	})
	s.note("the same, each with a connection of its own, 20 at once", number(n)+"/s")
	return err
}

// together has so many do something again and again for a while, and returns how often it
// was done in a second.
func together(ctx context.Context, many int, do func(ctx context.Context, i int) error) (float64, error) {
	var done atomic.Int64
	var wg sync.WaitGroup
	failed := make(chan error, many)
	start := time.Now()
	for i := range many {
		wg.Go(func() {
			for time.Since(start) < crowdTime {
				if err := do(ctx, i); err != nil {
					failed <- err
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	close(failed)
	return float64(done.Load()) / time.Since(start).Seconds(), <-failed
}

// sizes asks how large the tables are.
func (s *scaleSite) sizes(ctx context.Context) error {
	for _, t := range []struct {
		table, what string
		into        *float64
	}{
		{"ken.file", "bytes of a row", &s.m.RowBytes},
		{"ken.record", "bytes of a text about a file", &s.m.RecordBytes},
		{"ken.directory_record", "bytes of a text about a directory", &s.m.DirectoryBytes},
	} {
		var all, indexes, n float64
		err := s.conn.QueryRow(ctx, `SELECT pg_total_relation_size($1::regclass)::float8, pg_indexes_size($1::regclass)::float8, (SELECT count(*) FROM `+t.table+`)::float8`, t.table).Scan(&all, &indexes, &n)
		if err != nil {
			return err
		}
		*t.into = all / n
		s.note(t.what+", with its indexes", fmt.Sprintf("%s, %s of it indexes, of %s", bulk(all/n), bulk(indexes/n), number(n)))
	}
	return nil
}

// partition divides the large tables by repository, as docs/scale.md tells operators to.
//
//go:embed scale_partition.sql
var partition string

// partitions divides the tables, and tries the same once more.
func (s *scaleSite) partitions(ctx context.Context) error {
	start := time.Now()
	if _, err := s.conn.PgConn().Exec(ctx, partition).ReadAll(); err != nil {
		return fmt.Errorf("scale_partition.sql: %w", err)
	}
	if _, err := s.conn.Exec(ctx, `ANALYZE`); err != nil {
		return err
	}
	s.note("tables divided into 16 partitions in", fmt.Sprintf("%.0f s", time.Since(start).Seconds()))
	whole := s.m // what is computed with is of the tables as ken makes them
	names, figures := s.names, s.figures
	s.names, s.figures = nil, nil
	err := s.rates(ctx)
	for name, f := range s.figures {
		if figures[name] != nil {
			figures[name] = append(figures[name], f...)
		}
	}
	s.m, s.names, s.figures = whole, names, figures
	if err != nil {
		return err
	}
	return s.sideBySide(ctx)
}

// sideBySide asks what a sync asks, of a table in partitions and of a whole one in turns: a
// busy machine is as busy for both.
func (s *scaleSite) sideBySide(ctx context.Context) error {
	_, err := s.conn.PgConn().Exec(ctx, `
		CREATE TABLE whole (LIKE ken.record INCLUDING ALL);
		INSERT INTO whole SELECT * FROM ken.record;
		ANALYZE whole`).ReadAll()
	if err != nil {
		return err
	}
	tables := []string{"whole", "ken.record"}
	took := make([][]time.Duration, len(tables))
	for round := range 2000 {
		for i, table := range tables {
			start := time.Now()
			rows, err := s.conn.Query(ctx, `SELECT seq, substr(id, 1, 8) FROM `+table+` WHERE repository = $1 AND seq > $2 ORDER BY seq LIMIT 1000`, round%s.filled+1, 1<<40)
			if err != nil {
				return err
			}
			rows.Close()
			if rows.Err() != nil {
				return rows.Err()
			}
			took[i] = append(took[i], time.Since(start))
		}
	}
	const what = "a question of a sync, of both in turns"
	s.note(what, "")
	for i := range tables {
		s.note(what, fmt.Sprintf("%.2f ms", middle(took[i]).Seconds()*1000))
	}
	return nil
}

// hotRow measures how often one row can be changed by many, and as many by as many: what all
// workers of a server spend in a day is one row.
func (s *scaleSite) hotRow(ctx context.Context) error {
	if _, err := s.conn.Exec(ctx, `CREATE TABLE hot (id integer PRIMARY KEY, n bigint NOT NULL)`); err != nil {
		return err
	}
	if _, err := s.conn.Exec(ctx, `INSERT INTO hot SELECT g, 0 FROM generate_series(1, 20) g`); err != nil {
		return err
	}
	pool, err := s.pool(ctx, 20)
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, rows := range []int{1, 20} {
		n, err := together(ctx, 20, func(ctx context.Context, i int) error {
			_, err := pool.Exec(ctx, `UPDATE hot SET n = n + 1 WHERE id = $1`, i%rows+1)
			return err
		})
		if err != nil {
			return err
		}
		s.note(fmt.Sprintf("20 connections change %s, once in a transaction", map[int]string{1: "the same row", 20: "a row each"}[rows]), number(n)+"/s")
	}
	return nil
}

func (s *scaleSite) pool(ctx context.Context, connections int32) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(s.address)
	if err != nil {
		return nil, err
	}
	config.MaxConns = connections
	return pgxpool.NewWithConfig(ctx, config)
}

// A nothing is a job that does nothing.
type nothing struct {
	Run  int64  `json:"run"`
	Path []byte `json:"path"`
}

// Kind names it.
func (nothing) Kind() string { return "bench_nothing" }

// jobs measures River alone: jobs of one queue, inserted 1,000 at a time and done by 100 at
// once.
func (s *scaleSite) jobs(ctx context.Context) error {
	pool, err := s.pool(ctx, 20)
	if err != nil {
		return err
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	const all = 20_000
	var left atomic.Int64
	left.Store(all)
	done := make(chan struct{})
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[nothing]) error {
		if left.Add(-1) == 0 {
			close(done)
		}
		return nil
	}))
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues: map[string]river.QueueConfig{"one": {MaxWorkers: 100}}, Workers: workers, Logger: slog.New(slog.DiscardHandler),
		FetchCooldown: 5 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	begun, err := s.wal(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	for from := 0; from < all; from += 1000 {
		params := make([]river.InsertManyParams, 1000)
		for i := range params {
			params[i] = river.InsertManyParams{Args: nothing{1, []byte(s.fill.path(from + i).Dir())}, InsertOpts: &river.InsertOpts{Queue: "one"}}
		}
		if _, err := client.InsertMany(ctx, params); err != nil {
			return err
		}
	}
	s.note("River: jobs inserted, 1,000 at once", number(all/time.Since(start).Seconds())+"/s")
	start = time.Now()
	if err := client.Start(ctx); err != nil {
		return err
	}
	<-done
	s.note("River: jobs done, 100 at once", number(all/time.Since(start).Seconds())+"/s")
	if err := client.Stop(ctx); err != nil { // what was done is put down by then
		return err
	}
	ended, err := s.wal(ctx)
	s.note("River: WAL of a job, from insertion to end", bulk((ended-begun)/all))
	return err
}

// idleQueues measures what a worker asks for that serves many repositories, each with a queue
// of its own, while there is nothing to do.
func (s *scaleSite) idleQueues(ctx context.Context) error {
	const queues = 200
	pool, err := s.pool(ctx, 20)
	if err != nil {
		return err
	}
	defer pool.Close()
	q, err := queue.Open(ctx, pool.Config(), queue.Options{})
	if err != nil {
		return err
	}
	defer q.Close()
	describers := make(map[string]queue.Describer)
	for i := range queues {
		describers[fmt.Sprintf("repository %d", i)] = prompt{}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- q.Work(ctx, queue.WorkOptions{Name: "idle", Repositories: describers}) }()
	transactions := func() (n float64, err error) {
		err = s.conn.QueryRow(ctx, `SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = current_database()`).Scan(&n)
		return n, err
	}
	time.Sleep(2 * time.Second) // it settles
	before, err := transactions()
	if err != nil {
		return err
	}
	start := time.Now()
	time.Sleep(5 * time.Second)
	after, err := transactions()
	if err != nil {
		return err
	}
	s.note(fmt.Sprintf("an idle worker for %d repositories asks", queues), number((after-before)/time.Since(start).Seconds())+" times a second")
	stop()
	return <-ended
}

// refs measures what records take under a ref: committed 20 at a time, as ken share lays them
// out, and packed by git gc.
func (b *bench) refs(ctx context.Context, s *scaleSite) error {
	const all, each = 20_000, 20
	dir := filepath.Join(b.tmp, "refs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := gitAnswer(ctx, dir, b.env, "init", "-q", "--bare", "."); err != nil {
		return err
	}
	var in bytes.Buffer
	var plain float64
	for from := 0; from < all; from += each {
		list := s.fill.files(0, from, each*17/20, 9)
		list = append(list, s.fill.directories(0, from/each*3, each*3/20, 9)...)
		at := fillTime.Add(time.Duration(from) * time.Minute).Unix()
		fmt.Fprintf(&in, "commit refs/ken/knowledge\ncommitter bench <bench@example.com> %d +0000\ndata 0\n", at)
		for _, r := range list {
			text := r.Encode()
			name := share.NameOf(text).String()
			plain += float64(len(text))
			fmt.Fprintf(&in, "M 100644 inline records/%s/%s\ndata %d\n%s\n", name[:2], name[2:], len(text), text)
		}
	}
	load := exec.CommandContext(ctx, "git", "fast-import", "--quiet")
	load.Dir, load.Env, load.Stdin = dir, b.env, &in
	if out, err := load.CombinedOutput(); err != nil {
		return fmt.Errorf("git fast-import: %w\n%s", err, tail(out))
	}
	if _, err := gitAnswer(ctx, dir, b.env, "gc", "--quiet"); err != nil {
		return err
	}
	var packed float64
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*"))
	if err != nil {
		return err
	}
	for _, p := range packs {
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		packed += float64(info.Size())
	}
	s.m.RefBytes = packed / all
	push := filepath.Join(b.tmp, "push")
	if _, err := gitAnswer(ctx, dir, b.env, "bundle", "create", "-q", push, "refs/ken/knowledge~1..refs/ken/knowledge"); err != nil {
		return err
	}
	info, err := os.Stat(push)
	if err != nil {
		return err
	}
	s.note("a record under a ref, packed", fmt.Sprintf("%s, %s as it is spelled, of %s", bulk(packed/all), bulk(plain/all), number(all)))
	s.note("20 more to push, each", bulk(float64(info.Size())/each))
	return nil
}
