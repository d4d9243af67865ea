// Package find answers where to look: from a task in words to the files, symbols and lines
// that matter for it, best first, each with the reason.
//
// It searches paths, symbols, doc comments, text, summaries and the subjects of past commits
// in the worktree's [searchindex.Index]; then it follows uses and common changes one step from
// the best files. It starts no model and contacts nobody.
package find

import (
	"context"
	"fmt"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// A Tree is the files and the history of the work tree or of a commit.
type Tree interface {
	// State names the files with their contents, kinds and summaries: two equal names mean
	// equal lists. It is "" if there is no name for them.
	State(ctx context.Context) (string, error)
	// Files lists the files with their content ids.
	Files(ctx context.Context) ([]File, error)
	// Facts calls see with the facts of each file and with its content, which is nil if it is
	// larger than MaxBytes. It calls see once at a time.
	Facts(ctx context.Context, files []File, see func(f File, facts Facts, content []byte) error) error
	// References calls see with the references of each file, nil if ken has none.
	References(ctx context.Context, files []File, see func(f File, refs *outline.References) error) error
	// Head is the commit whose history counts; zero before the first commit.
	Head(ctx context.Context) (repo.ID, error)
	// Recent lists the newest commits that head reaches; cut says that a shallow clone hides older ones.
	Recent(ctx context.Context, head repo.ID, limit int) (ids []repo.ID, cut bool, err error)
	// Commits calls f with each of some commits.
	Commits(ctx context.Context, ids []repo.ID, f func(repo.Commit) error) error
	// Read returns the content of one file, nil if it cannot be read.
	Read(ctx context.Context, p repo.Path) []byte
}

// A File is a tracked file.
type File struct {
	Path repo.Path
	ID   repo.ID
	Kind repo.Kind
	Size int64
	// Note is what somebody wrote about this content: a summary that is fresh.
	Note string
}

// Facts are what a grammar saw in a file; nil where it saw nothing.
type Facts struct {
	Outline    *outline.Outline
	References *outline.References
}

// MaxBytes is the size up to which the text of a file is searched. A larger one is found by its
// path.
const MaxBytes = outline.MaxBytes

// A Query is a question. Words are searched as they are and split into their parts.
type Query struct {
	Words []string
	Limit int         // of places; 0 is DefaultLimit
	Kinds []repo.Kind // only files of these kinds; all if empty
}

// DefaultLimit is the number of places in an answer.
const DefaultLimit = 10

// An Answer lists the places that matter, best first.
type Answer struct {
	Query   string   `json:"query"`
	At      string   `json:"at"` // the commit, or "worktree"
	Places  []Place  `json:"places"`
	Unknown []string `json:"unknown"`           // words that no file and no commit has
	Remarks []string `json:"remarks,omitempty"` // what limits the answer
}

// A Place is a file with the line to read first.
type Place struct {
	Path repo.Path `json:"-"`
	repo.PathJSON
	Symbols []Symbol `json:"symbols"` // the symbol around the line first
	Line    int      `json:"line,omitempty"`
	Text    string   `json:"text,omitempty"` // of the line
	Score   float64  `json:"score"`
	Why     []string `json:"why"`
}

// A Symbol is a declaration in a place.
type Symbol struct {
	Name string `json:"name"`
	Line int    `json:"line"`
}

// kindsByName are the kinds that a query may be limited to.
var kindsByName = map[string][]repo.Kind{
	"code": {repo.KindSource},
	"test": {repo.KindTest},
	"doc":  {repo.KindDoc},
}

// ParseKinds reads the names of kinds: code, test, doc.
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
