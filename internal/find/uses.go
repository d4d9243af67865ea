package find

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/order"
	"ken/internal/outline"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
	"ken/internal/workspace"
)

// A UsesQuery asks for the users of a file, a directory or a symbol.
type UsesQuery struct {
	Asked    string  // a path, PATH#SYMBOL or a symbol
	FromRoot bool    // a path is relative to the root, not to the current directory
	Limit    int     // the number of files per list; DefaultUsesLimit if 0
	Tests    bool    // list only the tests
	At       repo.ID // a commit; the work tree if zero

	whole  repo.Path // Asked as a path
	path   repo.Path // the part before #; "" if there is none
	symbol string    // the part after #
}

// resolve sets the paths that a query may mean.
func (q *UsesQuery) resolve(w *workspace.Workspace) (err error) {
	resolve := w.Path
	if q.FromRoot {
		resolve = w.RootPath
	}
	if q.whole, err = resolve(q.Asked); err != nil {
		return err
	}
	if q.whole == "" {
		return &fault.Error{Kind: fault.Usage, Hint: "ken brief", Err: errors.New("the whole repository has no users: name a file, a directory or a symbol")}
	}
	if i := strings.LastIndexByte(q.Asked, '#'); i > 0 {
		q.symbol = q.Asked[i+1:]
		q.path, err = resolve(q.Asked[:i])
	}
	return err
}

const (
	// DefaultUsesLimit is the default number of files in each list of an answer.
	DefaultUsesLimit = 30
	// NoLimit lists all files.
	NoLimit = math.MaxInt
)

// A UsesAnswer lists the users of something, what it uses, and its tests.
type UsesAnswer struct {
	At             string        `json:"at"` // the commit, or "worktree"
	repo.PathJSON                // of the file or directory; "" for several declarations
	Symbol         string        `json:"symbol"`
	Declarations   []Declaration `json:"declarations"` // of the symbol, or the main ones of the file
	UsedBy         []User        `json:"used_by"`
	Uses           []User        `json:"uses"`
	Tests          []Test        `json:"tests"`
	ReachedByTests int           `json:"reached_by_tests"` // test files that are not in Tests
	// Through lists interfaces through which the symbol, a method, may be called.
	Through     []InterfaceUses `json:"through,omitempty"`
	ChangesWith []ChangesWith   `json:"changes_with"`
	Commits     *CommitSpan     `json:"commits,omitempty"` // the commits that ChangesWith counts
	SameBytes   []repo.PathJSON `json:"same_bytes"`
	Mentions    []Mention       `json:"mentions"`               // of the path, or of the symbol in other spellings
	Ambiguous   int             `json:"ambiguous"`              // uses that may mean something else
	AmbiguousIn []FileLines     `json:"ambiguous_in,omitempty"` // files with such uses of the symbol
	Unknown     string          `json:"unknown,omitempty"`      // why users are unknown
	More        map[string]int  `json:"more,omitempty"`         // the number of files above the limit, by list
	Remarks     []string        `json:"remarks,omitempty"`      // limitations of the answer

	// Directory is set if the answer is about a directory.
	Directory bool `json:"-"`
	// OnlyTests is set if the query asks only for the tests.
	OnlyTests bool `json:"-"`
	// Named is the number of declarations of a bare symbol.
	Named int `json:"-"`
}

// A TestsDocument is the part of an answer about tests.
type TestsDocument struct {
	At string `json:"at"`
	repo.PathJSON
	Symbol         string         `json:"symbol"`
	Tests          []Test         `json:"tests"`
	ReachedByTests int            `json:"reached_by_tests"`
	More           map[string]int `json:"more,omitempty"`
	Remarks        []string       `json:"remarks,omitempty"`
}

// TestsDocument returns the part about tests.
func (a *UsesAnswer) TestsDocument() TestsDocument {
	d := TestsDocument{At: a.At, PathJSON: a.PathJSON, Symbol: a.Symbol, Tests: a.Tests, ReachedByTests: a.ReachedByTests, Remarks: a.Remarks}
	if n := a.More["tests"]; n > 0 {
		d.More = map[string]int{"tests": n}
	}
	return d
}

// FileLines are lines of a file.
type FileLines struct {
	repo.PathJSON
	Lines []int `json:"lines"`
	More  int   `json:"more,omitempty"`
}

// A Declaration is a symbol with its place.
type Declaration struct {
	repo.PathJSON
	Name      string       `json:"name"` // the full name
	Kind      outline.Kind `json:"kind"`
	Line      int          `json:"line"`
	Signature string       `json:"signature"`
	SameFile  []int        `json:"same_file,omitempty"` // further lines of its file with the name
	Users     int          `json:"users"`               // files that use it
	More      int          `json:"more,omitempty"`      // the number of users above the limit

	// OwnFile is set if its file has the name outside the declaration.
	OwnFile bool `json:"-"`
}

// A User is a file that uses something, or that is used.
type User struct {
	repo.PathJSON
	Symbols   []string       `json:"symbols"` // of the used file; empty if it is imported as a whole
	Lines     []int          `json:"lines"`   // in the using file
	More      int            `json:"more,omitempty"`
	Certainty uses.Certainty `json:"certainty"`
	Via       repo.Path      `json:"via,omitempty"` // the first file that re-exports it; "" if any use is direct
	Test      bool           `json:"test"`
	Generated bool           `json:"generated,omitempty"` // or vendored
	Places    []UsePlace     `json:"places"`
	Of        string         `json:"of,omitempty"` // PATH#SYMBOL, if there are several declarations

	// Starts is set if a test runner starts the file. Other test files are helpers.
	Starts bool `json:"-"`

	path repo.Path
}

// A UsePlace describes how a file uses one symbol.
type UsePlace struct {
	Symbol string    `json:"symbol,omitempty"`
	How    string    `json:"how,omitempty"` // call, literal, type, match; "" is any other mention
	Via    repo.Path `json:"via,omitempty"` // the file that re-exports the symbol; "" if the use is direct
	Lines  []int     `json:"lines"`
	More   int       `json:"more,omitempty"`
	In     []string  `json:"in,omitempty"` // the declarations around the lines
	// Match says of a use in a match or switch whether that has a catch-all arm; "" if it is unknown.
	Match string `json:"match,omitempty"`
}

// ChangesWith is a file that the same commits touched.
type ChangesWith struct {
	repo.PathJSON
	Together int `json:"together"` // commits that touched both
	Of       int `json:"of"`       // commits that touched the file of the query
}

// A CommitSpan is the part of the history that was counted.
type CommitSpan struct {
	Count int    `json:"count"`
	Since string `json:"since"` // the date of the oldest
}

// A usesReader answers one query.
type usesReader struct {
	ctx     context.Context
	index   *searchindex.Index
	tree    Tree
	files   map[repo.Path]searchindex.File
	paths   []repo.Path // sorted
	project *project.Project
	limit   int
	tests   bool // list only the tests
	answer  *UsesAnswer
}

// Uses answers from an index that is up to date with the tree.
func Uses(ctx context.Context, x *searchindex.Index, t Tree, q UsesQuery) (*UsesAnswer, error) {
	r := &usesReader{ctx: ctx, index: x, tree: t, limit: cmp.Or(q.Limit, DefaultUsesLimit), tests: q.Tests}
	r.answer = &UsesAnswer{
		At: "worktree", OnlyTests: q.Tests, Declarations: []Declaration{}, UsedBy: []User{}, Uses: []User{}, Tests: []Test{}, ChangesWith: []ChangesWith{},
		SameBytes: []repo.PathJSON{}, Mentions: []Mention{}, More: make(map[string]int),
	}
	var err error
	if r.files, err = x.Files(ctx); err != nil {
		return nil, err
	}
	r.paths = slices.Sorted(maps.Keys(r.files))
	read := func(p repo.Path) ([]byte, error) { return t.Read(ctx, p), nil }
	if r.project, err = project.New(r.paths, read); err != nil {
		return nil, err
	}
	if err := r.dispatch(q); err != nil {
		return nil, err
	}
	r.applyLimits()
	return r.answer, nil
}

// dispatch decides whether the query means a path or a symbol.
func (r *usesReader) dispatch(q UsesQuery) error {
	switch {
	case r.isFile(q.whole):
		return r.file(q.whole)
	case r.isDir(q.whole):
		return r.directory(q.whole)
	case r.isFile(StripLineNumber(q.whole)):
		return r.file(StripLineNumber(q.whole))
	case q.path != "":
		if _, ok := r.files[q.path]; !ok {
			return &NoPathError{q.path}
		}
		return r.symbolOf(q.path, q.symbol)
	}
	found, err := r.declarations(q.Asked)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return r.symbol(q.Asked, found)
	}
	if q.whole != "" && (strings.ContainsAny(q.Asked, `/\`) || r.hasExtension(path.Ext(q.Asked))) {
		return &NoPathError{q.whole}
	}
	return r.noSymbol(q.Asked)
}

func (r *usesReader) isFile(p repo.Path) bool {
	_, ok := r.files[p]
	return ok
}

// lineSuffix matches the lines that ken prints after a path: a.go:3 or a.go:3,8,+2.
var lineSuffix = regexp.MustCompile(`:[0-9][0-9,:+-]*$`)

// StripLineNumber returns the path of PATH:LINE.
func StripLineNumber(p repo.Path) repo.Path {
	return repo.Path(lineSuffix.ReplaceAllString(string(p), ""))
}

func (r *usesReader) isDir(p repo.Path) bool {
	i, _ := slices.BinarySearch(r.paths, p+"/")
	return i < len(r.paths) && strings.HasPrefix(string(r.paths[i]), string(p)+"/")
}

// file answers a query for a whole file.
func (r *usesReader) file(p repo.Path) error {
	a := r.answer
	a.PathJSON = p.JSON()
	users, err := r.index.Users(r.ctx, p)
	if err != nil {
		return err
	}
	used, err := r.index.Uses(r.ctx, p)
	if err != nil {
		return err
	}
	if a.Ambiguous, err = r.index.Ambiguous(r.ctx, p); err != nil {
		return err
	}
	if a.Unknown, err = r.unresolved(p); err != nil {
		return err
	}
	a.UsedBy = r.groupByFile(users, fromFile)
	a.Uses = r.groupByFile(used, toFile)
	if err := r.addTests([]repo.Path{p}, a.UsedBy, ""); err != nil || r.tests {
		return err
	}
	if err := r.mainSymbols(p, users); err != nil {
		return err
	}
	if err := r.enclosing(); err != nil {
		return err
	}
	if err := r.history(p); err != nil {
		return err
	}
	return r.pathMentions(p, users)
}

// directory answers a query for the files below a directory, as seen from outside.
func (r *usesReader) directory(dir repo.Path) error {
	a := r.answer
	a.PathJSON = dir.JSON()
	a.Directory = true
	users, err := r.index.UsersBelow(r.ctx, dir)
	if err != nil {
		return err
	}
	used, err := r.index.UsesBelow(r.ctx, dir)
	if err != nil {
		return err
	}
	a.UsedBy = r.groupByFile(users, fromFile)
	a.Uses = r.groupByFile(used, toFile)
	for i := range a.Uses { // lines of several files have no meaning
		a.Uses[i].Lines = []int{}
		a.Uses[i].More = 0
		for k := range a.Uses[i].Places {
			a.Uses[i].Places[k].Lines = []int{}
			a.Uses[i].Places[k].More = 0
		}
	}
	resolved := false
	for i, _ := slices.BinarySearch(r.paths, dir+"/"); i < len(r.paths) && r.paths[i].Under(dir) && !resolved; i++ {
		unknown, err := r.unresolved(r.paths[i])
		if err != nil {
			return err
		}
		resolved = unknown == ""
	}
	if !resolved {
		a.Unknown = "ken does not resolve references to any of its files"
	}
	if err := r.addTests(nil, a.UsedBy, ""); err != nil {
		return err
	}
	if r.tests {
		r.testsBelow(dir)
		return nil
	}
	return r.pathMentions(dir, users)
}

// unresolved returns why the users of a file are unknown; "" if they are known.
func (r *usesReader) unresolved(p repo.Path) (string, error) {
	f := r.files[p]
	switch f.Kind {
	case repo.KindVendored:
		return "ken does not resolve references to vendored files", nil
	case repo.KindSymlink, repo.KindGitlink, repo.KindBinary, repo.KindLFS:
		return fmt.Sprintf("ken does not resolve references to a file of kind %s", f.Kind), nil
	default:
	}
	o, _, _, err := r.index.Facts(r.ctx, p)
	if err != nil || uses.Supports(o.Language) {
		return "", err
	}
	ext := path.Ext(p.Base())
	switch {
	case uses.Supports(outline.LanguageOf(p, nil)):
		return "ken could not parse the file, or it is too large", nil
	case ext != "":
		return fmt.Sprintf("ken does not resolve names in %s files", ext), nil
	case o.Language != "":
		return fmt.Sprintf("ken does not resolve names in %s", o.Language), nil
	}
	return "ken does not know the language of " + p.Base(), nil
}

// A side is the end of an edge that is listed.
type side int

const (
	fromFile side = iota
	toFile
)

// groupByFile combines the edges of one certainty that begin or end in one file. Code comes before tests, exact before
// likely, hand-written files before generated ones, and files with more uses before others.
func (r *usesReader) groupByFile(edges []searchindex.Edge, by side) []User {
	end := func(e searchindex.Edge) repo.Path { return e.From }
	if by == toFile {
		end = func(e searchindex.Edge) repo.Path { return e.To }
	}
	list := []User{}
	for _, certainty := range []uses.Certainty{uses.Exact, uses.Likely} {
		other := func(e searchindex.Edge) bool { return e.Exact != (certainty == uses.Exact) }
		for _, l := range searchindex.Links(slices.DeleteFunc(slices.Clone(edges), other), end) {
			list = append(list, r.user(&l, certainty))
		}
	}
	slices.SortStableFunc(list, func(a, b User) int {
		return cmp.Or(
			order.FalseFirst(a.Test, b.Test),
			cmp.Compare(a.Certainty, b.Certainty), // exact, likely
			order.FalseFirst(a.Generated, b.Generated),
			cmp.Compare(len(b.Lines)+b.More, len(a.Lines)+a.More),
			strings.Compare(string(a.path), string(b.path)),
		)
	})
	return list
}

// user returns a link as an entry of an answer.
func (r *usesReader) user(l *searchindex.Link, certainty uses.Certainty) User {
	kind := r.files[l.Other].Kind
	u := User{
		PathJSON: l.Other.JSON(), path: l.Other, Symbols: []string{}, Lines: l.Lines, More: l.Places, Certainty: certainty, Via: l.Edges[0].Via,
		Test: r.isTest(l.Other), Starts: r.project.IsTest(l.Other), Generated: kind == repo.KindGenerated || kind == repo.KindVendored,
	}
	if u.Lines == nil {
		u.Lines = []int{}
	}
	for _, e := range l.Edges {
		if e.Via == "" {
			u.Via = ""
		}
		if e.Symbol != "" && !slices.Contains(u.Symbols, e.Symbol) {
			u.Symbols = append(u.Symbols, e.Symbol)
		}
		u.More -= len(e.Lines)
		u.Places = append(u.Places, UsePlace{Symbol: e.Symbol, How: string(e.Kind), Via: e.Via, Lines: e.Lines, More: e.More})
	}
	return u
}

// isTest reports whether a file belongs to the tests.
func (r *usesReader) isTest(p repo.Path) bool {
	return r.files[p].Kind == repo.KindTest || r.project.IsTest(p)
}

// facts returns the outline and the content of a file; nil if ken has none.
func (r *usesReader) facts(paths []repo.Path) (map[repo.Path]fileFacts, error) {
	files := make([]File, len(paths))
	for i, p := range paths {
		files[i] = File{Path: p, ID: r.files[p].ID, Kind: r.files[p].Kind}
	}
	found := make(map[repo.Path]fileFacts, len(paths))
	err := r.tree.Facts(r.ctx, files, func(f File, facts Facts, content []byte) error {
		found[f.Path] = fileFacts{facts.Outline, content}
		return nil
	})
	return found, err
}

type fileFacts struct {
	outline *outline.Outline
	content []byte
}

// maxMainSymbols limits the symbols of a file that are listed.
const maxMainSymbols = 12

// mainSymbols lists the symbols of a file that others may use, the most used first.
func (r *usesReader) mainSymbols(p repo.Path, users []searchindex.Edge) error {
	facts, err := r.facts([]repo.Path{p})
	if err != nil {
		return err
	}
	f := facts[p]
	if f.outline == nil {
		return nil
	}
	by := make(map[string]map[repo.Path]bool)
	for _, e := range users {
		if by[e.Symbol] == nil {
			by[e.Symbol] = make(map[repo.Path]bool)
		}
		by[e.Symbol][e.From] = true
	}
	lines := splitLines(f.content)
	var list []Declaration
	for i := range f.outline.Symbols {
		s := &f.outline.Symbols[i]
		n := len(by[s.FullName()])
		isData := s.Kind == outline.Field || s.Kind == outline.Property || s.Kind == outline.Member
		if s.Kind == outline.Heading || s.Kind == outline.Impl || isData || len(s.Name) < 2 || strings.HasPrefix(s.Name, "__") || n == 0 && !s.Exported {
			continue
		}
		list = append(list, declaration(p, s, lines, n))
	}
	slices.SortStableFunc(list, func(a, b Declaration) int { return cmp.Compare(b.Users, a.Users) })
	r.answer.More["declarations"] = max(0, len(list)-maxMainSymbols)
	r.answer.Declarations = append(r.answer.Declarations, list[:min(len(list), maxMainSymbols)]...)
	return nil
}

func declaration(p repo.Path, s *outline.Symbol, lines []string, users int) Declaration {
	return Declaration{PathJSON: p.JSON(), Name: s.FullName(), Kind: s.Kind, Line: declaredAt(s, lines), Signature: s.Signature, Users: users}
}

// declaredAt returns the line with the name of a symbol. The first line of the symbol is that of its comment.
func declaredAt(s *outline.Symbol, lines []string) int {
	first := strings.TrimSpace(s.Signature)
	if i := strings.Index(first, s.Name); i >= 0 {
		first = first[:i+len(s.Name)]
	}
	for n := s.Line; n <= s.EndLine && n <= len(lines) && first != ""; n++ {
		line := strings.Join(strings.Fields(lines[n-1]), " ")
		if strings.Contains(line, first) && !isComment(line) {
			return n
		}
	}
	for n := s.Line; n <= s.EndLine && n <= len(lines); n++ {
		if line := strings.TrimSpace(lines[n-1]); hasWord(line, s.Name) && !isComment(line) {
			return n
		}
	}
	return s.Line
}

func isComment(line string) bool {
	for _, mark := range []string{"//", "#", "*", "/*", "--", `"""`, "'''"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

func splitLines(content []byte) []string {
	if content == nil {
		return nil
	}
	return strings.Split(string(content), "\n")
}

// history adds the files that change together with a file, and its copies.
func (r *usesReader) history(p repo.Path) error {
	const few, least = 8, 2
	a := r.answer
	f := r.files[p]
	companions, commits, err := r.index.Companions(r.ctx, f.Number, maxTogether, 4*few)
	if err != nil {
		return err
	}
	for _, c := range companions {
		if c.Together >= least && !isSecondary(c.Kind) && len(a.ChangesWith) < few {
			a.ChangesWith = append(a.ChangesWith, ChangesWith{c.Path.JSON(), c.Together, commits})
		}
	}
	if len(a.ChangesWith) > 0 {
		n, since, err := r.index.History(r.ctx)
		if err != nil {
			return err
		}
		since, _, _ = strings.Cut(since, "T")
		a.Commits = &CommitSpan{n, since}
	}
	if len(r.tree.Read(r.ctx, p)) == 0 {
		return nil // empty files are not copies
	}
	for _, other := range r.paths {
		if other != p && r.files[other].ID == f.ID {
			a.SameBytes = append(a.SameBytes, other.JSON())
		}
	}
	return nil
}

// applyLimits cuts the lists of an answer to the limit.
func (r *usesReader) applyLimits() {
	a := r.answer
	if a.Symbol == "" {
		a.UsedBy, a.More["used_by"] = r.boundedUsers(a.UsedBy, r.limit)
	}
	a.Uses, a.More["uses"] = boundedFiles(a.Uses, r.limit)
	a.Tests = bounded(a, "tests", a.Tests, r.limit)
	a.Mentions = bounded(a, "mentions", a.Mentions, r.limit)
	a.SameBytes = bounded(a, "same_bytes", a.SameBytes, r.limit)
	a.AmbiguousIn = bounded(a, "ambiguous_in", a.AmbiguousIn, r.limit)
	for name, n := range a.More {
		if n == 0 {
			delete(a.More, name)
		}
	}
}

// boundedUsers cuts the users to a limit of files, and the tests among them to the same limit. It returns the
// number of files that it dropped; tests are counted in their own list.
func (r *usesReader) boundedUsers(list []User, limit int) ([]User, int) {
	isTest := func(u User) bool { return u.Starts }
	tests, _ := boundedFiles(slices.DeleteFunc(slices.Clone(list), func(u User) bool { return !isTest(u) }), limit)
	others, left := boundedFiles(slices.DeleteFunc(slices.Clone(list), isTest), limit)
	return append(others, tests...), left
}

// boundedFiles keeps the entries of the first files, and counts the dropped files.
func boundedFiles(list []User, limit int) ([]User, int) {
	kept := []User{}
	files := make(map[repo.Path]bool)
	left := make(map[repo.Path]bool)
	for _, u := range list {
		if files[u.path] || len(files) < limit {
			files[u.path] = true
			kept = append(kept, u)
		} else {
			left[u.path] = true
		}
	}
	return kept, len(left)
}

func bounded[T any](a *UsesAnswer, name string, list []T, limit int) []T {
	if len(list) <= limit {
		return list
	}
	a.More[name] += len(list) - limit
	return list[:limit]
}

// An EdgeJSON is an edge in the output of ken uses --all.
type EdgeJSON struct {
	From      repo.Path       `json:"from"`
	To        repo.Path       `json:"to"`
	Symbol    string          `json:"symbol"`
	Kind      outline.UseKind `json:"kind"`
	Certainty uses.Certainty  `json:"certainty"`
	Via       repo.Path       `json:"via"`
}

func edgeJSON(e searchindex.Edge) EdgeJSON {
	w := EdgeJSON{From: e.From, To: e.To, Symbol: e.Symbol, Kind: e.Kind, Certainty: uses.Likely, Via: e.Via}
	if e.Exact {
		w.Certainty = uses.Exact
	}
	return w
}

func (r *usesReader) hasExtension(ext string) bool {
	return ext != "" && slices.ContainsFunc(r.paths, func(p repo.Path) bool { return path.Ext(p.Base()) == ext })
}

func notFound(hint, format string, args ...any) error {
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf(format, args...)}
}
