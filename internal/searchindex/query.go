package searchindex

import (
	"context"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"ken/internal/repo"
)

// A Field is a searchable part of a file or of a commit.
type Field string

// The fields. The rows of InSubject are commits, those of the others are files.
const (
	InPath    Field = "in_path"
	InSymbol  Field = "in_symbol"
	InText    Field = "in_text"
	InNote    Field = "in_note"
	InSubject Field = "in_subject"
)

// A File is an indexed file.
type File struct {
	Number int64
	Path   repo.Path
	ID     repo.ID
	NoteID string
	Kind   repo.Kind
}

// Files lists the indexed files by path.
func (x *Index) Files(ctx context.Context) (map[repo.Path]File, error) {
	x.conn.SetInterrupt(ctx.Done())
	files := make(map[repo.Path]File)
	err := sqlitex.Execute(x.conn, `SELECT file.id, path, content, note, kind FROM file JOIN path USING (id)`, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error {
			f := File{Number: s.ColumnInt64(0), Path: repo.Path(s.ColumnText(1)), ID: idAt(s, 2), Kind: repo.Kind(s.ColumnInt(4))}
			note := make([]byte, s.ColumnLen(3))
			s.ColumnBytes(3, note)
			f.NoteID = string(note)
			files[f.Path] = f
			return nil
		},
	})
	return files, err
}

func idAt(s *sqlite.Stmt, column int) repo.ID {
	b := make([]byte, s.ColumnLen(column))
	s.ColumnBytes(column, b)
	return repo.IDFromBytes(b)
}

// Commits lists the ids of the indexed commits.
func (x *Index) Commits(ctx context.Context) (map[repo.ID]bool, error) {
	x.conn.SetInterrupt(ctx.Done())
	ids := make(map[repo.ID]bool)
	err := sqlitex.Execute(x.conn, `SELECT oid FROM entry`, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error { ids[idAt(s, 0)] = true; return nil },
	})
	return ids, err
}

// Note returns the value of a key, "" if there is none.
func (x *Index) Note(key string) (value string, err error) {
	err = sqlitex.Execute(x.conn, `SELECT value FROM note WHERE key = ?1`, &sqlitex.ExecOptions{
		Args:       []any{key},
		ResultFunc: func(s *sqlite.Stmt) error { value = s.ColumnText(0); return nil },
	})
	return value, err
}

// A Hit is a row that has some of the terms, with its BM25 score: higher is better.
type Hit struct {
	Row   int64
	Score float64
}

// Match returns the rows of a field that have any of the terms, best first.
func (x *Index) Match(ctx context.Context, field Field, terms []string, limit int) ([]Hit, error) {
	x.conn.SetInterrupt(ctx.Done())
	if len(terms) == 0 {
		return nil, nil
	}
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = `"` + strings.ReplaceAll(t, `"`, ``) + `"`
	}
	var hits []Hit
	err := sqlitex.Execute(x.conn,
		`SELECT rowid, -bm25(`+string(field)+`) FROM `+string(field)+` WHERE `+string(field)+` MATCH ?1 ORDER BY rank LIMIT ?2`,
		&sqlitex.ExecOptions{
			Args:       []any{strings.Join(quoted, " OR "), int64(limit)},
			ResultFunc: func(s *sqlite.Stmt) error { hits = append(hits, Hit{s.ColumnInt64(0), s.ColumnFloat(1)}); return nil },
		})
	return hits, err
}

// An Entry is an indexed commit.
type Entry struct {
	Number  int64
	ID      repo.ID
	Subject string
	Date    string
	Files   int // number of files that it touched
}

// Touched calls f with each commit among entries and each indexed file that it touched.
func (x *Index) Touched(ctx context.Context, entries []Hit, f func(e Hit, files int, file int64)) error {
	x.conn.SetInterrupt(ctx.Done())
	for _, e := range entries {
		err := sqlitex.Execute(x.conn, `SELECT path, files FROM touch JOIN entry ON entry.id = touch.entry JOIN file ON file.id = touch.path WHERE touch.entry = ?1`, &sqlitex.ExecOptions{
			Args:       []any{e.Row},
			ResultFunc: func(s *sqlite.Stmt) error { f(e, s.ColumnInt(1), s.ColumnInt64(0)); return nil },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A Companion is a file that commits touched together with another one.
type Companion struct {
	File     int64
	Together int // commits that touched both
	Of       int // commits that touched the companion
}

// Companions returns the files that change together with a file, most often first, and how
// many commits touched the file. Commits of more than maxFiles files do not count.
func (x *Index) Companions(ctx context.Context, file int64, maxFiles, limit int) (list []Companion, commits int, err error) {
	x.conn.SetInterrupt(ctx.Done())
	if err := sqlitex.Execute(x.conn, `SELECT count(*) FROM touch JOIN entry ON entry.id = touch.entry WHERE path = ?1 AND files <= ?2`, &sqlitex.ExecOptions{
		Args:       []any{file, int64(maxFiles)},
		ResultFunc: func(s *sqlite.Stmt) error { commits = s.ColumnInt(0); return nil },
	}); err != nil || commits == 0 {
		return nil, commits, err
	}
	err = sqlitex.Execute(x.conn, `
		SELECT other.path, count(*) AS together
		FROM touch JOIN entry ON entry.id = touch.entry JOIN touch AS other ON other.entry = touch.entry JOIN file ON file.id = other.path
		WHERE touch.path = ?1 AND other.path <> ?1 AND files <= ?2
		GROUP BY other.path ORDER BY together DESC, other.path LIMIT ?3`, &sqlitex.ExecOptions{
		Args: []any{file, int64(maxFiles), int64(limit)},
		ResultFunc: func(s *sqlite.Stmt) error {
			list = append(list, Companion{File: s.ColumnInt64(0), Together: s.ColumnInt(1)})
			return nil
		},
	})
	for i := range list {
		if err == nil {
			err = sqlitex.Execute(x.conn, `SELECT count(*) FROM touch JOIN entry ON entry.id = touch.entry WHERE path = ?1 AND files <= ?2`, &sqlitex.ExecOptions{
				Args:       []any{list[i].File, int64(maxFiles)},
				ResultFunc: func(s *sqlite.Stmt) error { list[i].Of = s.ColumnInt(0); return nil },
			})
		}
	}
	return list, commits, err
}

// FileAt returns an indexed file by its number.
func (x *Index) FileAt(ctx context.Context, number int64) (f File, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT path, content, kind FROM file JOIN path USING (id) WHERE file.id = ?1`, &sqlitex.ExecOptions{
		Args: []any{number},
		ResultFunc: func(s *sqlite.Stmt) error {
			f = File{Number: number, Path: repo.Path(s.ColumnText(0)), ID: idAt(s, 1), Kind: repo.Kind(s.ColumnInt(2))}
			return nil
		},
	})
	return f, err
}

// FileNumber returns the number of an indexed file.
func (x *Index) FileNumber(ctx context.Context, p repo.Path) (number int64, ok bool, err error) {
	x.conn.SetInterrupt(ctx.Done())
	return x.lookUp(p)
}

// LastCommits returns the newest commits that touched a path.
func (x *Index) LastCommits(ctx context.Context, p repo.Path, limit int) (list []Entry, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `
		SELECT entry.id, oid, subject, date, files FROM path JOIN touch ON touch.path = path.id JOIN entry ON entry.id = touch.entry
		WHERE path.path = ?1 ORDER BY date DESC LIMIT ?2`, &sqlitex.ExecOptions{
		Args: []any{string(p), int64(limit)},
		ResultFunc: func(s *sqlite.Stmt) error {
			list = append(list, Entry{s.ColumnInt64(0), idAt(s, 1), s.ColumnText(2), s.ColumnText(3), s.ColumnInt(4)})
			return nil
		},
	})
	return list, err
}

// Touches counts the indexed commits that touched each file.
func (x *Index) Touches(ctx context.Context) (map[int64]int, error) {
	x.conn.SetInterrupt(ctx.Done())
	counts := make(map[int64]int)
	err := sqlitex.Execute(x.conn, `SELECT path, count(*) FROM touch GROUP BY path`, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error { counts[s.ColumnInt64(0)] = s.ColumnInt(1); return nil },
	})
	return counts, err
}

// Count returns the number of rows of a field that have a term.
func (x *Index) Count(ctx context.Context, field Field, term string) (n int, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT count(*) FROM `+string(field)+` WHERE `+string(field)+` MATCH ?1`, &sqlitex.ExecOptions{
		Args:       []any{`"` + strings.ReplaceAll(term, `"`, ``) + `"`},
		ResultFunc: func(s *sqlite.Stmt) error { n = s.ColumnInt(0); return nil },
	})
	return n, err
}

// History returns how many commits are indexed, and the date of the oldest one.
func (x *Index) History(ctx context.Context) (commits int, since string, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT count(*), coalesce(min(date), '') FROM entry`, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error { commits, since = s.ColumnInt(0), s.ColumnText(1); return nil },
	})
	return commits, since, err
}

// A Neighbour is a file outside of a directory that commits touched together with files in it.
type Neighbour struct {
	Path     repo.Path
	Kind     repo.Kind
	Together int // commits that touched it and the directory
}

// Neighbours returns the files that change together with a directory, most often first, and
// how many commits touched the directory. Commits of more than maxFiles files do not count.
func (x *Index) Neighbours(ctx context.Context, dir repo.Path, maxFiles, limit int) (list []Neighbour, commits int, err error) {
	x.conn.SetInterrupt(ctx.Done())
	const inside = `WITH inside AS (
		SELECT DISTINCT touch.entry FROM path JOIN touch ON touch.path = path.id JOIN entry ON entry.id = touch.entry
		WHERE path.path GLOB ?1 AND entry.files <= ?2) `
	if err := sqlitex.Execute(x.conn, inside+`SELECT count(*) FROM inside`, &sqlitex.ExecOptions{
		Args:       []any{globBelow(dir), int64(maxFiles)},
		ResultFunc: func(s *sqlite.Stmt) error { commits = s.ColumnInt(0); return nil },
	}); err != nil || commits == 0 {
		return nil, commits, err
	}
	err = sqlitex.Execute(x.conn, inside+`
		SELECT path.path, file.kind, count(*) AS together
		FROM inside JOIN touch ON touch.entry = inside.entry JOIN file ON file.id = touch.path JOIN path ON path.id = touch.path
		WHERE NOT path.path GLOB ?1 GROUP BY touch.path ORDER BY together DESC, path.path LIMIT ?3`, &sqlitex.ExecOptions{
		Args: []any{globBelow(dir), int64(maxFiles), int64(limit)},
		ResultFunc: func(s *sqlite.Stmt) error {
			list = append(list, Neighbour{repo.Path(s.ColumnText(0)), repo.Kind(s.ColumnInt(1)), s.ColumnInt(2)})
			return nil
		},
	})
	return list, commits, err
}

// LastCommitsBelow returns the newest commits that touched a file in a directory.
func (x *Index) LastCommitsBelow(ctx context.Context, dir repo.Path, limit int) (list []Entry, err error) {
	x.conn.SetInterrupt(ctx.Done())
	query := `
		SELECT DISTINCT entry.id, oid, subject, date, files FROM path JOIN touch ON touch.path = path.id JOIN entry ON entry.id = touch.entry
		WHERE path.path GLOB ?1 ORDER BY date DESC LIMIT ?2`
	args := []any{globBelow(dir), int64(limit)}
	if dir == "" {
		query = `SELECT id, oid, subject, date, files FROM entry ORDER BY date DESC LIMIT ?1`
		args = args[1:]
	}
	err = sqlitex.Execute(x.conn, query, &sqlitex.ExecOptions{
		Args: args,
		ResultFunc: func(s *sqlite.Stmt) error {
			list = append(list, Entry{s.ColumnInt64(0), idAt(s, 1), s.ColumnText(2), s.ColumnText(3), s.ColumnInt(4)})
			return nil
		},
	})
	return list, err
}

// Having returns the files of a kind that have all of the terms in a field.
func (x *Index) Having(ctx context.Context, field Field, kind repo.Kind, terms []string, limit int) (list []File, err error) {
	x.conn.SetInterrupt(ctx.Done())
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = `"` + strings.ReplaceAll(t, `"`, ``) + `"`
	}
	if len(quoted) == 0 {
		return nil, nil
	}
	err = sqlitex.Execute(x.conn,
		`SELECT file.id, path.path, content, kind FROM `+string(field)+` JOIN file ON file.id = `+string(field)+`.rowid JOIN path ON path.id = file.id
		WHERE `+string(field)+` MATCH ?1 AND kind = ?3 ORDER BY rank LIMIT ?2`,
		&sqlitex.ExecOptions{
			Args: []any{strings.Join(quoted, " AND "), int64(limit), int64(kind)},
			ResultFunc: func(s *sqlite.Stmt) error {
				list = append(list, File{Number: s.ColumnInt64(0), Path: repo.Path(s.ColumnText(1)), ID: idAt(s, 2), Kind: repo.Kind(s.ColumnInt(3))})
				return nil
			},
		})
	return list, err
}

// File returns an indexed file by its path; its number is 0 if there is none.
func (x *Index) File(ctx context.Context, p repo.Path) (f File, err error) {
	id, ok, err := x.lookUp(p)
	if err != nil || !ok {
		return File{}, err
	}
	f, err = x.FileAt(ctx, id)
	if f.Path == "" { // a path that is no longer indexed
		return File{}, err
	}
	return f, err
}

// PathsEndingIn returns the indexed files whose path is name or ends in /name.
func (x *Index) PathsEndingIn(ctx context.Context, name string, limit int) (list []repo.Path, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT path FROM path JOIN file USING (id) WHERE path = ?1 OR path GLOB ?2 ORDER BY length(path) LIMIT ?3`, &sqlitex.ExecOptions{
		Args:       []any{name, "*/" + globLiteral(name), int64(limit)},
		ResultFunc: func(s *sqlite.Stmt) error { list = append(list, repo.Path(s.ColumnText(0))); return nil },
	})
	return list, err
}
