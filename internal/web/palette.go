package web

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/ken"
	"ken/internal/repo"
)

// A findAnswer is the document of ken find --json, with the rows of the palette.
type findAnswer struct {
	*find.Answer
	// Rows are the pages, specs, files, documents and symbols that match, best first.
	Rows []findRow `json:"rows"`
	// Reading reports that ken is still reading the repository. Then the answer has only
	// pages, specs and paths, and the client asks again.
	Reading bool `json:"reading"`
}

// A findRow is one row of the palette.
type findRow struct {
	Kind   string `json:"kind"` // page, spec, file, document or symbol
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty"` // where it is
	Text   string `json:"text,omitempty"`   // the line to read first
	Href   string `json:"href"`
}

const (
	findTime    = 400 * time.Millisecond // how long an answer waits for the search index
	maxQuery    = 400                    // bytes of a query
	maxPlaces   = 50
	mostRows    = 30
	mostMatches = 8 // specs or paths in the palette
)

// apiFind answers with the places for some words, and with the pages, specs and paths
// that have them.
func (s *Server) apiFind(w http.ResponseWriter, r *http.Request) {
	v, err := s.find(r)
	s.reply(w, r, v, err, "")
}

func (s *Server) find(r *http.Request) (*findAnswer, error) {
	text := r.URL.Query().Get("q")
	if len(text) > maxQuery {
		return nil, statusErr(http.StatusBadRequest, fmt.Sprintf("the query has %d bytes", len(text)), fmt.Sprintf("use at most %d bytes", maxQuery))
	}
	limit := 0
	if given := r.URL.Query().Get("limit"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > maxPlaces {
			return nil, statusErr(http.StatusBadRequest, "limit is not a number of places: "+given, fmt.Sprintf("use 1 to %d", maxPlaces))
		}
		limit = n
	}
	f, err := s.newPage(r, "", "")
	if err != nil {
		return nil, err
	}
	words := strings.Fields(text)
	a := &findAnswer{Answer: &find.Answer{Query: strings.Join(words, " "), At: "worktree", Places: []find.Place{}, Unmatched: []string{}}}
	if slices.ContainsFunc(words, hasLetter) {
		found, late, err := s.search(r.Context(), f.Worktree, find.Query{Words: words, Limit: limit})
		a.Reading = late
		switch {
		case r.Context().Err() != nil:
			return nil, r.Context().Err()
		case fault.KindOf(err) == fault.Locked: // a review or another ken builds the search index
			a.Reading = true
		case err != nil: // paths and specs are still found
			a.Unknown = append(a.Unknown, fault.Unknown{Why: "the search failed: " + err.Error()})
		case found != nil:
			a.Answer = found
		}
	}
	a.Rows = f.findRows(words, a.Places)
	return a, nil
}

func hasLetter(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// searches are the running searches, one for each worktree: the first one may build the
// search index, which the others would wait for.
type searches struct {
	find func(worktree string, q find.Query) (*find.Answer, error) // set by New
	mu   sync.Mutex
	at   map[string]*searchRun // running, or finished and not delivered
}

// A searchRun is a search that goes on when its request ends.
type searchRun struct {
	query  string
	done   chan struct{}
	answer *find.Answer
	err    error
}

func (r *searchRun) finished() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// search runs a query. If that takes longer than findTime, it returns late, and the search
// goes on: the same query gets its answer later.
func (s *Server) search(ctx context.Context, worktree string, q find.Query) (answer *find.Answer, late bool, err error) {
	waiting, stop := context.WithTimeout(ctx, findTime)
	defer stop()
	query := fmt.Sprintf("%d %q", q.Limit, q.Words)
	for {
		run := s.searches.join(worktree, query, func(run *searchRun) {
			s.boards.running.Go(func() { s.runSearch(run, worktree, q) })
		})
		select {
		case <-waiting.Done():
			return nil, true, ctx.Err()
		case <-run.done:
		}
		if run.query == query {
			s.searches.drop(worktree, run)
			return run.answer, false, run.err
		}
	}
}

func (s *Server) runSearch(run *searchRun, worktree string, q find.Query) {
	defer close(run.done)
	defer recoverInto(&run.err)
	run.answer, run.err = s.searches.find(worktree, q)
}

func (s *Server) findInWorktree(worktree string, q find.Query) (answer *find.Answer, err error) {
	err = s.inBackground(worktree, func(ctx context.Context, w *ken.Repository) (err error) {
		answer, err = w.Finder().Find(ctx, q, repo.ID{})
		return err
	})
	return answer, err
}

// join returns the running search of a worktree, or the finished one of this query. If there is neither, it
// starts one.
func (s *searches) join(worktree, query string, start func(*searchRun)) *searchRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.at[worktree]
	if run != nil && (run.query == query || !run.finished()) {
		return run
	}
	run = &searchRun{query: query, done: make(chan struct{})}
	if s.at == nil {
		s.at = make(map[string]*searchRun)
	}
	s.at[worktree] = run
	start(run)
	return run
}

// drop forgets a search whose answer was delivered.
func (s *searches) drop(worktree string, run *searchRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at[worktree] == run {
		delete(s.at, worktree)
	}
}

// palettePages are the pages that the palette finds by name.
var palettePages = []struct{ Name, Path string }{
	{"Home", "/"},
	{"Review", "/review"},
	{"Files", "/files"},
	{"Map", "/map"},
	{"Documents", "/documents"},
	{"Specs", "/specs"},
	{"State", "/state"},
	{"Worktrees", "/worktrees"},
}

// findRows lists what the words of a query lead to. Names that begin with the query come
// first, then the places that find lists, then other specs and paths with the words.
func (pd *pageData) findRows(words []string, places []find.Place) []findRow {
	rows := []findRow{}
	query := strings.ToLower(strings.Join(words, " "))
	for _, p := range palettePages {
		if strings.HasPrefix(strings.ToLower(p.Name), query) {
			rows = append(rows, findRow{Kind: "page", Name: p.Name, Href: string(pd.Link(p.Path))})
		}
	}
	if query == "" {
		return rows
	}
	lower := strings.Fields(query)
	specs, otherSpecs := pd.matchSpecs(lower)
	paths, otherPaths := pd.matchPaths(lower)
	rows = append(append(rows, specs...), paths...)
	for i := range places {
		rows = append(rows, pd.placeRow(&places[i], lower))
	}
	rows = append(append(rows, otherSpecs...), otherPaths...)
	seen := make(map[string]bool, len(rows))
	rows = slices.DeleteFunc(rows, func(r findRow) bool {
		again := seen[r.Href]
		seen[r.Href] = true
		return again
	})
	return rows[:min(len(rows), mostRows)]
}

// placeRow is the row of a place: of the symbol around its line if that has one of the
// words, else of the file.
func (pd *pageData) placeRow(p *find.Place, words []string) findRow {
	row := pd.fileRow(p.Path, p.Line)
	row.Text = strings.TrimSpace(p.Text)
	for _, sym := range p.Symbols {
		name := strings.ToLower(sym.Name)
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) }) {
			at := pd.fileRow(p.Path, sym.Line)
			row.Kind, row.Name, row.Href = "symbol", sym.Name, at.Href
			row.Detail = fmt.Sprintf("%s:%d", p.Path, sym.Line)
			break
		}
	}
	return row
}

// fileRow is the row of a file, at a line if that is not 0.
func (pd *pageData) fileRow(p repo.Path, line int) findRow {
	row := findRow{Kind: "file", Name: repo.Path(p.Base()).String(), Detail: p.String(), Href: string(pd.File(p, line))}
	if line > 0 {
		row.Detail = fmt.Sprintf("%s:%d", p, line)
	}
	if isDocument(p) {
		row.Kind = "document"
	}
	return row
}

// isDocument reports whether the name of a file is that of a document.
func isDocument(p repo.Path) bool {
	switch strings.ToLower(path.Ext(string(p))) {
	case ".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt":
		return true
	default:
		return false
	}
}

// matchSpecs finds the specs whose id or title has all words; first those whose id or
// title begins with them.
func (pd *pageData) matchSpecs(words []string) (first, rest []findRow) {
	if pd.Tree == nil || pd.Tree.Spec.Known == nil {
		return nil, nil
	}
	query := strings.Join(words, " ")
	nodes := pd.Tree.Spec.Known.Nodes
	for i := range nodes {
		n := &nodes[i]
		id, title := strings.ToLower(n.ID), strings.ToLower(n.Title)
		if !hasAll(id+" "+title, words) {
			continue
		}
		row := findRow{Kind: "spec", Name: n.Title, Detail: n.ID, Href: string(pd.Node(n.ID))}
		if strings.HasPrefix(id, query) || strings.HasPrefix(title, query) {
			first = append(first, row)
		} else {
			rest = append(rest, row)
		}
	}
	return first[:min(len(first), mostMatches)], rest[:min(len(rest), mostMatches)]
}

// matchPaths finds the tracked files whose path has all words; first those whose name
// begins with the last word. Short paths come first.
func (pd *pageData) matchPaths(words []string) (first, rest []findRow) {
	if pd.Tree == nil || pd.Tree.Files.Known == nil {
		return nil, nil
	}
	last := words[len(words)-1]
	var named, others []repo.Path
	leaves := pd.Tree.Files.Known.MapFiles
	for i := range leaves {
		p := leaves[i].Path
		lower := strings.ToLower(string(p))
		switch {
		case !hasAll(lower, words):
		case strings.HasPrefix(repo.Path(lower).Base(), last):
			named = append(named, p)
		default:
			others = append(others, p)
		}
	}
	return pd.shortest(named), pd.shortest(others)
}

// shortest returns the rows of the shortest paths.
func (pd *pageData) shortest(paths []repo.Path) []findRow {
	slices.SortStableFunc(paths, func(a, b repo.Path) int { return len(a) - len(b) })
	var rows []findRow
	for _, p := range paths[:min(len(paths), mostMatches)] {
		rows = append(rows, pd.fileRow(p, 0))
	}
	return rows
}

func hasAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}
