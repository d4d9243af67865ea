package searchindex

import (
	"context"
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"ken/internal/outline"
	"ken/internal/repo"
)

// An Edge says that one file uses a symbol of another.
type Edge struct {
	From, To repo.Path
	Symbol   string // full name in To; "" when the file as a whole is imported
	Kind     outline.UseKind
	Lines    []int // in From
	More     int   // further places
	Exact    bool  // else likely
	Via      repo.Path
}

// PutEdges replaces the edges that leave a file, and the number of its ambiguous uses.
func (w *Writer) PutEdges(from repo.Path, edges []Edge, ambiguous int) error {
	id, ok, err := w.lookUp(from)
	if !ok || err != nil {
		return err
	}
	if err := sqlitex.Execute(w.conn, `DELETE FROM edge WHERE source = ?1`, &sqlitex.ExecOptions{Args: []any{id}}); err != nil {
		return err
	}
	if err := sqlitex.Execute(w.conn, `UPDATE file SET ambiguous = ?2 WHERE id = ?1`, &sqlitex.ExecOptions{Args: []any{id, int64(ambiguous)}}); err != nil {
		return err
	}
	for _, e := range edges {
		to, ok, err := w.lookUp(e.To)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		var via int64
		if e.Via != "" {
			if via, _, err = w.lookUp(e.Via); err != nil {
				return err
			}
		}
		lines := make([]string, len(e.Lines))
		for i, line := range e.Lines {
			lines[i] = strconv.Itoa(line)
		}
		if err := sqlitex.Execute(w.conn, `INSERT INTO edge VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`, &sqlitex.ExecOptions{
			Args: []any{id, to, e.Symbol, string(e.Kind), e.Exact, via, strings.Join(lines, ","), int64(e.More)},
		}); err != nil {
			return err
		}
	}
	return nil
}

const edgeColumns = `SELECT source.path, target.path, edge.symbol, edge.kind, edge.certain, coalesce(via.path, ''), edge.lines, edge.more
	FROM edge JOIN path AS source ON source.id = edge.source JOIN path AS target ON target.id = edge.target LEFT JOIN path AS via ON via.id = edge.via `

// Users returns the edges that lead to a file.
func (x *Index) Users(ctx context.Context, p repo.Path) ([]Edge, error) {
	return x.edges(ctx, `WHERE target.path = ?1 ORDER BY source.path, edge.rowid`, string(p))
}

// UsersBelow returns the edges that lead into a directory from files outside of it.
func (x *Index) UsersBelow(ctx context.Context, dir repo.Path) ([]Edge, error) {
	return x.edges(ctx, `WHERE target.path GLOB ?1 AND NOT source.path GLOB ?1 ORDER BY source.path, edge.rowid`, globBelow(dir))
}

// UsersOfDir returns the edges that lead to the files directly in a directory.
func (x *Index) UsersOfDir(ctx context.Context, dir repo.Path) ([]Edge, error) {
	below := globBelow(dir)
	return x.edges(ctx, `WHERE target.path GLOB ?1 AND NOT target.path GLOB ?2 ORDER BY source.path, edge.rowid`, below, below+"/*")
}

// Uses returns the edges that leave a file.
func (x *Index) Uses(ctx context.Context, p repo.Path) ([]Edge, error) {
	return x.edges(ctx, `WHERE source.path = ?1 ORDER BY target.path, edge.rowid`, string(p))
}

// AllEdges calls f with every edge.
func (x *Index) AllEdges(ctx context.Context, f func(Edge) error) error {
	return x.eachEdge(ctx, f, `ORDER BY source.path, target.path, edge.rowid`)
}

func globBelow(dir repo.Path) string {
	if dir == "" {
		return "*"
	}
	return globLiteral(string(dir)) + "/*"
}

// globLiteral returns a pattern that matches only the text itself.
func globLiteral(text string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(text)
}

func (x *Index) edges(ctx context.Context, where string, args ...any) (list []Edge, err error) {
	err = x.eachEdge(ctx, func(e Edge) error { list = append(list, e); return nil }, where, args...)
	return list, err
}

func (x *Index) eachEdge(ctx context.Context, f func(Edge) error, where string, args ...any) error {
	x.conn.SetInterrupt(ctx.Done())
	return sqlitex.Execute(x.conn, edgeColumns+where, &sqlitex.ExecOptions{Args: args, ResultFunc: func(s *sqlite.Stmt) error {
		e := Edge{
			From: repo.Path(s.ColumnText(0)), To: repo.Path(s.ColumnText(1)), Symbol: s.ColumnText(2), Kind: outline.UseKind(s.ColumnText(3)),
			Exact: s.ColumnBool(4), Via: repo.Path(s.ColumnText(5)), More: s.ColumnInt(7),
		}
		for n := range strings.SplitSeq(s.ColumnText(6), ",") {
			if line, err := strconv.Atoi(n); err == nil {
				e.Lines = append(e.Lines, line)
			}
		}
		return f(e)
	}})
}

// UserCount counts the files that use a file.
func (x *Index) UserCount(ctx context.Context, p repo.Path) (n int, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT count(DISTINCT source) FROM edge JOIN path ON path.id = edge.target WHERE path.path = ?1 AND certain`, &sqlitex.ExecOptions{
		Args: []any{string(p)}, ResultFunc: func(s *sqlite.Stmt) error { n = s.ColumnInt(0); return nil },
	})
	return n, err
}

// Ambiguous returns how many uses of a file have several possible targets.
func (x *Index) Ambiguous(ctx context.Context, p repo.Path) (n int, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT ambiguous FROM file JOIN path USING (id) WHERE path = ?1`, &sqlitex.ExecOptions{
		Args: []any{string(p)}, ResultFunc: func(s *sqlite.Stmt) error { n = s.ColumnInt(0); return nil },
	})
	return n, err
}

// Facts returns the language, package, symbols and imports of a file; ok is false if it is not
// indexed.
func (x *Index) Facts(ctx context.Context, p repo.Path) (o outline.Outline, imports []outline.Import, ok bool, err error) {
	x.conn.SetInterrupt(ctx.Done())
	var id int64
	err = sqlitex.Execute(x.conn, `SELECT file.id, language, package, imports FROM file JOIN path USING (id) WHERE path = ?1`, &sqlitex.ExecOptions{
		Args: []any{string(p)},
		ResultFunc: func(s *sqlite.Stmt) error {
			id, ok = s.ColumnInt64(0), true
			o.Language, o.Package = outline.Language(s.ColumnText(1)), s.ColumnText(2)
			b := make([]byte, s.ColumnLen(3))
			s.ColumnBytes(3, b)
			return json.Unmarshal(b, &imports)
		},
	})
	if err != nil || !ok {
		return o, nil, ok, err
	}
	err = sqlitex.Execute(x.conn, `SELECT `+symbolColumns+` FROM symbol WHERE file = ?1 ORDER BY rowid`, &sqlitex.ExecOptions{
		Args:       []any{id},
		ResultFunc: func(s *sqlite.Stmt) error { o.Symbols = append(o.Symbols, symbolAt(s)); return nil },
	})
	return o, imports, ok, err
}

const symbolColumns = `symbol.name, symbol.qualified, symbol.kind, symbol.line, symbol.end_line, symbol.exported, symbol.depth`

func symbolAt(s *sqlite.Stmt) outline.Symbol {
	return outline.Symbol{
		Name: s.ColumnText(0), Qualified: s.ColumnText(1), Kind: outline.Kind(s.ColumnText(2)),
		Line: s.ColumnInt(3), EndLine: s.ColumnInt(4), Exported: s.ColumnBool(5), Depth: s.ColumnInt(6),
	}
}

// A Declaration is a symbol with the file that declares it.
type Declaration struct {
	Path   repo.Path
	Symbol outline.Symbol
}

// Declarations returns the declarations of a name.
func (x *Index) Declarations(ctx context.Context, name string) (list []Declaration, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT `+symbolColumns+`, path.path FROM symbol JOIN path ON path.id = symbol.file WHERE symbol.name = ?1 ORDER BY path.path, symbol.line`, &sqlitex.ExecOptions{
		Args: []any{name},
		ResultFunc: func(s *sqlite.Stmt) error {
			list = append(list, Declaration{repo.Path(s.ColumnText(7)), symbolAt(s)})
			return nil
		},
	})
	return list, err
}

// Wanting returns the files with an import that ends in one of the names.
func (x *Index) Wanting(ctx context.Context, names []string) (list []repo.Path, err error) {
	x.conn.SetInterrupt(ctx.Done())
	for _, name := range names {
		if err = sqlitex.Execute(x.conn, `SELECT path FROM wanted JOIN path ON path.id = wanted.file WHERE name = ?1`, &sqlitex.ExecOptions{
			Args:       []any{strings.ToLower(name)},
			ResultFunc: func(s *sqlite.Stmt) error { list = append(list, repo.Path(s.ColumnText(0))); return nil },
		}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// wantedNames returns the names of files and directories that imports may mean.
func wantedNames(imports []outline.Import) []string {
	var names []string
	for _, im := range imports {
		names = append(names, strings.ToLower(lastName(im.Module)))
		for _, b := range im.Names {
			if b.Name != "" && b.Name != "*" && b.Name != "default" {
				names = append(names, strings.ToLower(b.Name))
			}
		}
	}
	return names
}

// lastName returns the last part of a module's name, without an extension.
func lastName(module string) string {
	fields := strings.FieldsFunc(strings.TrimSuffix(module, path.Ext(module)), func(r rune) bool { return strings.ContainsRune(`/.:\\`, r) })
	if len(fields) == 0 {
		return module
	}
	return fields[len(fields)-1]
}

// A Pair says that one file uses another, for sure.
type Pair struct {
	From, To repo.Path
}

// Pairs returns the exact uses of files in a directory, each pair of files once.
func (x *Index) Pairs(ctx context.Context, dir repo.Path) (list []Pair, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `
		SELECT source.path, target.path FROM (
			SELECT DISTINCT edge.source AS s, edge.target AS t FROM path JOIN edge ON edge.target = path.id
			WHERE path.path GLOB ?1 AND certain AND edge.source <> edge.target
		) JOIN path AS source ON source.id = s JOIN path AS target ON target.id = t`, &sqlitex.ExecOptions{
		Args: []any{globBelow(dir)},
		ResultFunc: func(s *sqlite.Stmt) error {
			list = append(list, Pair{repo.Path(s.ColumnText(0)), repo.Path(s.ColumnText(1))})
			return nil
		},
	})
	return list, err
}

// A Used is a file with the number of files that use it for sure.
type Used struct {
	Path         repo.Path
	Users, Tests int // users that are no tests, and those that are
}

// MostUsed returns the files of a kind that others use, the most used first. Tests count last.
func (x *Index) MostUsed(ctx context.Context, kind repo.Kind) (list []Used, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `
		SELECT path.path, sum(user.kind <> ?2) AS users, sum(user.kind = ?2) AS tests FROM (
			SELECT DISTINCT source AS s, target AS t FROM edge WHERE certain AND source <> target
		) JOIN file ON file.id = t JOIN file AS user ON user.id = s JOIN path ON path.id = t
		WHERE file.kind = ?1 GROUP BY t ORDER BY users DESC, tests DESC, path.path`, &sqlitex.ExecOptions{
		Args: []any{int64(kind), int64(repo.KindTest)},
		ResultFunc: func(s *sqlite.Stmt) error {
			list = append(list, Used{repo.Path(s.ColumnText(0)), s.ColumnInt(1), s.ColumnInt(2)})
			return nil
		},
	})
	return list, err
}
