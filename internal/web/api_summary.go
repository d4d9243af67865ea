package web

import (
	"context"
	"errors"
	"net/http"
	"path"
	"strings"

	"ken/internal/board"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
)

// handleSummaries adds the routes about one file or directory: what to know about it, what
// changed since its summary was written, and the two ways to settle that.
func (s *Server) handleSummaries(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/brief", s.inWorktree(func(r *http.Request, w *ken.Repository) (any, error) {
		p, err := cleanPath(r.URL.Query().Get("path"))
		if err != nil {
			return nil, err
		}
		return briefOf(r.Context(), w, p)
	}))
	mux.HandleFunc("GET /api/diff", s.inWorktree(func(r *http.Request, w *ken.Repository) (any, error) {
		p, err := cleanPath(r.URL.Query().Get("path"))
		if err != nil {
			return nil, err
		}
		return w.Reviewer().Diff(r.Context(), p)
	}))
	mux.HandleFunc("POST /api/confirm", s.apiConfirm)
	mux.HandleFunc("POST /api/summary", s.apiWrite)
}

// requestPath returns the path that a request names. It has to name one; the root is a dot.
func requestPath(in repo.PathJSON) (repo.Path, error) {
	raw, err := in.Raw()
	if err != nil {
		return "", statusErr(http.StatusBadRequest, err.Error(), "copy path_b64 from a document of ken")
	}
	if raw == "" {
		return "", statusErr(http.StatusBadRequest, "no path given", "send \"path\"; the root is \".\"")
	}
	return cleanPath(string(raw))
}

// cleanPath returns a path from the root of the repository, "" for the root. It refuses
// paths that lead out of the repository.
func cleanPath(text string) (repo.Path, error) {
	name := strings.TrimSuffix(text, "/")
	if text == "" || name == "." {
		return "", nil
	}
	outside := strings.HasPrefix(text, "/") || name == ".." || strings.HasPrefix(name, "../")
	if outside || path.Clean(name) != name || strings.ContainsRune(name, 0) {
		return "", statusErr(http.StatusBadRequest, "not a path in the repository: "+repo.Path(text).String(), "give a path from the root, such as docs/guide.md")
	}
	return repo.Path(name), nil
}

// apiConfirm records that a summary holds for the content that the client read. Without
// that content, the client could confirm an edit that it did not see.
func (s *Server) apiConfirm(w http.ResponseWriter, r *http.Request) {
	var in struct {
		repo.PathJSON
		Read string `json:"read"`
	}
	err := decode(r, &in)
	if err == nil && in.Read == "" {
		err = statusErr(http.StatusBadRequest, "no content id given", "send \"read\"; GET /api/diff?path=PATH returns it")
	}
	s.writeSummary(w, r, in.PathJSON, err, func(ctx context.Context, ws *ken.Repository, p repo.Path) (registry.WriteResult, error) {
		ws.ReadOnly = nil // confirming records a check
		done, err := ws.Summaries().Confirm(ctx, []repo.Path{p}, in.Read)
		if err != nil {
			return registry.WriteResult{}, err
		}
		return done[0].WriteResult, nil
	})
}

// apiWrite stores the summary of a file.
func (s *Server) apiWrite(w http.ResponseWriter, r *http.Request) {
	var in struct {
		repo.PathJSON
		Read string `json:"read"`
		Text string `json:"text"`
	}
	err := decode(r, &in)
	text := strings.ReplaceAll(in.Text, "\r\n", "\n") // browsers end the lines of a form so
	if err == nil && strings.TrimSpace(text) == "" {
		err = statusErr(http.StatusBadRequest, "the summary is empty", "send \"text\"")
	}
	s.writeSummary(w, r, in.PathJSON, err, func(ctx context.Context, ws *ken.Repository, p repo.Path) (registry.WriteResult, error) {
		done, err := ws.Registry.Write(ctx, []registry.Update{{Path: p, Text: text, Read: in.Read}})
		if err != nil {
			return registry.WriteResult{}, err
		}
		return done[0], nil
	})
}

// writeSummary runs act for a request that was decoded with err, and answers with what
// became of the summary. A rejected one is an error.
func (s *Server) writeSummary(w http.ResponseWriter, r *http.Request, in repo.PathJSON, err error, act func(context.Context, *ken.Repository, repo.Path) (registry.WriteResult, error)) {
	var p repo.Path
	if err == nil {
		p, err = requestPath(in)
	}
	var done any
	if err == nil {
		done, err = s.changeWorktree(r, func(ctx context.Context, ws *ken.Repository) (any, error) {
			written, err := act(ctx, ws, p)
			if err == nil && written.Result == registry.Rejected {
				err = rejected(p, written)
			}
			return written, err
		})
	}
	s.reply(w, r, done, err, s.pageOf(r, p))
}

// rejected returns the error for a summary that was not stored.
func rejected(p repo.Path, done registry.WriteResult) error {
	hint := done.Hint
	if hint == "" {
		hint = "see its state with: ken summary show " + pathArg(p)
	}
	return statusErr(http.StatusConflict, done.Reason, hint)
}

// pageOf returns the address of the page of a file or directory, without the worktree.
func (s *Server) pageOf(r *http.Request, p repo.Path) string {
	name, err := s.worktree(r, &pageData{})
	if p == "" || err != nil {
		return "/map"
	}
	var page pageData
	if v := s.boards.newest(name); v != nil && isDirectory(v.tree, p) {
		return string(page.Directory(p))
	}
	return string(page.File(p, 0))
}

// isDirectory reports whether a path is a directory on the board.
func isDirectory(w *board.Worktree, p repo.Path) bool {
	return w.Survey.Known != nil && w.Survey.Known.Directory(p) != nil
}

// unread returns an error as the reason why a part of a page is unknown.
func unread(err error) *fault.Unknown {
	if errors.Is(err, errBusy) {
		return &fault.Unknown{Why: "ken needs more time to read the repository.", Command: "run once in a terminal: ken up"}
	}
	return new(fault.NewUnknown("", err))
}
