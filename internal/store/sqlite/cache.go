package sqlite

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"os"
	"slices"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/repo"
)

// A Cache stores bytes that can be computed again, by maker and content id. It is safe for concurrent use by
// goroutines and processes.
//
// If its file cannot be used, the cache is empty, and Save creates a new file if possible. The only error is a
// context that is done. If the file cannot be written, the cache stores nothing.
type Cache struct {
	path  string
	limit int64

	mu     sync.Mutex
	conn   *sqlite.Conn // nil until needed
	file   os.FileInfo  // the opened file at the last check
	writes bool         // conn is writable
}

// OpenCache returns the cache in the file at path. If the file has more than about limit bytes, the cache deletes
// the oldest entries. OpenCache does not access the file; only Save creates it.
func OpenCache(path string, limit int64) *Cache { return &Cache{path: path, limit: limit} }

// Close closes the file. The next call opens it again.
func (c *Cache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close()
}

// close closes the connection and ignores errors. If the file was removed, it leaves the connection open until the
// process ends, as [Store] does.
func (c *Cache) close() {
	conn := c.conn
	c.conn, c.writes = nil, false
	if conn == nil {
		return
	}
	if now, err := os.Stat(c.path); err == nil && os.SameFile(c.file, now) {
		_ = conn.Close()
	}
}

// Load returns the entries of a maker for some contents. Contents without an entry are missing in the map.
func (c *Cache) Load(ctx context.Context, maker string, ids []repo.ID) (map[repo.ID][]byte, error) {
	var found map[repo.ID][]byte
	err := c.try(ctx, false, func(conn *sqlite.Conn) (err error) {
		found, err = load(conn, maker, ids)
		return err
	})
	if err != nil || found == nil {
		found = make(map[repo.ID][]byte)
	}
	return found, ctx.Err()
}

// saveBatch limits the entries of one transaction, so that others do not wait long and the log stays small.
const saveBatch = 4096

// Save stores the entries of a maker if possible. It ignores entries that are larger than a sixteenth of the limit.
func (c *Cache) Save(ctx context.Context, maker string, bodies map[repo.ID][]byte) error {
	all := make([]cacheEntry, 0, len(bodies))
	for id, body := range bodies {
		if !id.IsZero() && int64(len(body)) <= c.limit/16 {
			all = append(all, cacheEntry{id.Bytes(), body})
		}
	}
	slices.SortFunc(all, func(a, b cacheEntry) int { return bytes.Compare(a.content, b.content) }) // the order of the index
	for some := range slices.Chunk(all, saveBatch) {
		if err := c.try(ctx, true, func(conn *sqlite.Conn) error {
			if err := save(conn, maker, some); err != nil {
				return err
			}
			return c.evict(conn)
		}); err != nil {
			break // the next batch would fail too
		}
	}
	return ctx.Err()
}

// A cacheEntry is the stored body for a content.
type cacheEntry struct{ content, body []byte }

// sum returns a checksum of the maker and the entry.
func (c cacheEntry) sum(maker string) int64 {
	table := crc32.MakeTable(crc32.Castagnoli)
	s := crc32.Update(0, table, []byte(maker))
	s = crc32.Update(s, table, c.content)
	return int64(crc32.Update(s, table, c.body))
}

// try calls act in a transaction if the database exists or, for writing, can be created. It removes a damaged
// database. For writing it also removes a database of another version of ken. Callers do not report its error.
func (c *Cache) try(ctx context.Context, write bool, act func(*sqlite.Conn) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.once(ctx, write, act)
	if err == nil || ctx.Err() != nil || isBusy(err) {
		return err
	}
	// A failed connection may fail again: open a new one next time.
	c.close()
	if foreign := errors.Is(err, errForeign); !foreign && !damaged(err) || foreign && !write {
		return err
	}
	c.discard()
	if !write {
		return err
	}
	return c.once(ctx, write, act)
}

func (c *Cache) once(ctx context.Context, write bool, act func(*sqlite.Conn) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.open(ctx, write); err != nil || c.conn == nil {
		return err
	}
	defer interruptible(ctx, c.conn)()
	begin := `BEGIN`
	if write {
		begin = `BEGIN IMMEDIATE`
	}
	if err := retryBusy(ctx, cacheTimeout, func() error { return exec(c.conn, begin) }); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.rollback())
		}
	}()
	// Another version of ken may have replaced the tables since the file was opened.
	if err := isCache(c.conn); err != nil {
		return err
	}
	if err := act(c.conn); err != nil {
		return err
	}
	return retryBusy(ctx, cacheTimeout, func() error { return exec(c.conn, `COMMIT`) })
}

// rollback ends the transaction, if there is one, even if the context is done.
func (c *Cache) rollback() error {
	c.conn.SetInterrupt(nil)
	if c.conn.AutocommitEnabled() {
		return nil
	}
	return exec(c.conn, `ROLLBACK`)
}

// cacheTimeout limits the wait for other processes. Computing the entries again would take longer.
const cacheTimeout = 2 * time.Second

// makerOf returns the id of a maker, 0 if it has no entries.
func makerOf(conn *sqlite.Conn, name string) (int64, error) {
	return number(conn, `SELECT id FROM maker WHERE name = ?1`, name)
}

func load(conn *sqlite.Conn, name string, ids []repo.ID) (map[repo.ID][]byte, error) {
	maker, err := makerOf(conn, name)
	if maker == 0 || err != nil {
		return nil, err
	}
	stmt, err := conn.Prepare(`SELECT sum, body FROM made WHERE maker = ?1 AND content = ?2`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, maker)
	found := make(map[repo.ID][]byte, len(ids))
	contents := make([][]byte, len(ids))
	for i, id := range ids {
		contents[i] = id.Bytes()
	}
	slices.SortFunc(contents, bytes.Compare) // the order of the index
	for _, content := range contents {
		stmt.BindBytes(2, content)
		err := eachRow(stmt, func(stmt *sqlite.Stmt) error {
			m := cacheEntry{content, make([]byte, stmt.ColumnLen(1))}
			stmt.ColumnBytes(1, m.body)
			if stmt.ColumnInt64(0) == m.sum(name) {
				found[repo.IDFromBytes(content)] = m.body
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func save(conn *sqlite.Conn, name string, all []cacheEntry) error {
	if err := execute(conn, `INSERT INTO maker (name) VALUES (?1) ON CONFLICT DO NOTHING`, name); err != nil {
		return err
	}
	maker, err := makerOf(conn, name)
	if err != nil {
		return err
	}
	stmt, err := conn.Prepare(`
		INSERT INTO made (maker, content, sum, body) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (maker, content) DO UPDATE SET sum = ?3, body = ?4`)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	stmt.BindInt64(1, maker)
	for _, m := range all {
		stmt.BindBytes(2, m.content)
		stmt.BindInt64(3, m.sum(name))
		stmt.BindBytes(4, m.body)
		if err := run(stmt); err != nil {
			return err
		}
	}
	return nil
}

// evict deletes the oldest entries if the used pages exceed the limit, until a quarter of the limit is free.
func (c *Cache) evict(conn *sqlite.Conn) error {
	for allowed := c.limit; ; allowed = c.limit / 4 * 3 {
		used, err := pragma(conn, `
			SELECT (p.page_count - f.freelist_count) * s.page_size
			FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`)
		if err != nil || int64(used) <= allowed {
			return err
		}
		if err := exec(conn, `
			DELETE FROM made WHERE seq <= (SELECT min(seq) + (max(seq) - min(seq)) / 16 FROM made)`); err != nil {
			return err
		}
		if conn.Changes() == 0 {
			return nil
		}
	}
}
