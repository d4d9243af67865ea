package searchindex

import (
	"context"
	"encoding/binary"
	"errors"
	"path"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"ken/internal/outline"
	"ken/internal/repo"
)

// An Edge records that one file uses a symbol of another.
type Edge struct {
	From, To repo.Path
	Symbol   string // full name in To; "" if the file as a whole is imported
	Kind     outline.UseKind
	Lines    []int // in From
	More     int   // number of further places
	Exact    bool  // otherwise likely
	Via      repo.Path
}

// PutEdges replaces the edges that leave a file, and the number of its ambiguous uses. The
// edges to one file must follow each other.
func (w *Writer) PutEdges(from repo.Path, edges []Edge, ambiguous int) error {
	id, ok, err := w.knownNumber(from)
	if !ok || err != nil {
		return err
	}
	if err := w.noteTargets(id); err != nil {
		return err
	}
	if err := w.exec(`DELETE FROM edge WHERE source = ?1`, id); err != nil {
		return err
	}
	if err := w.exec(`UPDATE facts SET ambiguous = ?2 WHERE id = ?1`, id, int64(ambiguous)); err != nil {
		return err
	}
	for len(edges) > 0 {
		n := 1
		for n < len(edges) && edges[n].To == edges[0].To {
			n++
		}
		if err := w.putEdge(id, edges[:n]); err != nil {
			return err
		}
		edges = edges[n:]
	}
	return nil
}

// putEdge adds the uses between two files.
func (w *Writer) putEdge(from int64, uses []Edge) error {
	to, ok, err := w.knownNumber(uses[0].To)
	if !ok || err != nil {
		return err
	}
	var packed []byte
	certain := false
	for i := range uses {
		u := &uses[i]
		via := int64(0)
		if u.Via != "" {
			if via, _, err = w.knownNumber(u.Via); err != nil {
				return err
			}
		}
		packed = appendUse(packed, u, via)
		certain = certain || u.Exact
	}
	w.targets[to] = true
	return w.exec(`INSERT INTO edge VALUES (?1, ?2, ?3, ?4)`, from, to, certain, packed)
}

// appendUse appends one use in binary form: its symbol and kind, whether it is exact, the
// number of the path between, and the lines.
func appendUse(out []byte, e *Edge, via int64) []byte {
	for _, text := range []string{e.Symbol, string(e.Kind)} {
		out = binary.AppendUvarint(out, uint64(len(text)))
		out = append(out, text...)
	}
	exact := byte(0)
	if e.Exact {
		exact = 1
	}
	out = append(out, exact)
	out = binary.AppendUvarint(out, uint64(via))
	out = binary.AppendUvarint(out, uint64(e.More))
	out = binary.AppendUvarint(out, uint64(len(e.Lines)))
	for _, line := range e.Lines {
		out = binary.AppendUvarint(out, uint64(line))
	}
	return out
}

var errUse = errors.New("damaged edge in the search index")

// takeUse decodes one use and returns the rest of the input.
func takeUse(in []byte) (e Edge, via int64, rest []byte, err error) {
	number := func() uint64 {
		n, size := binary.Uvarint(in)
		if size <= 0 {
			err = errUse
			return 0
		}
		in = in[size:]
		return n
	}
	text := func() string {
		n := number()
		if n > uint64(len(in)) {
			err = errUse
			return ""
		}
		s := string(in[:n])
		in = in[n:]
		return s
	}
	e.Symbol = text()
	e.Kind = outline.UseKind(text())
	e.Exact = number() == 1
	via = int64(number())
	e.More = int(number())
	for n := number(); n > 0 && err == nil; n-- {
		e.Lines = append(e.Lines, int(number()))
	}
	return e, via, in, err
}

// noteTargets records the files that a file uses, so that CountUsers updates them.
func (w *Writer) noteTargets(source int64) error {
	return sqlitex.Execute(w.conn, `SELECT target FROM edge WHERE source = ?1`, &sqlitex.ExecOptions{
		Args:       []any{source},
		ResultFunc: func(s *sqlite.Stmt) error { w.targets[s.ColumnInt64(0)] = true; return nil },
	})
}

// CountUsers updates the number of users of files whose edges changed. Call it after the last change.
func (w *Writer) CountUsers() error {
	const counts = `
		INSERT INTO used SELECT edge.target, sum(file.kind <> ?1), sum(file.kind = ?1)
		FROM edge JOIN file ON file.id = edge.source WHERE certain `
	tests := int64(repo.KindTest)
	if len(w.targets) > manyTargets {
		clear(w.targets)
		if err := w.exec(`DELETE FROM used`); err != nil {
			return err
		}
		return w.exec(counts+`GROUP BY edge.target`, tests)
	}
	for id := range w.targets {
		if err := w.exec(`DELETE FROM used WHERE id = ?1`, id); err != nil {
			return err
		}
		if err := w.exec(counts+`AND edge.target = ?2 GROUP BY edge.target`, tests, id); err != nil {
			return err
		}
	}
	clear(w.targets)
	return nil
}

// manyTargets is the number of files from which counting all users at once is faster.
const manyTargets = 1000

const edgeColumns = `SELECT source.path, target.path, edge.uses
	FROM edge JOIN path AS source ON source.id = edge.source JOIN path AS target ON target.id = edge.target `

// Users returns the edges to a file.
func (x *Index) Users(ctx context.Context, p repo.Path) ([]Edge, error) {
	return x.edges(ctx, `WHERE target.path = ?1 ORDER BY source.path, target.path`, string(p))
}

// UsersBelow returns the edges from files outside of a directory to files below it.
func (x *Index) UsersBelow(ctx context.Context, dir repo.Path) ([]Edge, error) {
	return x.edges(ctx, `WHERE target.path GLOB ?1 AND NOT source.path GLOB ?1 ORDER BY source.path, target.path`, globBelow(dir))
}

// UsersOfDir returns the edges to the files directly in a directory.
func (x *Index) UsersOfDir(ctx context.Context, dir repo.Path) ([]Edge, error) {
	below := globBelow(dir)
	return x.edges(ctx, `WHERE target.path GLOB ?1 AND NOT target.path GLOB ?2 ORDER BY source.path, target.path`, below, below+"/*")
}

// Uses returns the edges from a file.
func (x *Index) Uses(ctx context.Context, p repo.Path) ([]Edge, error) {
	return x.edges(ctx, `WHERE source.path = ?1 ORDER BY target.path`, string(p))
}

// AllEdges calls f with every edge.
func (x *Index) AllEdges(ctx context.Context, f func(Edge) error) error {
	return x.eachEdge(ctx, f, `ORDER BY source.path, target.path`)
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
		from := repo.Path(s.ColumnText(0))
		to := repo.Path(s.ColumnText(1))
		rest := make([]byte, s.ColumnLen(2))
		s.ColumnBytes(2, rest)
		for len(rest) > 0 {
			e, via, behind, err := takeUse(rest)
			if err != nil {
				return err
			}
			rest = behind
			e.From = from
			e.To = to
			if via != 0 {
				if e.Via, err = x.pathAt(via); err != nil {
					return err
				}
			}
			if err := f(e); err != nil {
				return err
			}
		}
		return nil
	}})
}

func (x *Index) pathAt(number int64) (p repo.Path, err error) {
	err = sqlitex.Execute(x.conn, `SELECT path FROM path WHERE id = ?1`, &sqlitex.ExecOptions{
		Args:       []any{number},
		ResultFunc: func(s *sqlite.Stmt) error { p = repo.Path(s.ColumnText(0)); return nil },
	})
	return p, err
}

// UserCount counts the files that use a file.
func (x *Index) UserCount(ctx context.Context, p repo.Path) (n int, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT users + tests FROM used JOIN path USING (id) WHERE path = ?1`, &sqlitex.ExecOptions{
		Args: []any{string(p)}, ResultFunc: func(s *sqlite.Stmt) error { n = s.ColumnInt(0); return nil },
	})
	return n, err
}

// Ambiguous returns how many uses of a file have several possible targets.
func (x *Index) Ambiguous(ctx context.Context, p repo.Path) (n int, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `SELECT ambiguous FROM facts JOIN path USING (id) WHERE path = ?1`, &sqlitex.ExecOptions{
		Args: []any{string(p)}, ResultFunc: func(s *sqlite.Stmt) error { n = s.ColumnInt(0); return nil },
	})
	return n, err
}

// Facts returns the language, package, symbols and imports of a file; ok is false if it is not
// indexed.
func (x *Index) Facts(ctx context.Context, p repo.Path) (o outline.Outline, imports []outline.Import, ok bool, err error) {
	x.conn.SetInterrupt(ctx.Done())
	var id int64
	err = sqlitex.Execute(x.conn, `SELECT id, language, package, imports FROM facts JOIN path USING (id) WHERE path = ?1`, &sqlitex.ExecOptions{
		Args: []any{string(p)},
		ResultFunc: func(s *sqlite.Stmt) error {
			id, ok = s.ColumnInt64(0), true
			o.Language, o.Package = outline.Language(s.ColumnText(1)), s.ColumnText(2)
			b := make([]byte, s.ColumnLen(3))
			s.ColumnBytes(3, b)
			var refs outline.References
			err := refs.UnmarshalBinary(b)
			imports = refs.Imports
			return err
		},
	})
	if err != nil || !ok {
		return o, nil, ok, err
	}
	err = sqlitex.Execute(x.conn, `SELECT `+symbolColumns+` FROM symbol WHERE file = ?1 ORDER BY place`, &sqlitex.ExecOptions{
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

// Importers returns the files with an import that ends like a module's name.
func (x *Index) Importers(ctx context.Context, module string) ([]repo.Path, error) {
	return x.Wanting(ctx, []string{lastName(module)})
}

// wantedNames returns the names of files and directories that imports may refer to.
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

// A Pair records that one file certainly uses another.
type Pair struct {
	From, To repo.Path
}

// Pairs returns the exact uses of files in a directory, each pair of files once.
func (x *Index) Pairs(ctx context.Context, dir repo.Path) (list []Pair, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `
		SELECT source.path, target.path
		FROM path AS target JOIN edge ON edge.target = target.id AND edge.certain JOIN path AS source ON source.id = edge.source
		WHERE target.path GLOB ?1`, &sqlitex.ExecOptions{
		Args: []any{globBelow(dir)},
		ResultFunc: func(s *sqlite.Stmt) error {
			list = append(list, Pair{repo.Path(s.ColumnText(0)), repo.Path(s.ColumnText(1))})
			return nil
		},
	})
	return list, err
}

// A Used is a file with the number of files that certainly use it.
type Used struct {
	Path         repo.Path
	Users, Tests int // users that are not tests, and users that are
}

// MostUsed returns the files of a kind that other files use, the most used first. Uses by tests count last.
func (x *Index) MostUsed(ctx context.Context, kind repo.Kind) (list []Used, err error) {
	x.conn.SetInterrupt(ctx.Done())
	err = sqlitex.Execute(x.conn, `
		SELECT path.path, used.users, used.tests FROM used JOIN file USING (id) JOIN path USING (id)
		WHERE file.kind = ?1 ORDER BY used.users DESC, used.tests DESC, path.path`, &sqlitex.ExecOptions{
		Args: []any{int64(kind)},
		ResultFunc: func(s *sqlite.Stmt) error {
			list = append(list, Used{repo.Path(s.ColumnText(0)), s.ColumnInt(1), s.ColumnInt(2)})
			return nil
		},
	})
	return list, err
}
