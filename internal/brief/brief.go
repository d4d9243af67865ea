// Package brief describes a file, a directory or the whole repository to someone who is about to work on it: its
// purpose, the instruction documents that apply to it, its users, its tests and the commands that run them, and the
// files that change with it.
//
// A [Briefer] collects the facts. [File], [Directory] and [Repository] are pure functions that order them and cut them
// to a budget. Each line says something that a listing of the directory does not. A fact that ken could not find out
// is listed as unknown.
package brief

import (
	"fmt"
	"strings"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
)

// A Brief describes one place, the most important facts first, as many as fit.
type Brief struct {
	Commit   repo.ID   `json:"commit"`
	State    string    `json:"state"`
	Path     string    `json:"path"` // "." for the root
	PathB64  string    `json:"path_b64,omitempty"`
	Kind     string    `json:"kind"`   // file, directory or repository
	Tokens   int       `json:"tokens"` // of the text, estimated at 4 bytes each
	Sections []Section `json:"sections"`
	LeftOut  int       `json:"left_out"` // lines that did not fit
	// Omitted are the subjects of which only the name fits.
	Omitted []string `json:"omitted,omitempty"`
	// Unknown are the limits of the whole brief. A fact that is unknown is a section of its own.
	Unknown []fault.Unknown `json:"unknown,omitempty"`
}

// The kinds of briefs.
const (
	KindFile       = "file"
	KindDirectory  = "directory"
	KindRepository = "repository"
)

// The budget of a brief, in tokens.
const (
	DefaultBudget = 1500
	MinBudget     = 50
	BytesPerToken = 4 // as an estimate
)

// A Section is a text about one subject, with its verdict.
type Section struct {
	Subject string `json:"subject"`
	Verdict string `json:"verdict"`
	Text    string `json:"text"`
	Items   []Item `json:"items,omitempty"` // the lines of Text, in fields
	More    int    `json:"more,omitempty"`  // items that are not listed
	// Written is set if a person or an agent wrote the text, so that it can be stale.
	Written bool `json:"written"`
	// ByKen says that the text is ken's own statement, not one of the repository.
	ByKen bool `json:"-"`
}

// An Item is one line of a section. It has the fields that its section needs.
type Item struct {
	Path      string   `json:"path,omitempty"`
	PathB64   string   `json:"path_b64,omitempty"`
	Line      int      `json:"line,omitempty"`
	Lines     []int    `json:"lines,omitempty"`
	Names     []string `json:"names,omitempty"` // symbols, or the headings of a document
	Text      string   `json:"text,omitempty"`
	Command   string   `json:"command,omitempty"`
	Source    string   `json:"source,omitempty"`    // the file and line that say so
	Certainty string   `json:"certainty,omitempty"` // exact or likely
	Via       string   `json:"via,omitempty"`
	Users     int      `json:"users,omitempty"` // files that use it
	Uses      int      `json:"uses,omitempty"`  // files of the directory that it uses
	Together  int      `json:"together,omitempty"`
	Of        int      `json:"of,omitempty"`
	Commit    string   `json:"commit,omitempty"`
	Date      string   `json:"date,omitempty"`
	// Files are the test files that Command runs, if there are several.
	Files []repo.PathJSON `json:"files,omitempty"`

	show string // the line
}

// at sets the path of an item.
func (it Item) at(p repo.Path) Item {
	j := repo.DirLabel(p).JSON()
	it.Path, it.PathB64 = j.Path, j.B64
	return it
}

// String returns the section as text. It includes the verdict if a person or an agent wrote the text, and if the text is
// not certain.
func (s Section) String() string {
	head := s.head()
	if s.Text == "" {
		return head + "\n"
	}
	if len(s.Items) > 0 && (len(s.Items) > 1 || len(s.Text) > 100) {
		return head + ":\n  " + strings.ReplaceAll(s.Text, "\n", "\n  ") + "\n" + moreLine(s.More)
	}
	if s.More > 0 {
		return fmt.Sprintf("%s: %s, +%d\n", head, s.Text, s.More)
	}
	return head + ": " + s.Text + "\n"
}

// moreLine is the last line of a list that was shortened, "" if it was not.
func moreLine(more int) string {
	if more <= 0 {
		return ""
	}
	return fmt.Sprintf("  +%d\n", more)
}

// shownVerdict returns the verdict to print. It is "" for a section that ken derived just now from the current
// content, because such a section is always fresh.
func (s Section) shownVerdict() string {
	if !s.Written && strings.HasPrefix(s.Verdict, fresh.Fresh.String()) {
		return ""
	}
	for _, kind := range []string{"stale-self", "stale-below"} {
		if rest, ok := strings.CutPrefix(s.Verdict, kind); ok {
			return fresh.Stale.String() + rest
		}
	}
	return s.Verdict
}

// String returns the brief as text.
func (b *Brief) String() string {
	var text strings.Builder
	for _, s := range b.Sections {
		text.WriteString(s.String())
	}
	text.WriteString(b.omittedLine())
	for _, n := range b.notes() {
		text.WriteString(n)
	}
	return text.String()
}

// omittedLine names the subjects that did not fit, "" for none.
func (b *Brief) omittedLine() string {
	if len(b.Omitted) == 0 {
		return ""
	}
	return "left out: " + strings.Join(b.Omitted, ", ") + "\n"
}

// notes returns a line for each limit of the brief.
func (b *Brief) notes() []string {
	list := make([]string, len(b.Unknown))
	for i, u := range b.Unknown {
		list[i] = "note: " + u.Text(func(s string) string { return s }) + "\n"
	}
	return list
}
