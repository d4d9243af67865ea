package searchindex

import (
	"context"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"ken/internal/repo"
)

// A Field is a searchable part of a file or of a commit. Its value is the name of its table.
type Field string

// The fields. The rows of InSubject are commits, those of the others are files.
const (
	InPath    Field = "in_path"
	InSymbol  Field = "in_symbol"
	InText    Field = "in_text"
	InSummary Field = "in_note"
	InSubject Field = "in_subject"
)

// A Hit is a row that has some of the terms, with its BM25 score: higher is better.
type Hit struct {
	Row   int64
	Score float64
}

// expression returns the FTS5 expression for terms, combined by an operator.
func expression(terms []string, operator string) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = `"` + strings.ReplaceAll(t, `"`, ``) + `"`
	}
	return strings.Join(quoted, " "+operator+" ")
}

// Match returns the rows of a field that have any of the terms, best first.
func (x *Index) Match(ctx context.Context, field Field, terms []string, limit int) (hits []Hit, err error) {
	if len(terms) == 0 {
		return nil, nil
	}
	table := string(field)
	err = x.each(ctx, `SELECT rowid, -bm25(`+table+`) FROM `+table+` WHERE `+table+` MATCH ?1 ORDER BY rank LIMIT ?2`, func(s *sqlite.Stmt) error {
		hits = append(hits, Hit{s.ColumnInt64(0), s.ColumnFloat(1)})
		return nil
	}, expression(terms, "OR"), limit)
	return hits, err
}

const filesWith = `SELECT ` + fileColumns + ` FROM in_text JOIN file ON file.id = in_text.rowid JOIN path ON path.id = file.id WHERE in_text MATCH ?1 `

// FilesWith returns the files whose text has all of the terms, best first.
func (x *Index) FilesWith(ctx context.Context, terms []string, limit int) ([]Entry, error) {
	return x.filesWith(ctx, terms, filesWith+`ORDER BY rank, path.path LIMIT ?2`, limit)
}

// DocumentsWith returns the documents whose text has all of the terms, best first.
func (x *Index) DocumentsWith(ctx context.Context, terms []string, limit int) ([]Entry, error) {
	return x.filesWith(ctx, terms, filesWith+`AND kind = ?3 ORDER BY rank, path.path LIMIT ?2`, limit, repo.KindDoc)
}

func (x *Index) filesWith(ctx context.Context, terms []string, query string, args ...any) (list []Entry, err error) {
	if len(terms) == 0 {
		return nil, nil
	}
	args = append([]any{expression(terms, "AND")}, args...)
	err = x.each(ctx, query, func(s *sqlite.Stmt) error { list = append(list, entryAt(s)); return nil }, args...)
	return list, err
}

// Count returns the number of rows of a field that have a term.
func (x *Index) Count(ctx context.Context, field Field, term string) (int, error) {
	table := string(field)
	return x.number(ctx, `SELECT count(*) FROM `+table+` WHERE `+table+` MATCH ?1`, expression([]string{term}, ""))
}

// RowsWithTerm returns how many rows of a field have a term, and which of the given rows have it.
func (x *Index) RowsWithTerm(ctx context.Context, field Field, term string, rows []int64) (count int, found map[int64]bool, err error) {
	x.conn.SetInterrupt(ctx.Done())
	table := string(field)
	found = make(map[int64]bool)
	err = sqlitex.ExecuteTransient(x.conn,
		`SELECT count(*), coalesce(group_concat(CASE WHEN rowid IN (`+numberList(rows)+`) THEN rowid END), '')
		FROM `+table+` WHERE `+table+` MATCH ?1`,
		&sqlitex.ExecOptions{
			Args: []any{expression([]string{term}, "")},
			ResultFunc: func(s *sqlite.Stmt) error {
				count = s.ColumnInt(0)
				for number := range strings.SplitSeq(s.ColumnText(1), ",") {
					if row, err := strconv.ParseInt(number, 10, 64); err == nil {
						found[row] = true
					}
				}
				return nil
			},
		})
	return count, found, err
}
