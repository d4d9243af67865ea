package searchindex

import (
	"context"
	"encoding/binary"
	"errors"
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

// PutEdges replaces the edges that leave a file, those to its own declarations, and the number of its ambiguous uses.
// The edges to one file must follow each other.
func (w *Writer) PutEdges(from repo.Path, edges, own []Edge, ambiguous int) error {
	id, ok, err := w.knownNumber(from)
	if !ok || err != nil {
		return err
	}
	if err := w.recordTargets(id); err != nil {
		return err
	}
	if err := w.exec(`DELETE FROM edge WHERE source = ?1`, id); err != nil {
		return err
	}
	packed := []byte{}
	for i := range own {
		packed = appendUse(packed, &own[i], 0)
	}
	if err := w.exec(`UPDATE facts SET ambiguous = ?2, own = ?3 WHERE id = ?1`, id, ambiguous, packed); err != nil {
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

// readUse decodes one use and returns the rest of the input.
func readUse(in []byte) (e Edge, via int64, rest []byte, err error) {
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

// recordTargets records the files that a file uses, so that CountUsers updates them.
func (w *Writer) recordTargets(source int64) error {
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
	tests := repo.KindTest
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
	return x.edges(ctx, `WHERE target.path = ?1 ORDER BY source.path, target.path`, p)
}

// UsersBelow returns the edges from files outside of a directory to files below it.
func (x *Index) UsersBelow(ctx context.Context, dir repo.Path) ([]Edge, error) {
	return x.edges(ctx, `WHERE target.path GLOB ?1 AND NOT source.path GLOB ?1 ORDER BY source.path, target.path`, globBelow(dir))
}

// Uses returns the edges from a file.
func (x *Index) Uses(ctx context.Context, p repo.Path) ([]Edge, error) {
	return x.edges(ctx, `WHERE source.path = ?1 ORDER BY target.path`, p)
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
	return x.each(ctx, edgeColumns+where, func(s *sqlite.Stmt) error {
		return x.eachUse(repo.Path(s.ColumnText(0)), repo.Path(s.ColumnText(1)), bytesAt(s, 2), f)
	}, args...)
}

// eachUse decodes the uses of one file in another one.
func (x *Index) eachUse(from, to repo.Path, packed []byte, f func(Edge) error) error {
	for len(packed) > 0 {
		e, via, rest, err := readUse(packed)
		if err != nil {
			return err
		}
		packed = rest
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
}

// OwnUses returns the uses of a file's declarations in the file itself.
func (x *Index) OwnUses(ctx context.Context, p repo.Path) (list []Edge, err error) {
	err = x.each(ctx, `SELECT own FROM facts JOIN path USING (id) WHERE path = ?1`, func(s *sqlite.Stmt) error {
		return x.eachUse(p, p, bytesAt(s, 0), func(e Edge) error { list = append(list, e); return nil })
	}, p)
	return list, err
}

func (x *Index) pathAt(number int64) (p repo.Path, err error) {
	err = sqlitex.Execute(x.conn, `SELECT path FROM path WHERE id = ?1`, &sqlitex.ExecOptions{
		Args:       []any{number},
		ResultFunc: func(s *sqlite.Stmt) error { p = repo.Path(s.ColumnText(0)); return nil },
	})
	return p, err
}

// UsesBelow returns the edges that leave a directory.
func (x *Index) UsesBelow(ctx context.Context, dir repo.Path) ([]Edge, error) {
	return x.edges(ctx, `WHERE source.path GLOB ?1 AND NOT target.path GLOB ?1 ORDER BY target.path, source.path`, globBelow(dir))
}

// UserFiles returns the files with an edge to a file.
func (x *Index) UserFiles(ctx context.Context, p repo.Path) ([]repo.Path, error) {
	return x.paths(ctx, `
		SELECT source.path FROM path JOIN edge ON edge.target = path.id JOIN path AS source ON source.id = edge.source
		WHERE path.path = ?1`, p)
}

// UserCount counts the files that use a file.
func (x *Index) UserCount(ctx context.Context, p repo.Path) (int, error) {
	return x.number(ctx, `SELECT users + tests FROM used JOIN path USING (id) WHERE path = ?1`, p)
}

// Ambiguous returns how many uses of a file have several possible targets.
func (x *Index) Ambiguous(ctx context.Context, p repo.Path) (int, error) {
	return x.number(ctx, `SELECT ambiguous FROM facts JOIN path USING (id) WHERE path = ?1`, p)
}

// A Pair records that one file certainly uses another.
type Pair struct {
	From, To repo.Path
}

// Pairs returns the exact uses of files in a directory, each pair of files once.
func (x *Index) Pairs(ctx context.Context, dir repo.Path) ([]Pair, error) {
	return x.pairs(ctx, `
		SELECT source.path, target.path
		FROM path AS target JOIN edge ON edge.target = target.id AND edge.certain JOIN path AS source ON source.id = edge.source
		WHERE target.path GLOB ?1`, globBelow(dir))
}

// LikelyPairs returns the exact and likely uses of files in a directory, each pair of files once. The path of the used
// file matches one of the globs.
func (x *Index) LikelyPairs(ctx context.Context, dir repo.Path, globs []string) (list []Pair, err error) {
	for _, glob := range globs {
		some, err := x.pairs(ctx, `
			SELECT source.path, target.path FROM (
				SELECT DISTINCT edge.source AS s, edge.target AS t FROM path JOIN edge ON edge.target = path.id
				WHERE path.path GLOB ?1 AND path.path GLOB ?2 AND edge.source <> edge.target
			) JOIN path AS source ON source.id = s JOIN path AS target ON target.id = t`, globBelow(dir), glob)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

func (x *Index) pairs(ctx context.Context, query string, args ...any) (list []Pair, err error) {
	err = x.each(ctx, query, func(s *sqlite.Stmt) error {
		list = append(list, Pair{repo.Path(s.ColumnText(0)), repo.Path(s.ColumnText(1))})
		return nil
	}, args...)
	return list, err
}

// A UseCount is a file with the number of files that certainly use it.
type UseCount struct {
	Path         repo.Path
	Users, Tests int // users that are not tests, and users that are
}

// MostUsed returns the files of a kind that other files use, the most used first. Uses by tests count last.
func (x *Index) MostUsed(ctx context.Context, kind repo.Kind) (list []UseCount, err error) {
	err = x.each(ctx, `
		SELECT path.path, used.users, used.tests FROM used JOIN file USING (id) JOIN path USING (id)
		WHERE file.kind = ?1 ORDER BY used.users DESC, used.tests DESC, path.path`, func(s *sqlite.Stmt) error {
		list = append(list, UseCount{repo.Path(s.ColumnText(0)), s.ColumnInt(1), s.ColumnInt(2)})
		return nil
	}, kind)
	return list, err
}
