package searchindex

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"ken/internal/repo"
)

// FileName returns the name of the index of the worktree whose git directory is gitDir.
func FileName(gitDir string) string { return filepath.Join(gitDir, "ken", "cache", "search.db") }

// OpenExisting opens an index without an update. It returns nil if no index exists that this version can
// read.
func OpenExisting(ctx context.Context, file string) *Index {
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite)
	if err != nil {
		return nil
	}
	conn.SetInterrupt(ctx.Done())
	found, err := sqlitex.ResultInt(conn.Prep(`PRAGMA user_version`))
	if err != nil || found != version {
		_ = conn.Close() // nothing was written
		return nil
	}
	return &Index{conn: conn}
}

// MatchAll returns the files that have all of the terms in a field, best first.
func (x *Index) MatchAll(ctx context.Context, field Field, terms []string, limit int) (list []File, err error) {
	x.conn.SetInterrupt(ctx.Done())
	if len(terms) == 0 {
		return nil, nil
	}
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = `"` + strings.ReplaceAll(t, `"`, ``) + `"`
	}
	table := string(field)
	err = sqlitex.Execute(x.conn,
		`SELECT file.id, path.path, file.content, file.kind FROM `+table+` JOIN file ON file.id = `+table+`.rowid JOIN path ON path.id = file.id
		WHERE `+table+` MATCH ?1 ORDER BY rank LIMIT ?2`,
		&sqlitex.ExecOptions{
			Args: []any{strings.Join(quoted, " AND "), int64(limit)},
			ResultFunc: func(s *sqlite.Stmt) error {
				list = append(list, File{Number: s.ColumnInt64(0), Path: repo.Path(s.ColumnText(1)), ID: idAt(s, 2), Kind: repo.Kind(s.ColumnInt(3))})
				return nil
			},
		})
	return list, err
}

// Size returns the number of indexed files.
func (x *Index) Size(ctx context.Context) (n int, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT count(*) FROM file`, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error { n = s.ColumnInt(0); return nil },
	})
	return n, err
}

// UserFiles returns the files with an edge to a file.
func (x *Index) UserFiles(ctx context.Context, p repo.Path) (list []repo.Path, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn,
		`SELECT source.path FROM path JOIN edge ON edge.target = path.id JOIN path AS source ON source.id = edge.source WHERE path.path = ?1`,
		&sqlitex.ExecOptions{
			Args:       []any{string(p)},
			ResultFunc: func(s *sqlite.Stmt) error { list = append(list, repo.Path(s.ColumnText(0))); return nil },
		})
	return list, err
}

// UsesBelow returns the edges that leave a directory.
func (x *Index) UsesBelow(ctx context.Context, dir repo.Path) ([]Edge, error) {
	return x.edges(ctx, `WHERE source.path GLOB ?1 AND NOT target.path GLOB ?1 ORDER BY target.path, source.path`, globBelow(dir))
}

// SymbolNames returns the names of declared symbols that have about so many bytes, each once.
func (x *Index) SymbolNames(ctx context.Context, shortest, longest int) (names []string, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT DISTINCT name FROM symbol WHERE length(name) BETWEEN ?1 AND ?2 ORDER BY name`, &sqlitex.ExecOptions{
		Args:       []any{int64(shortest), int64(longest)},
		ResultFunc: func(s *sqlite.Stmt) error { names = append(names, s.ColumnText(0)); return nil },
	})
	return names, err
}
