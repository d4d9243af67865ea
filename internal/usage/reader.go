package usage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/order"
	"ken/internal/outline"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// A reader answers one query from an index that is up to date with the tree.
type reader struct {
	ctx     context.Context
	index   *searchindex.Index
	tree    find.Tree
	files   map[repo.Path]searchindex.Entry
	paths   []repo.Path // sorted
	project *project.Project
	limit   int
	tests   bool // list only the tests
	answer  *Answer
}

func newReader(ctx context.Context, x *searchindex.Index, t find.Tree) (*reader, error) {
	r := &reader{ctx: ctx, index: x, tree: t, answer: &Answer{}}
	var err error
	if r.files, err = x.Files(ctx); err != nil {
		return nil, err
	}
	r.paths = slices.Sorted(maps.Keys(r.files))
	read := func(p repo.Path) ([]byte, error) { return t.Read(ctx, p), nil }
	r.project, err = project.New(r.paths, read)
	return r, err
}

func answerFrom(ctx context.Context, x *searchindex.Index, t find.Tree, q Query) (*Answer, error) {
	r, err := newReader(ctx, x, t)
	if err != nil {
		return nil, err
	}
	r.limit = cmp.Or(q.Limit, DefaultLimit)
	r.tests = q.Tests
	r.answer = emptyAnswer()
	r.answer.OnlyTests = q.Tests
	if err := r.dispatch(q); err != nil {
		return nil, err
	}
	r.applyLimits()
	return r.answer, nil
}

func emptyAnswer() *Answer {
	return &Answer{
		At: "worktree", Declarations: []Declaration{}, UsedBy: []User{}, Uses: []User{}, Tests: []Test{}, ChangesWith: []ChangesWith{},
		SameBytes: []repo.PathJSON{}, Mentions: []Mention{}, More: make(map[string]int),
		Unresolved: Unresolved{Places: []FileLines{}},
	}
}

// unreadFile answers about a file that ken cannot read.
func unreadFile(f *repo.File) *Answer {
	a := emptyAnswer()
	a.PathJSON = f.Path.JSON()
	a.Unknown = append(a.Unknown, fault.Unknown{What: whatUsers, Why: f.Problem})
	return a
}

// dispatch decides whether the query means a path or a symbol.
func (r *reader) dispatch(q Query) error {
	switch {
	case r.isFile(q.whole):
		return r.file(q.whole)
	case r.isDir(q.whole):
		return r.directory(q.whole)
	case r.isFile(find.StripLineNumber(q.whole)):
		return r.file(find.StripLineNumber(q.whole))
	case q.path != "":
		if _, ok := r.files[q.path]; !ok {
			return &noPathError{q.path}
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
		return &noPathError{q.whole}
	}
	return r.noSymbol(q.Asked)
}

// A noPathError is returned if the tree has no such file or directory.
type noPathError struct{ Path repo.Path }

func (e *noPathError) Error() string { return "git tracks no file or directory " + e.Path.String() }

func (r *reader) hasExtension(ext string) bool {
	return ext != "" && slices.ContainsFunc(r.paths, func(p repo.Path) bool { return path.Ext(p.Base()) == ext })
}

func notFound(hint, format string, args ...any) error {
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf(format, args...)}
}

func (r *reader) isFile(p repo.Path) bool {
	_, ok := r.files[p]
	return ok
}

func (r *reader) isDir(p repo.Path) bool {
	i, _ := slices.BinarySearch(r.paths, p+"/")
	return i < len(r.paths) && strings.HasPrefix(string(r.paths[i]), string(p)+"/")
}

// whatUsers is unknown in an answer without users.
const whatUsers = "users"

// addUnresolved adds that the users of a file are unknown, once.
func (r *reader) addUnresolved(p repo.Path) error {
	if r.answer.whyNoUsers() != "" {
		return nil
	}
	why, err := r.unresolved(p)
	if why != "" {
		r.answer.Unknown = append(r.answer.Unknown, fault.Unknown{What: whatUsers, Why: why})
	}
	return err
}

// unresolved returns why the users of a file are unknown; "" if they are known.
func (r *reader) unresolved(p repo.Path) (string, error) {
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
	case uses.Supports(outline.LanguageOf(p, nil)) && r.tree.Read(r.ctx, p) == nil:
		return find.WhyAbsent + ", or it is too large", nil
	case uses.Supports(outline.LanguageOf(p, nil)):
		return "ken could not parse the file", nil
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
func (r *reader) groupByFile(edges []searchindex.Edge, by side) []User {
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
func (r *reader) user(l *searchindex.Link, certainty uses.Certainty) User {
	kind := r.files[l.Other].Kind
	u := User{
		PathJSON: l.Other.JSON(), path: l.Other, Symbols: []string{}, Lines: l.Lines, More: l.Places, Certainty: certainty, Via: l.Edges[0].Via,
		Test: r.project.ForTests(l.Other), Starts: r.project.IsTest(l.Other), Generated: kind == repo.KindGenerated || kind == repo.KindVendored,
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
		u.Places = append(u.Places, Place{Symbol: e.Symbol, How: string(e.Kind), Via: e.Via, Lines: e.Lines, More: e.More})
	}
	return u
}

// facts returns the outline and the content of a file; nil if ken has none.
func (r *reader) facts(paths []repo.Path) (map[repo.Path]fileFacts, error) {
	files := make([]repo.File, len(paths))
	for i, p := range paths {
		files[i] = r.files[p].File
	}
	found := make(map[repo.Path]fileFacts, len(paths))
	err := r.tree.Facts(r.ctx, files, func(f repo.File, facts find.Facts, content []byte) error {
		found[f.Path] = fileFacts{facts.Outline, content}
		return nil
	})
	return found, err
}

type fileFacts struct {
	outline *outline.Outline
	content []byte
}

// applyLimits cuts the lists of an answer to the limit.
func (r *reader) applyLimits() {
	a := r.answer
	if a.Symbol == "" {
		a.UsedBy, a.More["used_by"] = r.boundedUsers(a.UsedBy, r.limit)
	}
	a.Uses, a.More["uses"] = boundedFiles(a.Uses, r.limit)
	a.Tests = bounded(a, "tests", a.Tests, r.limit)
	a.Mentions = bounded(a, "mentions", a.Mentions, r.limit)
	a.ChangesWith = bounded(a, "changes_with", a.ChangesWith, r.limit)
	a.SameBytes = bounded(a, "same_bytes", a.SameBytes, r.limit)
	a.AmbiguousIn = bounded(a, "ambiguous_in", a.AmbiguousIn, r.limit)
	a.Unresolved.Places = bounded(a, "unresolved", a.Unresolved.Places, r.limit)
	for name, n := range a.More {
		if n == 0 {
			delete(a.More, name)
		}
	}
}

// boundedUsers cuts the users to a limit of files, and the tests among them to the same limit. It returns the
// number of files that it dropped; tests are counted in their own list.
func (r *reader) boundedUsers(list []User, limit int) ([]User, int) {
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

func bounded[T any](a *Answer, name string, list []T, limit int) []T {
	if len(list) <= limit {
		return list
	}
	a.More[name] += len(list) - limit
	return list[:limit]
}
