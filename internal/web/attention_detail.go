package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/review"
	"ken/internal/spec"
)

// An attentionDetail is the change behind an item of the home page. One of its parts is set.
type attentionDetail struct {
	Summary *summaryChange
	Drift   *driftChange
	Mention *mentionLines
}

// A summaryChange is what changed since a summary was written.
type summaryChange struct {
	*review.Diff
	Field repo.PathJSON // of the forms
	Arg   string        // of commands
	Files []changedFile
}

// A driftChange lists the commits behind the drift of a spec.
type driftChange struct {
	ID      string
	Commits []spec.DriftCommit
	Unknown *fault.Unknown
}

// mentionLines are the lines of a document around a mention.
type mentionLines struct {
	Field repo.PathJSON
	Name  string // the mentioned thing
	Moved string // where it is now; "" if it did not move
	Lines []mentionLine
}

type mentionLine struct {
	Number int
	Text   string
	Here   bool // it has the mention
}

// newDetailPage returns the page of a detail. The home page loads only a part of it.
func (s *Server) newDetailPage(r *http.Request, title string) (*pageData, *attentionDetail, error) {
	f, err := s.newPage(r, "attention", title)
	if err != nil {
		return f, nil, err
	}
	if f.Tree == nil {
		return f, nil, statusErr(http.StatusServiceUnavailable, "ken is still reading the repository", "try again")
	}
	if r.Header.Get("X-Ken-Part") != "" {
		f.bare = "detail"
	}
	body := &attentionDetail{}
	f.Body = body
	return f, body, nil
}

// summaryDetailPage shows what changed since a summary was written, and how to settle it.
func (s *Server) summaryDetailPage(r *http.Request) (*pageData, error) {
	at, err := cleanPath(r.URL.Query().Get("path"))
	if err != nil {
		return nil, err
	}
	f, body, err := s.newDetailPage(r, repo.DirLabel(at).String())
	if err != nil {
		return f, err
	}
	return f, s.withRepository(r.Context(), f.Worktree, func(ctx context.Context, w *ken.Repository) error {
		diff, err := w.Reviewer().Diff(ctx, at)
		if err != nil {
			return err
		}
		body.Summary = f.summaryChange(diff, at)
		return nil
	})
}

func (pd *pageData) summaryChange(diff *review.Diff, at repo.Path) *summaryChange {
	c := &summaryChange{Diff: diff, Field: repo.DirLabel(at).JSON(), Arg: pathArg(repo.DirLabel(at))}
	for i := range diff.Files {
		c.Files = append(c.Files, pd.changedFile(&diff.Files[i], mostLines))
	}
	return c
}

// driftDetailPage lists the commits behind the drift of a spec, and how to settle it.
func (s *Server) driftDetailPage(r *http.Request) (*pageData, error) {
	id := r.URL.Query().Get("spec")
	f, body, err := s.newDetailPage(r, id)
	if err != nil {
		return f, err
	}
	body.Drift = &driftChange{ID: id}
	return f, s.withRepository(r.Context(), f.Worktree, func(ctx context.Context, w *ken.Repository) error {
		history, unknown := s.histories.get(ctx, historyKey{f.Worktree, id, f.Tag}, w.Spec())
		body.Drift.Unknown = unknown
		if history == nil && unknown == nil {
			return statusErr(http.StatusNotFound, "unknown spec: "+id, "see them at /specs")
		}
		if history != nil {
			body.Drift.Commits = history.Drift
		}
		return nil
	})
}

// mentionContext is the number of lines before and after a mention.
const mentionContext = 3

// mentionPage shows the lines of a document around a stale mention. It shows no other
// lines of files.
func (s *Server) mentionPage(r *http.Request) (*pageData, error) {
	at := repo.Path(r.URL.Query().Get("path"))
	line, _ := strconv.Atoi(r.URL.Query().Get("line"))
	f, body, err := s.newDetailPage(r, at.String())
	if err != nil {
		return f, err
	}
	mention := f.mention(at, line, r.URL.Query().Get("name"))
	if mention == nil {
		return f, statusErr(http.StatusNotFound, fmt.Sprintf("no stale mention in %s, line %d", at, line), "see them at /documents")
	}
	lines := &mentionLines{Field: at.JSON(), Name: mention.Name}
	if mention.Verdict == docs.Moved {
		lines.Moved = mention.To.String()
	}
	body.Mention = lines
	return f, s.withRepository(r.Context(), f.Worktree, func(ctx context.Context, w *ken.Repository) error {
		var failed error
		err := w.Files.Bytes(ctx, []repo.Path{at}, find.MaxBytes, func(_ int, content []byte, err error) {
			failed = err
			lines.around(content, line)
		})
		if err == nil {
			err = failed
		}
		return err
	})
}

// mention returns a stale mention of the board; nil if it is not there. A line can have
// several.
func (pd *pageData) mention(at repo.Path, line int, name string) *docs.CheckedMention {
	known := pd.Tree.Documents.Known
	if known == nil {
		return nil
	}
	shown := known.Report.Stale()
	i := slices.IndexFunc(shown, func(m docs.CheckedMention) bool { return m.File == at && m.Line == line && m.Name == name })
	if i < 0 {
		return nil
	}
	return &shown[i]
}

// around adds the lines near a line of a text.
func (m *mentionLines) around(text []byte, line int) {
	for i, b := range bytes.Split(text, []byte("\n")) {
		n := i + 1
		if n < line-mentionContext || n > line+mentionContext {
			continue
		}
		shown := strings.ToValidUTF8(strings.TrimRight(string(b), "\r"), "\uFFFD")
		m.Lines = append(m.Lines, mentionLine{n, repo.Shorten(shown, maxLine), n == line})
	}
}

// maxLine is the number of characters of a document's line to show.
const maxLine = 1000
