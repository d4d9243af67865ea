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

// A Cache keeps what was made of contents, by whom: bytes that mean nothing here and
// can be made again. It is safe for concurrent use by goroutines and processes.
//
// Whatever is wrong with its file, it is empty then, and begun anew where that can be.
// Only a context that is done is an error. It knows no spool: where it cannot be
// written, nothing is kept.
type Cache struct {
	path  string
	limit int64

	mu     sync.Mutex
	conn   *sqlite.Conn // nil until needed
	file   os.FileInfo  // what was opened, as it was when last looked at
	writes bool         // conn can be written to
}

// OpenCache returns the cache in the file at path, which is to have no more than about
// limit bytes: what was put in first goes first. Nothing is touched before the first
// call, and only saving makes the file.
func OpenCache(path string, limit int64) *Cache { return &Cache{path: path, limit: limit} }

// Close lets go of the file. A cache that is used again opens it again.
func (c *Cache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close()
}

// close has nobody to tell what went wrong. A connection to a file that was removed
// meanwhile is left to the end of the process, as in [Store].
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

// Load returns what is kept of some contents by a maker. What is not there is not
// kept.
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

// portion is how much is saved in one transaction: not so much that others wait, or
// that the log grows large.
const portion = 4096

// Save keeps what a maker has made of contents, if it can. What is larger than a
// sixteenth of the whole cache is not worth its room.
func (c *Cache) Save(ctx context.Context, maker string, bodies map[repo.ID][]byte) error {
	all := make([]made, 0, len(bodies))
	for id, body := range bodies {
		if !id.IsZero() && int64(len(body)) <= c.limit/16 {
			all = append(all, made{id.Bytes(), body})
		}
	}
	slices.SortFunc(all, func(a, b made) int { return bytes.Compare(a.content, b.content) }) // as the index has them
	for some := range slices.Chunk(all, portion) {
		if err := c.try(ctx, true, func(conn *sqlite.Conn) error {
			if err := save(conn, maker, some); err != nil {
				return err
			}
			return c.evict(conn)
		}); err != nil {
			break // the next portion would fare no better
		}
	}
	return ctx.Err()
}

// A made is what was made of a content.
type made struct{ content, body []byte }

// sum is over all that makes it what it is.
func (m made) sum(maker string) int64 {
	table := crc32.MakeTable(crc32.Castagnoli)
	s := crc32.Update(0, table, []byte(maker))
	s = crc32.Update(s, table, m.content)
	return int64(crc32.Update(s, table, m.body))
}

// try calls act in a transaction, if there is a database, or one can be made for
// writing; the error is for nobody to see. A database that is damaged is removed, and
// so is one of another ken's when this one has something to keep.
func (c *Cache) try(ctx context.Context, write bool, act func(*sqlite.Conn) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.once(ctx, write, act)
	if err == nil || ctx.Err() != nil || isBusy(err) {
		return err
	}
	// A connection that has failed may go on failing.
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
	if err := patiently(ctx, cachePatience, func() error { return exec(c.conn, begin) }); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.rollback())
		}
	}()
	// Another ken may have made something else of it since it was opened.
	if err := isCache(c.conn); err != nil {
		return err
	}
	if err := act(c.conn); err != nil {
		return err
	}
	return patiently(ctx, cachePatience, func() error { return exec(c.conn, `COMMIT`) })
}

// rollback ends a transaction, if there is one, whatever became of the context.
func (c *Cache) rollback() error {
	c.conn.SetInterrupt(nil)
	if c.conn.AutocommitEnabled() {
		return nil
	}
	return exec(c.conn, `ROLLBACK`)
}

// cachePatience is how long others are waited for. Making it all again would take
// longer.
const cachePatience = 2 * time.Second

func makerOf(conn *sqlite.Conn, name string) (int64, error) {
	stmt, err := conn.Prepare(`SELECT id FROM maker WHERE name = ?1`)
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	stmt.BindText(1, name)
	if ok, err := stmt.Step(); !ok || err != nil {
		return 0, err
	}
	return stmt.ColumnInt64(0), nil
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
	slices.SortFunc(contents, bytes.Compare) // as the index has them
	for _, content := range contents {
		stmt.BindBytes(2, content)
		ok, err := stmt.Step()
		if err != nil {
			return nil, err
		}
		if ok {
			m := made{content, make([]byte, stmt.ColumnLen(1))}
			stmt.ColumnBytes(1, m.body)
			if stmt.ColumnInt64(0) == m.sum(name) {
				found[repo.IDFromBytes(content)] = m.body
			}
		}
		if err := stmt.Reset(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func save(conn *sqlite.Conn, name string, all []made) error {
	add, err := conn.Prepare(`INSERT INTO maker (name) VALUES (?1) ON CONFLICT DO NOTHING`)
	if err != nil {
		return err
	}
	defer add.Reset()
	add.BindText(1, name)
	if err := run(add); err != nil {
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

// evict makes room: when the pages in use are more than the limit allows, the oldest
// rows go, until a quarter of it is free.
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
