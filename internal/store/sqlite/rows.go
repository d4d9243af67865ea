package sqlite

import (
	"context"
	"iter"
	"strings"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

// Rows implements [registry.Store]. The rows are those of the moment the loop
// began, whatever is committed meanwhile; the loop may use the store.
func (s *Store) Rows(ctx context.Context, worktree string) iter.Seq2[registry.Row, error] {
	return func(yield func(registry.Row, error) bool) {
		rows, err := s.AllRows(ctx, worktree)
		if err != nil {
			yield(registry.Row{}, err)
			return
		}
		for r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// AllRows is Rows for a caller that wants to know at once whether it failed. The
// rows are read whole, so that they are of one state: some 20 MB for 100,000.
// They can be ranged over once.
func (s *Store) AllRows(ctx context.Context, worktree string) (iter.Seq[registry.Row], error) {
	var chunks [][]registry.Row
	err := s.read(ctx, func(conn *sqlite.Conn) (err error) {
		chunks, err = rowsOf(conn, worktree)
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(yield func(registry.Row) bool) {
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

// rowsOf reads a worktree's rows in byte order of their paths, in chunks that
// never move.
func rowsOf(conn *sqlite.Conn, worktree string) (chunks [][]registry.Row, err error) {
	stmt, err := conn.Prepare(`
		SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
		FROM file WHERE worktree = (SELECT id FROM worktree WHERE name = ?1)
		ORDER BY path`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	stmt.BindText(1, worktree)
	var scan scanner
	chunk := make([]registry.Row, 0, 64)
	for {
		more, err := stmt.Step()
		if err != nil {
			return nil, err
		}
		if !more {
			return append(chunks, chunk), nil
		}
		if len(chunk) == cap(chunk) {
			chunks = append(chunks, chunk)
			chunk = make([]registry.Row, 0, 2048)
		}
		chunk = append(chunk, scan.row(stmt))
	}
}

// RowsOf implements [registry.Store].
func (s *Store) RowsOf(ctx context.Context, worktree string, paths []repo.Path) (map[repo.Path]registry.Row, error) {
	found := make(map[repo.Path]registry.Row, len(paths))
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
			ok, err := stmt.Step()
			if err != nil {
				return err
			}
			if ok {
				found[p] = scan.row(stmt)
			}
			if err := stmt.Reset(); err != nil {
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

// Exceptions implements [registry.Store].
func (s *Store) Exceptions(ctx context.Context, worktree string, marks registry.Marks) (map[repo.Path]registry.Row, error) {
	query := `
		SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
		FROM file
		WHERE worktree = (SELECT id FROM worktree WHERE name = ?1) AND (marks & ?2 OR state = 'stale')`
	if marks == registry.Exceptional {
		// Left alone, SQLite would read all rows for these, too.
		query = `
		SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
		FROM file INDEXED BY file_exception
		WHERE worktree = (SELECT id FROM worktree WHERE name = ?1) AND (marks & 3 OR state = 'stale')`
	}
	found := make(map[repo.Path]registry.Row)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		clear(found)
		stmt, err := conn.Prepare(query)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindText(1, worktree)
		if stmt.BindParamCount() > 1 {
			stmt.BindInt64(2, int64(marks))
		}
		var scan scanner
		for {
			more, err := stmt.Step()
			if !more || err != nil {
				return err
			}
			r := scan.row(stmt)
			found[r.Path] = r
		}
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Tally implements [registry.Store]. A text whose file's content is not known
// counts as stale: it is not vouched for.
func (s *Store) Tally(ctx context.Context, worktree string) (registry.Tally, error) {
	var t registry.Tally
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		t = registry.Tally{}
		stmt, err := conn.Prepare(`SELECT files, fresh, stale, none, excluded FROM worktree WHERE name = ?1`)
		if err != nil {
			return err
		}
		defer stmt.Reset()
		stmt.BindText(1, worktree)
		if ok, err := stmt.Step(); !ok || err != nil {
			return err
		}
		t = registry.Tally{
			Files:    stmt.ColumnInt(0),
			Fresh:    stmt.ColumnInt(1),
			Stale:    stmt.ColumnInt(2),
			None:     stmt.ColumnInt(3),
			Excluded: stmt.ColumnInt(4),
		}
		return nil
	})
	return t, err
}

// A scanner makes rows of what a statement returns, with few allocations: paths
// share memory with their neighbours, and words that repeat are kept once.
type scanner struct {
	buf   []byte
	paths *strings.Builder
	kinds map[string]repo.Kind
	words map[string]string
}

// row reads the columns path, kind, mode, content_id, content_md5, size, mtime,
// ctime, inode, marks, excluded and about.
func (sc *scanner) row(stmt *sqlite.Stmt) registry.Row {
	return registry.Row{
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
		Marks:    registry.Marks(stmt.ColumnInt(9)),
		Excluded: sc.word(stmt, 10),
		About:    columnBasis(stmt, 11),
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
		// The first is small, for callers that want one row.
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
		// A kind that only another ken knows is unknown here, not a failure.
		k, _ = repo.ParseKind(string(b))
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

// columnBasis reads what bindBasis wrote.
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

// bindBasis writes what decides whether a basis holds: its id, else its md5.
// Their lengths tell them apart.
func bindBasis(stmt *sqlite.Stmt, param int, b fresh.Basis) {
	if b.Content.ID.IsZero() {
		bindMD5(stmt, param, b.Content.MD5)
	} else {
		bindID(stmt, param, b.Content.ID)
	}
}
