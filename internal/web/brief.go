package web

import (
	"context"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ken/internal/board"
	"ken/internal/brief"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/spec"
)

// pathDetails are the values that the pages of files and directories have in common.
type pathDetails struct {
	Path repo.Path
	// Brief is what ken brief says. It is nil if BriefUnknown says why, or if it takes so
	// long that the page loads it later.
	Brief        *briefView
	BriefUnknown *fault.Unknown
	// Changes are the changes since the summary was written, nil if there is nothing to
	// compare or ChangesUnknown says why they are unknown.
	Changes        *summaryDiff
	ChangesUnknown *fault.Unknown
	// Owners are the specs that govern the path. OwnersUnknown says why they are unknown.
	Owners        []owner
	OwnersUnknown *fault.Unknown
}

// Field returns the path as a form sends it. A browser would change the line ends in a name.
func (p *pathDetails) Field() repo.PathJSON {
	name := repo.DirLabel(p.Path)
	if name.String() != string(name) {
		return repo.PathJSON{B64: base64.StdEncoding.EncodeToString([]byte(name))}
	}
	return repo.PathJSON{Path: string(name)}
}

// An owner is a spec that governs a file or directory.
type owner struct {
	spec.Claim
	Node *board.Node // nil if the board does not have it yet
}

// briefTime is how long a page waits for its brief.
const briefTime = time.Second

// read fills the details from a worktree. compare says that there is a stale summary.
func (p *pathDetails) read(ctx context.Context, f *pageData, w *ken.Repository, compare bool) {
	owners, err := w.Spec().Owners(ctx, []repo.Path{p.Path})
	if err != nil {
		p.OwnersUnknown = unread(err)
	} else {
		p.addOwners(f.Tree, owners[0].Governing)
		if len(owners[0].Unknown) > 0 {
			p.OwnersUnknown = &owners[0].Unknown[0]
		}
	}
	if compare {
		diff, err := w.Reviewer().Diff(ctx, p.Path)
		if err != nil {
			p.ChangesUnknown = unread(err)
		} else {
			p.Changes = f.summaryDiff(diff)
		}
	}
	p.readBrief(ctx, f, briefTime, func(ctx context.Context) (*brief.Brief, error) { return briefOf(ctx, w, p.Path) })
}

// readBrief calls read for the brief. If that takes longer than within, Brief and BriefUnknown stay
// nil.
func (p *pathDetails) readBrief(ctx context.Context, f *pageData, within time.Duration, read func(context.Context) (*brief.Brief, error)) {
	quick, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	b, err := read(quick)
	switch {
	case err == nil:
		p.Brief = f.brief(b)
	case quick.Err() == nil || ctx.Err() != nil:
		p.BriefUnknown = unread(err)
	}
}

// pageBudget is the length of a brief on a page, in tokens. A page has more room than a terminal.
const pageBudget = 8 * brief.DefaultBudget

// briefOf returns the brief of a file or directory; "" is the root.
func briefOf(ctx context.Context, w *ken.Repository, path repo.Path) (*brief.Brief, error) {
	return w.Briefer().Brief(ctx, brief.Options{Path: path, Budget: pageBudget})
}

func (p *pathDetails) addOwners(w *board.Worktree, claims []spec.Claim) {
	for _, c := range claims {
		o := owner{Claim: c}
		if known := w.Spec.Known; known != nil {
			for i := range known.Nodes {
				if known.Nodes[i].ID == c.ID {
					o.Node = &known.Nodes[i]
				}
			}
		}
		p.Owners = append(p.Owners, o)
	}
}

// briefPage shows the brief of a file or directory. The page of the path loads it if it
// did not get it in time.
func (s *Server) briefPage(r *http.Request) (*pageData, error) {
	path, err := cleanPath(r.URL.Query().Get("path"))
	if err != nil {
		return nil, err
	}
	f, err := s.newPage(r, "brief", repo.DirLabel(path).String())
	if err != nil || f.Tree == nil {
		return f, err
	}
	p := &pathDetails{Path: path}
	f.Body = p
	err = s.withRepository(r.Context(), f.Worktree, func(ctx context.Context, w *ken.Repository) error {
		b, err := briefOf(ctx, w, path)
		if err == nil {
			p.Brief = f.brief(b)
		}
		return err
	})
	if err != nil {
		if status := statusOf(err); status < http.StatusInternalServerError {
			return f, err
		}
		p.BriefUnknown = unread(err)
	}
	if r.Header.Get("X-Ken-Part") != "" {
		f.bare = "brief"
	}
	return f, nil
}

// A briefView is a brief as a page shows it.
type briefView struct {
	Words   string // what a file without a summary says of itself
	Main    []briefSection
	Side    []briefSection
	Unknown []fault.Unknown
	LeftOut int
	Command string // prints the brief
}

// A briefSection is a section of a brief, with links.
type briefSection struct {
	ID, Title string
	Verdict   string // "" if ken derived the section just now
	Text      string // of a section without rows
	Rows      []briefRow
	Rest      []briefRow // rows that the reader unfolds
	More      int        // rows that the brief left out
}

// A briefRow is an item of a section, with links.
type briefRow struct {
	brief.Item
	Page       template.URL // of the path, "" if git does not track it
	Label      string       // the path as a page shows it
	Short      string       // abbreviated commit
	Tests      []pageLink
	SourcePage template.URL
	LineOf     repo.Path // the file that Line is in
}

// Shown returns the first lines of the file that the item is about.
func (r briefRow) Shown() []int { return r.Lines[:min(len(r.Lines), rowLines)] }

// FirstNames returns the first symbols of the item, and OtherNames counts the rest.
func (r briefRow) FirstNames() []string { return r.Names[:min(len(r.Names), rowNames)] }

// OtherNames returns how many symbols FirstNames leaves out.
func (r briefRow) OtherNames() int { return len(r.Names) - len(r.FirstNames()) }

// How many lines and symbols of a file a row shows.
const (
	rowLines = 5
	rowNames = 5
)

// A pageLink is a path with the address of its page.
type pageLink struct {
	Label string
	Page  template.URL // "" if git does not track it
}

// rowsShown is how many rows of a section are shown before the reader unfolds it.
const rowsShown = 12

// brief prepares a brief for a page. The summary and the specs have places of their own on
// the page.
func (pd *pageData) brief(b *brief.Brief) *briefView {
	v := &briefView{Unknown: b.Unknown, LeftOut: b.LeftOut, Command: "ken brief " + pathArg(rawPath(b.Path, b.PathB64))}
	ids := make(map[string]bool)
	for i, s := range b.Sections {
		words := s.Subject == b.Path && len(s.Items) == 0
		switch {
		case words && !s.Written && b.Kind == brief.KindFile && s.Verdict != fresh.None.String():
			v.Words = s.Text
		case words, s.Written && strings.HasPrefix(s.Subject, "spec "):
		default:
			section := pd.briefSection(s, rawPath(b.Path, b.PathB64))
			if section.ID = sectionID(s.Subject); ids[section.ID] {
				section.ID += "-" + strconv.Itoa(i)
			}
			ids[section.ID] = true
			if isList(s) {
				v.Main = append(v.Main, section)
			} else {
				v.Side = append(v.Side, section)
			}
		}
	}
	return v
}

// sectionID returns an id for a section from the words in front of its numbers.
func sectionID(subject string) string {
	end := strings.IndexFunc(subject, func(c rune) bool { return (c < 'a' || c > 'z') && c != ' ' })
	if end >= 0 {
		subject = subject[:end]
	}
	return "brief-" + strings.Join(strings.Fields(subject), "-")
}

// isList reports whether a section lists symbols or files, which need room.
func isList(s brief.Section) bool {
	for _, it := range s.Items {
		if it.Command != "" || it.Commit != "" || it.Source != "" || it.Together > 0 {
			return false
		}
	}
	return len(s.Items) > 0 && !strings.HasPrefix(s.Subject, "named in") && !strings.HasPrefix(s.Subject, "same bytes")
}

func (pd *pageData) briefSection(s brief.Section, about repo.Path) briefSection {
	out := briefSection{Title: capital(s.Subject), Text: s.Text, More: s.More}
	if s.Verdict != fresh.Fresh.String() {
		out.Verdict = s.Verdict
	}
	for _, it := range s.Items {
		if strings.HasPrefix(s.Subject, "uses ") {
			it.Lines = nil // they are lines of the path of the page, not of the file that the row names
		}
		out.Rows = append(out.Rows, pd.briefRow(it, about))
	}
	if len(out.Rows) > rowsShown+2 {
		out.Rows, out.Rest = out.Rows[:rowsShown], out.Rows[rowsShown:]
	}
	if len(out.Rows) > 0 {
		out.Text = ""
	}
	return out
}

func (pd *pageData) briefRow(it brief.Item, about repo.Path) briefRow {
	row := briefRow{Item: it, Short: it.Commit[:min(len(it.Commit), 7)], LineOf: about}
	if it.Path != "" {
		p := rawPath(it.Path, it.PathB64)
		row.Page, row.Label, row.LineOf = pd.pageOf(p), it.Path, p
		if strings.HasPrefix(string(row.Page), "/map") {
			row.Label += "/"
		}
	}
	for _, t := range it.Files {
		row.Tests = append(row.Tests, pageLink{t.Path, pd.pageOf(rawPath(t.Path, t.B64))})
	}
	if it.Command != "" && it.Path != "" {
		row.Tests = append(row.Tests, pageLink{it.Path, row.Page})
	}
	file, _, _ := cutLast(it.Source, ":")
	for _, name := range []string{file, it.Source} {
		if page := pd.pageOf(repo.Path(name)); name != "" && page != "" {
			row.SourcePage = page
		}
	}
	return row
}

// rawPath returns the path that a document names, "" for the root.
func rawPath(text, b64 string) repo.Path {
	p, err := repo.PathJSON{Path: text, B64: b64}.Raw()
	if err != nil || p == "." {
		return ""
	}
	return p
}

// capital returns a text with a capital letter in front.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
