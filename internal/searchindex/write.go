package searchindex

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/repo"
)

// A Document is the indexed data of one file.
type Document struct {
	repo.File                  // path, content id and kind
	Outline   *outline.Outline // nil if there is none
	Imports   []outline.Import
	Text      string // its content; "" if it is not searched
	Summary   string // its fresh summary; "" if it has none
	SummaryID []byte // identifies the summary
}

// A Writer changes the index inside one transaction.
type Writer struct {
	*Index
	numbers map[repo.Path]int64 // of paths that were looked up
	targets map[int64]bool      // files whose users may have changed
}

// ErrBusy means that another process is writing the index.
var ErrBusy error = &fault.Error{
	Kind: fault.Locked, Hint: "try again when the other ken is done", Err: errors.New("another process is writing the search index"),
}

// writePatience is how long a writer waits for others, which may be indexing large changes.
const writePatience = 30 * time.Second

// Update runs f in a transaction and commits it. If another process is writing, it returns [ErrBusy] at
// once: the caller can query the index as it is. An empty index has no results, so its update waits.
func (x *Index) Update(ctx context.Context, f func(*Writer) error) error {
	err := x.transaction(ctx, 0, true, f)
	if !errors.Is(err, ErrBusy) {
		return err
	}
	if n, sizeErr := x.Size(ctx); sizeErr != nil || n > 0 {
		return errors.Join(err, sizeErr)
	}
	return x.transaction(ctx, writePatience, true, f)
}

// UpdateTemporarily runs f in a transaction and rolls it back. Queries in f see its changes. If another process is
// writing, UpdateTemporarily waits, and returns [ErrBusy] if that takes too long.
func (x *Index) UpdateTemporarily(ctx context.Context, f func(*Writer) error) error {
	return x.transaction(ctx, writePatience, false, f)
}

func (x *Index) transaction(ctx context.Context, patience time.Duration, commit bool, f func(*Writer) error) error {
	x.conn.SetInterrupt(ctx.Done())
	begin := func() error { return sqlitex.ExecuteTransient(x.conn, `BEGIN IMMEDIATE`, nil) }
	if err := whenFree(ctx, patience, begin); err != nil {
		return err
	}
	err := f(&Writer{Index: x, numbers: make(map[repo.Path]int64), targets: make(map[int64]bool)})
	if err == nil && commit {
		return sqlitex.ExecuteTransient(x.conn, `COMMIT`, nil)
	}
	x.conn.SetInterrupt(nil)
	if x.conn.AutocommitEnabled() { // SQLite rolled back by itself
		return err
	}
	return errors.Join(err, sqlitex.ExecuteTransient(x.conn, `ROLLBACK`, nil))
}

// pathNumber returns the number of a path. It assigns one if the path has none.
func (w *Writer) pathNumber(p repo.Path) (int64, error) {
	if id, ok, err := w.knownNumber(p); ok || err != nil {
		return id, err
	}
	err := w.exec(`INSERT INTO path (path) VALUES (?1)`, p)
	id := w.conn.LastInsertRowID()
	if err == nil {
		w.numbers[p] = id
	}
	return id, err
}

// knownNumber returns the number of a path, if it has one.
func (w *Writer) knownNumber(p repo.Path) (id int64, ok bool, err error) {
	if id, ok = w.numbers[p]; ok {
		return id, true, nil
	}
	if id, ok, err = w.lookUp(p); ok && err == nil {
		w.numbers[p] = id
	}
	return id, ok, err
}

// Put adds a file. The file must not be in the index: see [Writer.Remove].
func (w *Writer) Put(d Document) error {
	id, err := w.pathNumber(d.Path)
	if err != nil {
		return err
	}
	o := d.Outline
	if o == nil {
		o = new(outline.Outline)
	}
	if err := w.exec(`INSERT INTO file VALUES (?1, ?2, ?3, ?4)`, id, d.ID.Bytes(), d.SummaryID, d.Kind); err != nil {
		return err
	}
	imports, err := (&outline.References{Imports: d.Imports}).AppendBinary(nil)
	if err != nil {
		return err
	}
	if err := w.exec(`INSERT INTO facts VALUES (?1, ?2, ?3, ?4, 0, x'')`, id, string(o.Language), o.Package, imports); err != nil {
		return err
	}
	for _, name := range importedNames(d.Imports) {
		if err := w.exec(`INSERT OR IGNORE INTO wanted VALUES (?1, ?2)`, name, id); err != nil {
			return err
		}
	}
	var symbols strings.Builder
	for i := range o.Symbols {
		s := &o.Symbols[i]
		if s.Kind == outline.Heading {
			symbols.WriteString(s.Name + " ")
			continue
		}
		if err := w.exec(`INSERT INTO symbol VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
			id, i, s.Name, s.Qualified, string(s.Kind), s.Line, s.EndLine, s.Exported, s.Depth, s.Signature); err != nil {
			return err
		}
		symbols.WriteString(s.FullName())
		symbols.WriteByte(' ')
		symbols.WriteString(s.Doc)
		symbols.WriteByte(' ')
	}
	for _, field := range []struct{ table, text string }{
		{"in_path", string(d.Path)},
		{"in_symbol", symbols.String()},
		{"in_text", d.Text},
		{"in_note", d.Summary},
	} {
		if err := w.putTerms(field.table, id, field.text); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes a file from the index. Commits still name its path.
func (w *Writer) Remove(p repo.Path) error {
	id, ok, err := w.knownNumber(p)
	if !ok || err != nil {
		return err
	}
	if err := w.recordTargets(id); err != nil {
		return err
	}
	for _, query := range []string{
		`DELETE FROM file WHERE id = ?1`,
		`DELETE FROM facts WHERE id = ?1`,
		`DELETE FROM symbol WHERE file = ?1`,
		`DELETE FROM edge WHERE source = ?1`,
		`DELETE FROM wanted WHERE file = ?1`,
		`DELETE FROM in_path WHERE rowid = ?1`,
		`DELETE FROM in_symbol WHERE rowid = ?1`,
		`DELETE FROM in_text WHERE rowid = ?1`,
		`DELETE FROM in_note WHERE rowid = ?1`,
	} {
		if err := w.exec(query, id); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) exec(query string, args ...any) error {
	return sqlitex.Execute(w.conn, query, &sqlitex.ExecOptions{Args: args})
}

// PutCommit adds a commit.
func (w *Writer) PutCommit(c Commit) error {
	err := w.exec(`INSERT INTO entry (oid, subject, date, files) VALUES (?1, ?2, ?3, ?4)`, c.ID.Bytes(), c.Subject, c.Date, max(c.Files, len(c.Paths)))
	if err != nil {
		return err
	}
	entry := w.conn.LastInsertRowID()
	for _, p := range c.Paths {
		id, err := w.pathNumber(p)
		if err != nil {
			return err
		}
		if err := w.exec(`INSERT OR IGNORE INTO touch VALUES (?1, ?2)`, entry, id); err != nil {
			return err
		}
	}
	return w.putTerms("in_subject", entry, c.Subject)
}

// RemoveCommit removes a commit from the index.
func (w *Writer) RemoveCommit(id repo.ID) error {
	var entry int64
	if err := sqlitex.Execute(w.conn, `SELECT id FROM entry WHERE oid = ?1`, &sqlitex.ExecOptions{
		Args:       []any{id.Bytes()},
		ResultFunc: func(s *sqlite.Stmt) error { entry = s.ColumnInt64(0); return nil },
	}); err != nil || entry == 0 {
		return err
	}
	for _, query := range []string{
		`DELETE FROM entry WHERE id = ?1`,
		`DELETE FROM touch WHERE entry = ?1`,
		`DELETE FROM in_subject WHERE rowid = ?1`,
	} {
		if err := w.exec(query, entry); err != nil {
			return err
		}
	}
	return nil
}

// Note returns the value of a key, "" if there is none.
func (x *Index) Note(key string) (value string, err error) {
	err = sqlitex.Execute(x.conn, `SELECT value FROM note WHERE key = ?1`, &sqlitex.ExecOptions{
		Args:       []any{key},
		ResultFunc: func(s *sqlite.Stmt) error { value = s.ColumnText(0); return nil },
	})
	return value, err
}

// SetNote stores a value under a key, such as the state from which the index was made.
func (w *Writer) SetNote(key, value string) error {
	return w.exec(`INSERT OR REPLACE INTO note VALUES (?1, ?2)`, key, value)
}

// putTerms adds the terms of a text to a row of a table.
func (w *Writer) putTerms(table string, row int64, text string) error {
	terms := dampedTerms(text)
	if terms == "" {
		return nil
	}
	return w.exec(`INSERT INTO `+table+` (rowid, t) VALUES (?1, ?2)`, row, terms)
}

// dampedTerms returns the terms of a text, each repeated as often as the logarithm of its count. A hundred
// occurrences say little more about a file than ten, and the index has a third of the size.
func dampedTerms(text string) string {
	words := make(map[string]int) // split each word once, since most are repeated
	EachWord(text, func(word string) { words[word]++ })
	counts := make(map[string]int, len(words))
	var order []string
	for word, n := range words {
		splitWord(word, func(term string) {
			before := counts[term]
			if before == 0 {
				order = append(order, term)
			}
			counts[term] = before + n
		})
	}
	slices.Sort(order) // equal texts give equal indexes
	var b strings.Builder
	for _, term := range order {
		for range bits.Len(uint(counts[term])) {
			b.WriteString(term)
			b.WriteByte(' ')
		}
	}
	return b.String()
}
