package web

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"ken/internal/docs"
	"ken/internal/docs/mention"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/repo"
)

// A documentsBody lists the mentions in documents.
type documentsBody struct {
	Documents, Mentions, Hold, Wrong int
	Stale                            []documentView // documents with stale mentions
	More                             int            // stale mentions that are not listed
	Hidden                           []hiddenCount
	Unknown                          []fault.Unknown
	Passed                           int            // files in formats that ken does not read
	All                              []documentView // every document that was read, without rows
	MoreDocuments                    int
}

// A documentView is a document with its stale mentions.
type documentView struct {
	Path     repo.Path
	Href     template.URL // "" if there is no page
	Rows     []mentionRow
	Mentions int
	Wrong    int
	Fixable  int           // mentions that Fix corrects
	Form     repo.PathJSON // the path as fields of a form
	Flag     string        // of ken docs: "--fix " if a mention moved
	Arg      string        // the path for ken commands
}

// A mentionRow is a stale mention.
type mentionRow struct {
	Line    int
	Href    template.URL
	Text    string
	Verdict fresh.Verdict
	Kind    mention.Kind
	To      repo.Path // where it is now, of one that moved
	ToHref  template.URL
	Since   *docs.Commit
	Pending bool // not committed yet
	Why     string
	// Before, Name and After are the line of the document; Name is "" if it is unknown.
	Before, Name, After string
	Fix                 string // what Fix writes instead
}

// A hiddenCount counts mentions that are not listed, by reason.
type hiddenCount struct {
	Why   string
	Count int
}

const (
	mostMentions  = 300 // stale mentions on the page
	mostDocuments = 300 // documents in the list of all
	lineRunes     = 160 // of a line on each side of a mention
)

// documentsPage lists the mentions of each document, those that are wrong first.
func (s *Server) documentsPage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "documents", "Documents")
	if err != nil || f.Tree == nil || f.Tree.Unknown != nil || f.Tree.Documents.Known == nil {
		return f, err
	}
	known := f.Tree.Documents.Known
	b := &documentsBody{Documents: known.Documents, Mentions: known.Mentions, Hold: known.Hold, Wrong: known.Wrong}
	b.fill(f, known.Report)
	if len(b.Stale) > 0 {
		err = s.withRepository(r.Context(), f.Worktree, func(ctx context.Context, w *ken.Repository) error { return b.readLines(ctx, w, known.Report) })
		if err != nil {
			return f, err
		}
	}
	f.Body = b
	return f, nil
}

func (b *documentsBody) fill(f *pageData, rep *docs.Report) {
	at := make(map[repo.Path]int) // in b.Stale
	hidden := make(map[string]int)
	wrong := make(map[repo.Path]int)
	listed := 0
	for i := range rep.Mentions {
		m := &rep.Mentions[i]
		if m.Hidden != "" {
			if m.Verdict != docs.Holds {
				hidden[m.Hidden]++
			}
			continue
		}
		wrong[m.File]++
		if listed == mostMentions {
			b.More++
			continue
		}
		listed++
		k, ok := at[m.File]
		if !ok {
			k = len(b.Stale)
			at[m.File] = k
			b.Stale = append(b.Stale, f.documentView(m.File))
		}
		d := &b.Stale[k]
		d.Wrong++
		d.Rows = append(d.Rows, f.mentionRow(m))
		if m.Verdict == docs.Moved {
			d.Flag = "--fix "
		}
	}
	slices.SortStableFunc(b.Stale, func(x, y documentView) int { return y.Wrong - x.Wrong })
	for _, why := range slices.Sorted(maps.Keys(hidden)) {
		b.Hidden = append(b.Hidden, hiddenCount{why, hidden[why]})
	}
	b.Unknown = rep.Unknown(false)
	b.Passed = rep.UnreadFormats
	for _, t := range rep.Documents {
		if len(b.All) == mostDocuments {
			b.MoreDocuments++
			continue
		}
		d := f.documentView(t.File)
		d.Wrong = wrong[t.File]
		for _, n := range t.Counts {
			d.Mentions += n
		}
		b.All = append(b.All, d)
	}
	slices.SortStableFunc(b.All, func(x, y documentView) int { return y.Wrong - x.Wrong })
}

func (pd *pageData) documentView(p repo.Path) documentView {
	return documentView{Path: p, Href: pd.trackedFile(p, 0), Form: p.JSON(), Arg: pathArg(p)}
}

func (pd *pageData) mentionRow(m *docs.CheckedMention) mentionRow {
	row := mentionRow{
		Line: m.Line, Text: m.Text, Verdict: m.Verdict, Kind: m.Kind, To: m.To,
		Since: m.Since, Pending: m.Uncommitted, Why: m.Why, Href: pd.trackedFile(m.File, m.Line),
	}
	if m.To != "" {
		row.ToHref = pd.trackedFile(m.To, 0)
	}
	return row
}

// readLines adds the lines of the documents, and what Fix would write. A document that
// changed since it was judged gets only the lines that still have the mention.
func (b *documentsBody) readLines(ctx context.Context, w *ken.Repository, rep *docs.Report) error {
	mentions := make(map[repo.Path][]docs.CheckedMention)
	for _, m := range rep.Stale() {
		mentions[m.File] = append(mentions[m.File], m)
	}
	paths := make([]repo.Path, len(b.Stale))
	for i := range b.Stale {
		paths[i] = b.Stale[i].Path
	}
	var mu sync.Mutex
	return w.Files.Bytes(ctx, paths, find.MaxBytes, func(i int, content []byte, err error) {
		if err != nil {
			return // the verdicts are shown without lines
		}
		mu.Lock()
		defer mu.Unlock()
		b.Stale[i].addLines(content, mentions[paths[i]])
	})
}

func (d *documentView) addLines(content []byte, mentions []docs.CheckedMention) {
	lines := bytes.Split(content, []byte("\n"))
	for i := range d.Rows {
		row := &d.Rows[i]
		if row.Line < 1 || row.Line > len(lines) {
			continue
		}
		line := strings.ToValidUTF8(strings.TrimSpace(string(lines[row.Line-1])), "\uFFFD")
		before, after, ok := strings.Cut(line, row.Text)
		if ok && row.Text != "" {
			row.Before, row.Name, row.After = lastRunes(before), row.Text, firstRunes(after)
		}
	}
	_, fixed := docs.Fix(d.Path, content, mentions)
	d.Fixable = len(fixed.Edits)
	for _, e := range fixed.Edits {
		for i := range d.Rows {
			if row := &d.Rows[i]; row.Line == e.Line && row.Fix == "" && strings.Contains(row.Text, e.From) {
				row.Fix = e.To
				break
			}
		}
	}
	for _, m := range fixed.Unfixed {
		for i := range d.Rows {
			if row := &d.Rows[i]; m.Verdict == docs.Moved && row.Line == m.Line && row.Text == m.Text && row.Why == "" {
				row.Why = "ken cannot correct it: " + m.Why
			}
		}
	}
}

func lastRunes(text string) string {
	if r := []rune(text); len(r) > lineRunes {
		return "…" + string(r[len(r)-lineRunes:])
	}
	return text
}

func firstRunes(text string) string {
	if r := []rune(text); len(r) > lineRunes {
		return string(r[:lineRunes]) + "…"
	}
	return text
}

// apiFixDocs corrects the mentions of one document that moved, as ken docs --fix does.
func (s *Server) apiFixDocs(w http.ResponseWriter, r *http.Request) {
	var in repo.PathJSON
	err := decode(r, &in)
	var path repo.Path
	if err == nil {
		path, err = in.Raw()
	}
	if err == nil && path == "" {
		err = statusErr(http.StatusBadRequest, "no document given", `send {"path": "docs/guide.md"}`)
	}
	var done any
	if err == nil {
		done, err = s.changeWorktree(r, func(ctx context.Context, ws *ken.Repository) (any, error) { return fixDocument(ctx, ws, path) })
	}
	s.reply(w, r, done, err, "/documents")
}

func fixDocument(ctx context.Context, w *ken.Repository, path repo.Path) (any, error) {
	rep, err := w.Documents().Check(ctx, docs.Options{})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(rep.Documents, func(t docs.DocumentCounts) bool { return t.File == path }) {
		return nil, statusErr(http.StatusNotFound, "no tracked document at "+path.String(), "see the documents at /documents")
	}
	fixed, err := w.Documents().Fix(ctx, rep.Below([]repo.Path{path}), false)
	if err != nil {
		return nil, err
	}
	if len(fixed.Edits) == 0 {
		why := "no mention in it moved"
		for i := range fixed.Unfixed {
			if m := &fixed.Unfixed[i]; m.Verdict == docs.Moved && m.Why != "" {
				why = fmt.Sprintf("line %d: %s", m.Line, m.Why)
			}
		}
		return nil, statusErr(http.StatusConflict, "nothing to correct in "+path.String()+": "+why, "edit the document, or see: ken docs "+fault.Quote(string(path)))
	}
	return fixed.JSON(false), nil
}
