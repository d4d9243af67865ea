package sqlite

import (
	"context"
	"iter"
	"strings"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// Rows implements [store.Files]. It reads all rows when the loop begins, so later commits do not
// change them, and the loop may use the store.
func (s *Store) Rows(ctx context.Context, worktree string) iter.Seq2[store.FileRow, error] {
	return func(yield func(store.FileRow, error) bool) {
		rows, err := s.AllRows(ctx, worktree)
		if err != nil {
			yield(store.FileRow{}, err)
			return
		}
		for r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// AllRows is Rows for a caller that needs the error first. It reads all rows in one transaction: about 20 MB for
// 100,000 rows. The sequence can be used once.
func (s *Store) AllRows(ctx context.Context, worktree string) (iter.Seq[store.FileRow], error) {
	var chunks [][]store.FileRow
	err := s.read(ctx, func(conn *sqlite.Conn) (err error) {
		chunks, err = rowsOf(conn, worktree)
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(yield func(store.FileRow) bool) {
		for i, chunk := range chunks {
			chunks[i] = nil
			for _, r := range chunk {
				if !yield(r) {
					return
				}
			}
		}
	}, nil
}

// rowsOf reads the rows of a work tree in chunks, in byte order of their paths.
func rowsOf(conn *sqlite.Conn, worktree string) (chunks [][]store.FileRow, err error) {
	var scan scanner
	chunk := make([]store.FileRow, 0, 64)
	err = each(conn, `
		SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
		FROM file WHERE worktree = (SELECT id FROM worktree WHERE name = ?1)
		ORDER BY path`,
		func(stmt *sqlite.Stmt) error {
			if len(chunk) == cap(chunk) {
				chunks = append(chunks, chunk)
				chunk = make([]store.FileRow, 0, 2048)
			}
			chunk = append(chunk, scan.row(stmt))
			return nil
		}, worktree)
	if err != nil {
		return nil, err
	}
	return append(chunks, chunk), nil
}

// RowsOf implements [store.Files].
func (s *Store) RowsOf(ctx context.Context, worktree string, paths []repo.Path) (map[repo.Path]store.FileRow, error) {
	found := make(map[repo.Path]store.FileRow, len(paths))
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		stmt, err := conn.Prepare(`
			SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
			FROM file WHERE worktree = (SELECT id FROM worktree WHERE name = ?1) AND path = ?2`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindText(1, worktree)
		var scan scanner
		for _, p := range paths {
			stmt.BindBytes(2, []byte(p))
			err := eachRow(stmt, func(stmt *sqlite.Stmt) error {
				found[p] = scan.row(stmt)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Exceptions implements [store.Files].
func (s *Store) Exceptions(ctx context.Context, worktree string, marks store.FileMarks) (map[repo.Path]store.FileRow, error) {
	query := `
		SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
		FROM file
		WHERE worktree = (SELECT id FROM worktree WHERE name = ?1) AND (marks & ?2 OR state = 'stale')`
	args := []any{worktree, int(marks)}
	if marks == store.MarksUnproven {
		// Force the index: SQLite would choose to read all rows.
		query = `
		SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
		FROM file INDEXED BY file_exception
		WHERE worktree = (SELECT id FROM worktree WHERE name = ?1) AND (marks & 3 OR state = 'stale')`
		args = args[:1]
	}
	found := make(map[repo.Path]store.FileRow)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		var scan scanner
		return each(conn, query, func(stmt *sqlite.Stmt) error {
			r := scan.row(stmt)
			found[r.Path] = r
			return nil
		}, args...)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Counts implements [store.Files]. A summary of a file with unknown content counts as stale.
func (s *Store) Counts(ctx context.Context, worktree string) (store.FileCounts, error) {
	var t store.FileCounts
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		t = store.FileCounts{}
		return each(conn, `SELECT files, fresh, stale, none, excluded FROM worktree WHERE name = ?1`, func(stmt *sqlite.Stmt) error {
			t = store.FileCounts{
				Files:    stmt.ColumnInt(0),
				Fresh:    stmt.ColumnInt(1),
				Stale:    stmt.ColumnInt(2),
				None:     stmt.ColumnInt(3),
				Excluded: stmt.ColumnInt(4),
			}
			return nil
		}, worktree)
	})
	return t, err
}

// A scanner reads rows from a statement with few allocations: paths share larger blocks of memory, and repeated
// strings are stored once.
type scanner struct {
	buf   []byte
	paths *strings.Builder
	kinds map[string]repo.Kind
	words map[string]string
}

// row reads the columns path, kind, mode, content_id, content_md5, size, mtime,
// ctime, inode, marks, excluded and about.
func (sc *scanner) row(stmt *sqlite.Stmt) store.FileRow {
	return store.FileRow{
		Path:    sc.path(stmt, 0),
		Kind:    sc.kind(stmt, 1),
		Mode:    repo.Mode(stmt.ColumnInt64(2)),
		Content: repo.Content{ID: columnID(stmt, 3), MD5: columnMD5(stmt, 4)},
		Stat: repo.Stat{
			Size:  stmt.ColumnInt64(5),
			Mtime: stmt.ColumnInt64(6),
			Ctime: stmt.ColumnInt64(7),
			Inode: uint64(stmt.ColumnInt64(8)),
		},
		Marks:        store.FileMarks(stmt.ColumnInt(9)),
		Excluded:     sc.word(stmt, 10),
		SummaryBasis: columnBasis(stmt, 11),
	}
}

func (sc *scanner) bytes(stmt *sqlite.Stmt, col int) []byte {
	n := stmt.ColumnLen(col)
	if n > cap(sc.buf) {
		sc.buf = make([]byte, max(n, 256))
	}
	return sc.buf[:stmt.ColumnBytes(col, sc.buf[:n])]
}

func (sc *scanner) path(stmt *sqlite.Stmt, col int) repo.Path {
	b := sc.bytes(stmt, col)
	if sc.paths == nil || sc.paths.Len()+len(b) > sc.paths.Cap() {
		// The first block is small, for callers that read one row.
		size := 1 << 7
		if sc.paths != nil {
			size = 1 << 16
		}
		sc.paths = new(strings.Builder)
		sc.paths.Grow(max(size, len(b)))
	}
	from := sc.paths.Len()
	sc.paths.Write(b)
	return repo.Path(sc.paths.String()[from:])
}

func (sc *scanner) kind(stmt *sqlite.Stmt, col int) repo.Kind {
	b := sc.bytes(stmt, col)
	k, ok := sc.kinds[string(b)]
	if !ok {
		// A newer ken may know more kinds: they are unknown here, not an error.
		_ = k.UnmarshalText(b)
		if sc.kinds == nil {
			sc.kinds = make(map[string]repo.Kind)
		}
		sc.kinds[string(b)] = k
	}
	return k
}

func (sc *scanner) word(stmt *sqlite.Stmt, col int) string {
	b := sc.bytes(stmt, col)
	if len(b) == 0 {
		return ""
	}
	w, ok := sc.words[string(b)]
	if !ok {
		if sc.words == nil {
			sc.words = make(map[string]string)
		}
		w = string(b)
		sc.words[w] = w
	}
	return w
}

func columnID(stmt *sqlite.Stmt, col int) repo.ID {
	var buf [32]byte
	return repo.IDFromBytes(buf[:stmt.ColumnBytes(col, buf[:])])
}

func columnMD5(stmt *sqlite.Stmt, col int) (m repo.MD5) {
	stmt.ColumnBytes(col, m[:])
	return m
}

// columnBasis decodes a basis that bindBasis encoded.
func columnBasis(stmt *sqlite.Stmt, col int) (b fresh.Basis) {
	var buf [32]byte
	n := stmt.ColumnBytes(col, buf[:])
	if n == len(b.Content.MD5) {
		b.Content.MD5 = repo.MD5(buf[:n])
	} else {
		b.Content.ID = repo.IDFromBytes(buf[:n])
	}
	return b
}

func bindID(stmt *sqlite.Stmt, param int, id repo.ID) {
	if id.IsZero() {
		stmt.BindNull(param)
	} else {
		stmt.BindBytes(param, id.Bytes())
	}
}

func bindMD5(stmt *sqlite.Stmt, param int, m repo.MD5) {
	if m.IsZero() {
		stmt.BindNull(param)
	} else {
		stmt.BindBytes(param, m[:])
	}
}

// bindBasis encodes a basis: the id of its content or, if it has none, the md5. They differ in length.
func bindBasis(stmt *sqlite.Stmt, param int, b fresh.Basis) {
	if b.Content.ID.IsZero() {
		bindMD5(stmt, param, b.Content.MD5)
	} else {
		bindID(stmt, param, b.Content.ID)
	}
}
