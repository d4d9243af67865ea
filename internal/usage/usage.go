// Package usage answers who uses a file, a directory or a symbol, what it uses, and what tests it: the answers of
// ken uses. It also finds the uses that a change leaves behind, and the tests of a change.
//
// It reads the edges between files that package find keeps in the search index, and the files themselves for the lines
// around them. Package uses computed the edges. Where it has no rules for a language, the users are unknown, and the
// answer says so.
package usage

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
	"ken/internal/workspace"
)

// A Query asks for the users of a file, a directory or a symbol.
type Query struct {
	Asked    string  // a path, PATH#SYMBOL or a symbol
	FromRoot bool    // a path is relative to the root, not to the current directory
	Limit    int     // the number of files per list; DefaultLimit if 0
	Tests    bool    // list only the tests
	At       repo.ID // a commit; the work tree if zero

	whole  repo.Path // Asked as a path
	path   repo.Path // the part before #; "" if there is none
	symbol string    // the part after #
}

// resolve sets the paths that a query may mean.
func (q *Query) resolve(w *workspace.Workspace) (err error) {
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
	// DefaultLimit is the default number of files in each list of an answer.
	DefaultLimit = 30
	// NoLimit lists all files.
	NoLimit = math.MaxInt
)

// Ask answers a query about the work tree, or about a commit.
func Ask(ctx context.Context, finder *find.Finder, q Query) (answer *Answer, err error) {
	if err := q.resolve(finder.Workspace); err != nil {
		return nil, err
	}
	var deleted *find.DeletedError
	err = finder.WithIndex(ctx, q.At, func(x *searchindex.Index, t *find.IndexedTree) (err error) {
		if f := t.Listed(q.whole); f != nil && f.Problem != "" {
			answer = unreadFile(f)
			return nil
		}
		answer, err = answerFrom(ctx, x, t, q)
		if missing, ok := errors.AsType[*noPathError](err); ok {
			return t.PathNotFoundError(ctx, "uses", missing.Path)
		}
		if err != nil {
			return err
		}
		if t.IndexBusy {
			answer.Unknown = append(answer.Unknown, find.IndexBusy)
		}
		unread, err := find.Unread(x)
		answer.Unknown = append(answer.Unknown, unread...)
		return err
	})
	if errors.As(err, &deleted) {
		q.At = deleted.Head
		answer, err = Ask(ctx, finder, q)
		if err == nil {
			answer.Unknown = append(answer.Unknown, deleted.Unknown())
		}
		return answer, err
	}
	if err != nil {
		return nil, err
	}
	if !q.At.IsZero() {
		answer.At = q.At.String()
	}
	return answer, nil
}

// Edges lists every edge between files of the work tree, or of the commit at if it is not zero.
func Edges(ctx context.Context, finder *find.Finder, at repo.ID) ([]Edge, error) {
	list := []Edge{}
	err := finder.WithIndex(ctx, at, func(x *searchindex.Index, _ *find.IndexedTree) error {
		return x.AllEdges(ctx, func(e searchindex.Edge) error {
			list = append(list, edge(e))
			return nil
		})
	})
	return list, err
}

// A Answer lists the users of something, what it uses, and its tests.
type Answer struct {
	At             string          `json:"at"` // the commit, or "worktree"
	repo.PathJSON                  // of the file or directory; "" for several declarations
	Symbol         string          `json:"symbol"`
	Declarations   []Declaration   `json:"declarations"` // of the symbol, or the main ones of the file
	UsedBy         []User          `json:"used_by"`
	Uses           []User          `json:"uses"`
	Tests          []Test          `json:"tests"`
	ReachedByTests int             `json:"reached_by_tests"`        // test files that are not in Tests
	NearestTests   []repo.PathJSON `json:"nearest_tests,omitempty"` // the first of them
	// Through lists methods of interfaces, traits and base classes that the symbol implements.
	Through []InterfaceUses `json:"through,omitempty"`
	// ImplementedBy lists the methods that implement the symbol.
	ImplementedBy []Implementor   `json:"implemented_by,omitempty"`
	Introduced    *Introduction   `json:"introduced,omitempty"` // nil if it is unknown
	ChangesWith   []ChangesWith   `json:"changes_with"`
	Commits       *CommitSpan     `json:"commits,omitempty"` // the commits that ChangesWith counts
	SameBytes     []repo.PathJSON `json:"same_bytes"`
	Mentions      []Mention       `json:"mentions"`               // of the path, or of the symbol in other spellings
	Ambiguous     int             `json:"ambiguous"`              // uses that may mean something else
	AmbiguousIn   []FileLines     `json:"ambiguous_in,omitempty"` // files with such uses of the symbol
	Unresolved    Unresolved      `json:"unresolved"`             // mentions that may be uses
	Unknown       []fault.Unknown `json:"unknown,omitempty"`      // users, or all of it
	More          map[string]int  `json:"more,omitempty"`         // the number of files above the limit, by list

	// Directory is set if the answer is about a directory.
	Directory bool `json:"-"`
	// OnlyTests is set if the query asks only for the tests.
	OnlyTests bool `json:"-"`
	// Named is the number of declarations of a bare symbol.
	Named int `json:"-"`
}

// whyNoUsers returns why the users are unknown; "" if they are known.
func (a *Answer) whyNoUsers() string {
	for _, u := range a.Unknown {
		if u.What == whatUsers {
			return u.Why
		}
	}
	return ""
}

// isOpen reports whether there may be uses that the answer does not list.
func (a *Answer) isOpen() bool {
	isAmbiguous := a.Ambiguous > 0 && a.Symbol != ""
	isMentioned := a.Symbol == "" && slices.ContainsFunc(a.Mentions, func(m Mention) bool { return mayUse(m.Kind) })
	isUnread := slices.ContainsFunc(a.Unknown, func(u fault.Unknown) bool { return u.What == find.WhatFiles })
	isSettled := a.Unresolved.IsZero() && !isUnread
	return isAmbiguous || isMentioned || !isSettled
}

// A TestsDocument is the part of an answer about tests.
type TestsDocument struct {
	At string `json:"at"`
	repo.PathJSON
	Symbol         string          `json:"symbol"`
	Tests          []Test          `json:"tests"`
	ReachedByTests int             `json:"reached_by_tests"`
	NearestTests   []repo.PathJSON `json:"nearest_tests,omitempty"`
	More           map[string]int  `json:"more,omitempty"`
	Unresolved     Unresolved      `json:"unresolved"`
	Unknown        []fault.Unknown `json:"unknown,omitempty"`
}

// TestsDocument returns the part about tests.
func (a *Answer) TestsDocument() TestsDocument {
	d := TestsDocument{
		At: a.At, PathJSON: a.PathJSON, Symbol: a.Symbol, Tests: a.Tests, ReachedByTests: a.ReachedByTests,
		NearestTests: a.NearestTests, Unresolved: a.Unresolved, Unknown: a.Unknown,
	}
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

func (f *FileLines) addLines(lines []int, more int) {
	f.Lines = append(f.Lines, lines...)
	slices.Sort(f.Lines)
	f.Lines = slices.Compact(f.Lines)
	f.More += more
}

// A Declaration is a symbol with its place.
type Declaration struct {
	repo.PathJSON
	Name      string       `json:"name"` // the full name
	Kind      outline.Kind `json:"kind"`
	Line      int          `json:"line"`
	Signature string       `json:"signature"`
	SameFile  []int        `json:"same_file,omitempty"` // lines of its file that use it
	OwnUses   []Place      `json:"own_uses,omitempty"`  // how these lines use it
	Users     int          `json:"users"`               // files that use it
	More      int          `json:"more,omitempty"`      // the number of users above the limit

	// OwnFile is set if its file uses it outside the declaration.
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
	Places    []Place        `json:"places"`
	Of        string         `json:"of,omitempty"` // PATH#SYMBOL, if there are several declarations

	// Starts is set if a test runner starts the file. Other test files are helpers.
	Starts bool `json:"-"`

	path repo.Path
}

// A Place describes how a file uses one symbol.
type Place struct {
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

// An Edge says that one file uses another, or a symbol of it: an edge in the output of ken uses --all.
type Edge struct {
	From      repo.Path       `json:"from"`
	To        repo.Path       `json:"to"`
	Symbol    string          `json:"symbol"`
	Kind      outline.UseKind `json:"kind"`
	Certainty uses.Certainty  `json:"certainty"`
	Via       repo.Path       `json:"via"`
}

func edge(e searchindex.Edge) Edge {
	w := Edge{From: e.From, To: e.To, Symbol: e.Symbol, Kind: e.Kind, Certainty: uses.Likely, Via: e.Via}
	if e.Exact {
		w.Certainty = uses.Exact
	}
	return w
}
