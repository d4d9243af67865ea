package searchindex

import (
	"context"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"ken/internal/repo"
)

// An Entry is an indexed file: its path, the id of its content and its kind.
type Entry struct {
	repo.File
	Number    int64
	SummaryID string // set only by Files
}

// fileColumns are the columns that entryAt reads.
const fileColumns = `file.id, path.path, file.content, file.kind`

func entryAt(s *sqlite.Stmt) Entry {
	f := repo.File{Path: repo.Path(s.ColumnText(1)), ID: idAt(s, 2), Kind: repo.Kind(s.ColumnInt(3))}
	return Entry{File: f, Number: s.ColumnInt64(0)}
}

func idAt(s *sqlite.Stmt, column int) repo.ID { return repo.IDFromBytes(bytesAt(s, column)) }

func bytesAt(s *sqlite.Stmt, column int) []byte {
	b := make([]byte, s.ColumnLen(column))
	s.ColumnBytes(column, b)
	return b
}

// Files lists the indexed files by path.
func (x *Index) Files(ctx context.Context) (map[repo.Path]Entry, error) {
	files := make(map[repo.Path]Entry)
	err := x.each(ctx, `SELECT `+fileColumns+`, file.note FROM file JOIN path USING (id)`, func(s *sqlite.Stmt) error {
		f := entryAt(s)
		f.SummaryID = string(bytesAt(s, 4))
		files[f.Path] = f
		return nil
	})
	return files, err
}

// PathsOfKind lists the indexed files of a kind.
func (x *Index) PathsOfKind(ctx context.Context, kind repo.Kind) ([]repo.Path, error) {
	return x.paths(ctx, `SELECT path FROM file JOIN path USING (id) WHERE kind = ?1`, int(kind))
}

// Size returns the number of indexed files.
func (x *Index) Size(ctx context.Context) (int, error) {
	return x.number(ctx, `SELECT count(*) FROM file`)
}

// File returns an indexed file by its path; its number is 0 if there is none.
func (x *Index) File(ctx context.Context, p repo.Path) (f Entry, err error) {
	err = x.each(ctx, `SELECT `+fileColumns+` FROM file JOIN path USING (id) WHERE path = ?1`, func(s *sqlite.Stmt) error { f = entryAt(s); return nil }, p)
	return f, err
}

// FileAt returns an indexed file by its number; its path is "" if there is none.
func (x *Index) FileAt(ctx context.Context, number int64) (f Entry, err error) {
	err = x.each(ctx, `SELECT `+fileColumns+` FROM file JOIN path USING (id) WHERE file.id = ?1`, func(s *sqlite.Stmt) error { f = entryAt(s); return nil }, number)
	return f, err
}

// FilesAt returns indexed files by their numbers.
func (x *Index) FilesAt(ctx context.Context, numbers []int64) (map[int64]Entry, error) {
	x.conn.SetInterrupt(ctx.Done())
	files := make(map[int64]Entry, len(numbers))
	err := sqlitex.ExecuteTransient(x.conn, `SELECT `+fileColumns+` FROM file JOIN path USING (id) WHERE file.id IN (`+numberList(numbers)+`)`, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error {
			f := entryAt(s)
			files[f.Number] = f
			return nil
		},
	})
	return files, err
}

func numberList(numbers []int64) string {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(list, ",")
}

// PathNumber returns the number of a path, which may be one that only commits name.
func (x *Index) PathNumber(ctx context.Context, p repo.Path) (number int64, ok bool, err error) {
	x.conn.SetInterrupt(ctx.Done())
	return x.lookUp(p)
}

func (x *Index) lookUp(p repo.Path) (number int64, ok bool, err error) {
	err = sqlitex.Execute(x.conn, `SELECT id FROM path WHERE path = ?1`, &sqlitex.ExecOptions{
		Args: []any{p},
		ResultFunc: func(s *sqlite.Stmt) error {
			number, ok = s.ColumnInt64(0), true
			return nil
		},
	})
	return number, ok, err
}

// PathsEndingIn returns the indexed files whose path is name or ends in /name.
func (x *Index) PathsEndingIn(ctx context.Context, name string, limit int) ([]repo.Path, error) {
	return x.paths(ctx, `SELECT path FROM path JOIN file USING (id) WHERE path = ?1 OR path GLOB ?2 ORDER BY length(path), path LIMIT ?3`,
		name, "*/"+globLiteral(name), limit)
}
