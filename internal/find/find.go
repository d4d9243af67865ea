// Package find finds the files, symbols and lines for a task that is described in words. It lists the best first,
// each with the reason.
//
// It searches paths, symbols, doc comments, text, summaries and the subjects of past commits in the worktree's
// [searchindex.Index]. From the best files it follows uses and common changes one step. It uses no model and no
// network.
package find

import (
	"context"
	"fmt"
	"strings"

	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/repo"
)

// A Tree has the files and the history of the work tree or of a commit.
type Tree interface {
	// State returns a key for the list of files with their contents, kinds and summaries: equal keys mean equal
	// lists. It is "" if there is no key.
	State(ctx context.Context) (string, error)
	// Files lists the files whose content is known, with their kinds and sizes.
	Files(ctx context.Context) ([]repo.File, error)
	// Unread lists the files whose content is not known, with the problem. Call Files first.
	Unread() []repo.File
	// Summary returns the fresh summary of a file, "" if it has none. Call Files first.
	Summary(p repo.Path) string
	// Facts calls see with the facts of each file and with its content, which is nil if it is
	// larger than MaxBytes. It calls see once at a time.
	Facts(ctx context.Context, files []repo.File, see func(f repo.File, facts Facts, content []byte) error) error
	// References calls see with the references of each file, nil if ken has none.
	References(ctx context.Context, files []repo.File, see func(f repo.File, refs *outline.References) error) error
	// Commit returns the commit whose history counts; zero before the first commit. Call State or Files first.
	Commit() repo.ID
	// Recent lists the newest commits in the history of head; shallow is set if the clone hides older ones.
	Recent(ctx context.Context, head repo.ID, limit int) (ids []repo.ID, shallow bool, err error)
	// Commits calls f with each of some commits.
	Commits(ctx context.Context, ids []repo.ID, f func(repo.Commit) error) error
	// AuthorDate returns when the author of a commit wrote it.
	AuthorDate(ctx context.Context, commit repo.ID) (string, error)
	// ContentsAt returns the content ids of files in commits, zero where a commit has no such file.
	ContentsAt(ctx context.Context, places []repo.CommitPath) ([]repo.ID, error)
	// Blobs returns contents of git of at most MaxBytes; the others are nil.
	Blobs(ctx context.Context, ids []repo.ID) ([][]byte, error)
	Reader
}

// A Reader reads files.
type Reader interface {
	// Read returns the content of one file, nil if it cannot be read.
	Read(ctx context.Context, p repo.Path) []byte
}

// Facts are the parsed facts of a file; nil if there are none.
type Facts struct {
	Outline    *outline.Outline
	References *outline.References
}

// MaxBytes is the size up to which the text of a file is searched. A larger file is found only by its path.
const MaxBytes = outline.MaxBytes

// A Query is a search. Its words are searched unchanged and split into their parts.
type Query struct {
	Words []string
	Limit int         // the number of places; defaultLimit if 0
	Kinds []repo.Kind // only files of these kinds; all if empty
}

// defaultLimit is the default number of places in an answer.
const defaultLimit = 10

// An Answer lists the places that matter, best first.
type Answer struct {
	Query  string  `json:"query"`
	At     string  `json:"at"` // the commit, or "worktree"
	Places []Place `json:"places"`
	// Unmatched are the words that occur in no file and no commit.
	Unmatched []string `json:"unmatched"`
	// Removed says of words that are former paths which commits renamed or deleted them.
	Removed []string        `json:"removed,omitempty"`
	Unknown []fault.Unknown `json:"unknown,omitempty"`
}

// A Place is a file with the line to read first.
type Place struct {
	Path repo.Path `json:"-"`
	repo.PathJSON
	Symbols []Symbol `json:"symbols"` // around the lines, the best first
	Line    int      `json:"line,omitempty"`
	Text    string   `json:"text,omitempty"`    // of the line
	Lines   []Line   `json:"lines,omitempty"`   // the best lines, Line first
	Command string   `json:"command,omitempty"` // runs the test, if the query asks for tests
	Score   float64  `json:"score"`
	Why     []string `json:"why"`
	// Copies counts the files that are not listed because of this one: those with the same content, and, of generated and
	// vendored files, those with the same name.
	Copies int `json:"copies,omitempty"`
}

// A Line is a line that matters, with the symbol around it.
type Line struct {
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Symbol string `json:"symbol,omitempty"`
}

// A Symbol is a declaration in a place.
type Symbol struct {
	Name string `json:"name"`
	Line int    `json:"line"`
}

// kindsByName are the kinds that a query may select.
var kindsByName = map[string][]repo.Kind{
	"code": {repo.KindSource},
	"test": {repo.KindTest},
	"doc":  {repo.KindDoc},
}

// ParseKinds parses the names of kinds: code, test, doc.
func ParseKinds(names []string) ([]repo.Kind, error) {
	var kinds []repo.Kind
	for _, name := range names {
		list, ok := kindsByName[strings.TrimSpace(name)]
		if !ok {
			return nil, fmt.Errorf("unknown kind %q: use code, test or doc", name)
		}
		kinds = append(kinds, list...)
	}
	return kinds, nil
}
