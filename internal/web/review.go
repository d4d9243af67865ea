package web

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/review"
)

// A reviewBody has the review of the page's worktree, and the other worktrees.
type reviewBody struct {
	Result *reviewResult
	Others []otherWorktree
}

// An otherWorktree is a worktree whose review is loaded on demand.
type otherWorktree struct {
	Name, Branch string
	Page, Part   template.URL // of its review, and of the part to load
}

// A reviewResult is the review of the change of a worktree.
type reviewResult struct {
	Headline string
	Nothing  bool // there is nothing to do
	Groups   []reviewGroup
	Unknown  []fault.Unknown
	Older    []reviewRow
	MoreOld  int // older problems that are not listed
	Failed   *fault.Unknown
	// Read reports that there is a review to show. Late reports that ken is still judging the
	// change: the review is missing, or is that of an older state.
	Late, Read bool
}

// A reviewGroup has the lines of one kind.
type reviewGroup struct {
	Kind  review.Kind
	Title string
	Rows  []reviewRow
}

// A reviewRow is a line of a review with its links.
type reviewRow struct {
	Kind    review.Kind
	Subject string
	Href    template.URL // "" if there is no page
	Text    string
	Command string
	Files   []reviewFile // tests, or files with the same cause
	More    int          // files that are not listed
}

type reviewFile struct {
	Name string
	Href template.URL
}

const (
	reviewTime = 40 * time.Second // how long a program waits for a review
	mostOlder  = 100              // older problems on a page
	mostFiles  = 20               // files of one line
)

// reviewPage shows what the current change of each worktree makes stale or breaks.
func (s *Server) reviewPage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "review", "Review")
	if err != nil || f.Tree == nil {
		return f, err
	}
	b := &reviewBody{}
	b.Result, err = s.reviewOf(r.Context(), f, firstPaint)
	if err != nil {
		return f, err
	}
	branches := make(map[string]string)
	if p := f.Board.Proposals.Known; p != nil {
		for i := range p.Worktrees {
			if branch := p.Worktrees[i].Branch; branch != nil {
				branches[p.Worktrees[i].Worktree] = *branch
			}
		}
	}
	for _, w := range f.Worktrees {
		if w.Name != f.Worktree {
			b.Others = append(b.Others, otherWorktree{w.Name, branches[w.Name], f.In(w.Name, "/review"), f.In(w.Name, "/review/change")})
		}
	}
	f.Body = b
	return f, nil
}

// reviewPartPage shows the review of one worktree. The review page loads it on demand.
func (s *Server) reviewPartPage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "review", "Review")
	if err != nil {
		return f, err
	}
	result, err := s.reviewOf(r.Context(), f, reviewTime)
	if err != nil {
		return f, err
	}
	f.Body = &reviewBody{Result: result}
	if r.Header.Get("X-Ken-Part") != "" {
		f.bare = "review-result"
	}
	return f, nil
}

// apiReview answers with the document of ken review --all --json.
func (s *Server) apiReview(w http.ResponseWriter, r *http.Request) {
	name, err := s.worktree(r, &pageData{})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	fp, err := s.boards.fingerprint(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	found, late, err := s.reviews.get(r.Context(), s, name, fp, reviewTime)
	if err == nil && late {
		err = statusErr(http.StatusServiceUnavailable, "the review is not ready yet", "try again")
	}
	s.reply(w, r, found, err, "")
}

// reviewOf returns the review of the page's worktree. It is about the state that the board
// of the page shows.
func (s *Server) reviewOf(ctx context.Context, f *pageData, patience time.Duration) (*reviewResult, error) {
	var r *review.Review
	var late bool
	var err error
	fp := s.boards.builtFrom(f.Worktree)
	if fp == "" {
		waiting, stop := context.WithTimeout(ctx, patience)
		defer stop()
		fp, err = s.boards.fingerprint(waiting)
		late = waiting.Err() != nil
	}
	switch {
	case late:
		r, err = s.reviews.previous(f.Worktree), nil
	case err == nil:
		r, late, err = s.reviews.get(ctx, s, f.Worktree, fp, patience)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c := &reviewResult{Late: late}
	switch {
	case err != nil:
		c.Failed = unread(err)
	case r != nil:
		c.fill(f, r)
	}
	return c, nil
}

func (rr *reviewResult) fill(f *pageData, r *review.Review) {
	rr.Read = true
	rr.Headline = r.Headline()
	rr.Nothing = len(r.Lines) == 0 && len(r.Unknown) == 0
	rr.Unknown = slices.Clone(r.Unknown) // the review is shared
	for i := range rr.Unknown {
		rr.Unknown[i].Command = f.Run(rr.Unknown[i].Command)
	}
	for _, kind := range review.Kinds {
		g := reviewGroup{Kind: kind, Title: kindTitle(kind)}
		for i := range r.Lines {
			if r.Lines[i].Kind == kind {
				g.Rows = append(g.Rows, f.reviewRow(&r.Lines[i]))
			}
		}
		if len(g.Rows) > 0 {
			rr.Groups = append(rr.Groups, g)
		}
	}
	for i := range r.OlderLines[:min(len(r.OlderLines), mostOlder)] {
		rr.Older = append(rr.Older, f.reviewRow(&r.OlderLines[i]))
	}
	rr.MoreOld = len(r.OlderLines) - len(rr.Older)
}

// kindTitle is the heading of the lines of a kind.
func kindTitle(kind review.Kind) string {
	switch kind {
	case review.Docs:
		return "Documents that this change breaks"
	case review.Drift:
		return "Specs that the gate refuses"
	case review.Broken:
		return "Uses of removed names"
	case review.MayUse:
		return "Places that may use removed names"
	case review.Tests:
		return "Tests to run"
	case review.Stale:
		return "Summaries that are now stale"
	case review.Also:
		return "Also"
	case review.Unsure:
		return "Places that mention removed names"
	default:
		return string(kind)
	}
}

// reviewRow adds links to a line.
func (pd *pageData) reviewRow(l *review.Line) reviewRow {
	row := reviewRow{Kind: l.Kind, Subject: l.Subject, Text: l.Text, Command: pd.Run(l.Command)}
	if l.Kind == review.Also {
		row.Subject = ""
	}
	if p, err := l.Raw(); err == nil && p != "" {
		row.Href = pd.trackedFile(p, l.Line)
	} else if l.Kind == review.Drift {
		row.Href = pd.Node(l.Subject)
	}
	files := l.Files()
	row.More = max(0, len(files)-mostFiles)
	for _, f := range files[:len(files)-row.More] {
		file := reviewFile{Name: f.String()}
		if p, err := f.Raw(); err == nil {
			file.Href = pd.trackedFile(p, f.FirstLine())
		}
		row.Files = append(row.Files, file)
	}
	if len(row.Files) == 1 && row.Files[0].Name == row.Subject {
		row.Href, row.Files = row.Files[0].Href, nil // one test is named by the line itself
	}
	return row
}

// Run returns a command of any program to paste in the directory where the server was
// started. It acts on the page's worktree.
func (pd *pageData) Run(command string) string {
	program, _, _ := strings.Cut(command, " ")
	switch {
	case command == "", pd.inStartDir, pd.dir == "":
		return command
	case program == "ken", program == "git":
		return pd.Command(command)
	default:
		return fmt.Sprintf("(cd %s && %s)", fault.Quote(pd.dir), command)
	}
}

// A reviewCache keeps the newest review of each worktree.
type reviewCache struct {
	review   func(worktree string) (*review.Review, error) // set by New
	mu       sync.Mutex
	at       map[string]*cachedReview
	building sync.Mutex // one review is made at a time
}

// A cachedReview is the state of one worktree in the cache.
type cachedReview struct {
	review *review.Review
	err    error
	from   Fingerprint   // of review or err
	busy   chan struct{} // closed when the running review ends; nil if none runs
}

// get returns the review of a worktree with a fingerprint. If that takes longer than
// patience, it returns the previous review, which may be nil, and late; the review goes on.
func (c *reviewCache) get(ctx context.Context, s *Server, worktree string, fp Fingerprint, patience time.Duration) (r *review.Review, late bool, err error) {
	waiting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		r, busy, err := c.ask(s, worktree, fp)
		if busy == nil {
			return r, false, err
		}
		select {
		case <-busy:
		case <-waiting.Done():
			return c.previous(worktree), true, ctx.Err()
		}
	}
}

// ask returns the review for a fingerprint, or starts one and returns the channel that its
// end closes.
func (c *reviewCache) ask(s *Server, worktree string, fp Fingerprint) (r *review.Review, busy chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = make(map[string]*cachedReview)
	}
	kept := c.at[worktree]
	if kept == nil {
		kept = &cachedReview{}
		c.at[worktree] = kept
	}
	if kept.busy != nil {
		return nil, kept.busy, nil
	}
	if kept.from == fp && kept.err != nil {
		kept.from = "" // the next request tries again
		return nil, nil, kept.err
	}
	if kept.from == fp && kept.review != nil {
		return kept.review, nil, nil
	}
	kept.busy = make(chan struct{})
	s.boards.running.Go(func() { c.make(worktree, kept, fp) })
	return nil, kept.busy, nil
}

// make reviews a worktree and stores the review.
func (c *reviewCache) make(worktree string, kept *cachedReview, fp Fingerprint) {
	var made *review.Review
	err := func() (err error) {
		c.building.Lock()
		defer c.building.Unlock()
		defer recoverInto(&err)
		made, err = c.review(worktree)
		return err
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	kept.err, kept.from = err, fp
	if err == nil {
		kept.review = made
	}
	close(kept.busy)
	kept.busy = nil
}

// reviewWorktree judges the change of a worktree since the main branch.
func (s *Server) reviewWorktree(worktree string) (made *review.Review, err error) {
	err = s.inBackground(worktree, func(ctx context.Context, w *ken.Repository) (err error) {
		made, err = w.Reviewer().Review(ctx, review.Options{All: true})
		return err
	})
	return made, err
}

// previous returns the last review of a worktree; nil if there is none.
func (c *reviewCache) previous(worktree string) *review.Review {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept := c.at[worktree]; kept != nil {
		return kept.review
	}
	return nil
}
