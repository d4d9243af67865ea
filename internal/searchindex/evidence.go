package searchindex

import (
	"context"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"ken/internal/repo"
)

// FilesAt returns indexed files by their numbers.
func (x *Index) FilesAt(ctx context.Context, numbers []int64) (map[int64]File, error) {
	x.conn.SetInterrupt(ctx.Done())
	files := make(map[int64]File, len(numbers))
	err := sqlitex.ExecuteTransient(x.conn,
		`SELECT file.id, path, content, kind FROM file JOIN path USING (id) WHERE file.id IN (`+numberList(numbers)+`)`,
		&sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
			f := File{Number: s.ColumnInt64(0), Path: repo.Path(s.ColumnText(1)), ID: idAt(s, 2), Kind: repo.Kind(s.ColumnInt(3))}
			files[f.Number] = f
			return nil
		}})
	return files, err
}

func numberList(numbers []int64) string {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(list, ",")
}

// Among returns how many rows of a field have a term, and which of the given rows have it.
func (x *Index) Among(ctx context.Context, field Field, term string, rows []int64) (count int, having map[int64]bool, err error) {
	x.conn.SetInterrupt(ctx.Done())
	table := string(field)
	having = make(map[int64]bool)
	err = sqlitex.ExecuteTransient(x.conn,
		`SELECT count(*), coalesce(group_concat(CASE WHEN rowid IN (`+numberList(rows)+`) THEN rowid END), '')
		FROM `+table+` WHERE `+table+` MATCH ?1`,
		&sqlitex.ExecOptions{
			Args: []any{`"` + strings.ReplaceAll(term, `"`, ``) + `"`},
			ResultFunc: func(s *sqlite.Stmt) error {
				count = s.ColumnInt(0)
				for number := range strings.SplitSeq(s.ColumnText(1), ",") {
					if row, err := strconv.ParseInt(number, 10, 64); err == nil {
						having[row] = true
					}
				}
				return nil
			},
		})
	return count, having, err
}

// A Touch is a commit that touched a file.
type Touch struct {
	Entry int64
	Files int // number of files that the commit touched
}

// TouchesOf returns the indexed commits that touched a file.
func (x *Index) TouchesOf(ctx context.Context, file int64) (list []Touch, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT entry.id, files FROM touch JOIN entry ON entry.id = touch.entry WHERE touch.path = ?1`, &sqlitex.ExecOptions{
		Args:       []any{file},
		ResultFunc: func(s *sqlite.Stmt) error { list = append(list, Touch{s.ColumnInt64(0), s.ColumnInt(1)}); return nil },
	})
	return list, err
}

// Ages returns the newest commits, each with the number of commits that are newer.
func (x *Index) Ages(ctx context.Context, limit int) (map[int64]int, error) {
	x.conn.SetInterrupt(ctx.Done())
	ages := make(map[int64]int)
	err := sqlitex.Execute(x.conn, `SELECT id FROM entry ORDER BY date DESC, oid LIMIT ?1`, &sqlitex.ExecOptions{
		Args:       []any{int64(limit)},
		ResultFunc: func(s *sqlite.Stmt) error { ages[s.ColumnInt64(0)] = len(ages); return nil },
	})
	return ages, err
}
