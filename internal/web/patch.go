package web

import (
	"context"
	"net/http"
	"strings"

	"ken/internal/ken"
)

// A patchBody is the patch of one commit.
type patchBody struct {
	ID     string
	Commit string
	Lines  []patchLine
	Cut    int // lines left out
}

type patchLine struct{ Kind, Text string }

// patchPage shows the patch of a spec or its code. The page of the spec loads it on
// demand.
func (s *Server) patchPage(r *http.Request) (*pageData, error) {
	if !isHexID(r.PathValue("commit")) {
		return nil, errID
	}
	f := &pageData{Page: "patch", Title: "Patch", Release: s.pages.release, Version: s.deps.Version, status: http.StatusOK}
	name, err := s.worktree(r, f)
	if err != nil {
		return f, err
	}
	err = s.withRepository(r.Context(), name, func(ctx context.Context, w *ken.Repository) error {
		diff := w.Spec().Diff
		if r.URL.Query().Get("of") == "code" {
			diff = w.Spec().DriftCommitDiff
		}
		commit, patch, err := diff(ctx, r.PathValue("id"), r.PathValue("commit"))
		body := &patchBody{ID: r.PathValue("id"), Commit: commit.String()}
		body.fill(patch)
		f.Body = body
		return err
	})
	if err != nil {
		return f, err
	}
	if r.Header.Get("X-Ken-Part") != "" {
		f.bare = "patch"
	}
	return f, nil
}

// isHexID reports whether s can be a commit id. Nothing else is passed to git.
func isHexID(s string) bool {
	return len(s) >= 4 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// mostLines is the number of patch lines to show.
const mostLines = 1500

func (p *patchBody) fill(patch string) { p.Lines, p.Cut = patchLines(patch, mostLines) }

// patchLines returns the first lines of a patch, each with its kind, and how many are left
// out.
func patchLines(patch string, most int) (lines []patchLine, cut int) {
	head := true
	for line := range strings.Lines(patch) {
		line = strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "\uFFFD")
		kind := "same"
		switch {
		case strings.HasPrefix(line, "diff "):
			head, kind = true, "head"
		case strings.HasPrefix(line, "@@"):
			head, kind = false, "hunk"
		case head:
			kind = "head"
		case strings.HasPrefix(line, "+"):
			kind = "plus"
		case strings.HasPrefix(line, "-"):
			kind = "minus"
		}
		if len(lines) == most {
			cut++
			continue
		}
		lines = append(lines, patchLine{kind, line})
	}
	return lines, cut
}
