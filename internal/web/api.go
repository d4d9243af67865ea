package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/workflow"
)

// handleAPI adds the routes for programs. Each answer is the document that the command
// line prints with --json.
func (s *Server) handleAPI(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/board", s.apiBoard)
	mux.HandleFunc("GET /api/spec", s.inWorktree(func(r *http.Request, w *ken.Repository) (any, error) { return w.Spec().List(r.Context()) }))
	mux.HandleFunc("GET /api/spec/{id}", s.inWorktree(apiNode))
	mux.HandleFunc("GET /api/spec/{id}/history", s.inWorktree(func(r *http.Request, w *ken.Repository) (any, error) {
		return w.Spec().History(r.Context(), r.PathValue("id"))
	}))
	mux.HandleFunc("GET /api/overlays", s.inWorktree(func(r *http.Request, w *ken.Repository) (any, error) { return w.Spec().Overlays(r.Context()) }))
	mux.HandleFunc("GET /api/survey", s.inWorktree(func(r *http.Request, w *ken.Repository) (any, error) {
		dir := repo.Path(strings.TrimSuffix(r.URL.Query().Get("dir"), "/"))
		return w.Survey(nil).Show(r.Context(), dir)
	}))
	mux.HandleFunc("GET /api/summary", s.inWorktree(apiSummary))
	s.handleSummaries(mux)
	mux.HandleFunc("GET /api/find", s.apiFind)
	mux.HandleFunc("GET /api/review", s.apiReview)
	mux.HandleFunc("POST /api/docs/fix", s.apiFixDocs)
	mux.HandleFunc("GET /api/archive", s.inState(func(r *http.Request, k *workflow.Manager) (any, error) { return k.Archive(r.Context()) }))
	mux.HandleFunc("POST /api/spec/{id}/ack", s.apiAck)
	mux.HandleFunc("POST /api/state/restore", s.apiRestore)
	mux.HandleFunc("POST /api/state/cleanup", s.apiCleanup)
	mux.HandleFunc("POST /api/login", s.apiLogin)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoPage) })
}

// apiBoard waits for the board and sends it.
func (s *Server) apiBoard(w http.ResponseWriter, r *http.Request) {
	f := &pageData{}
	name, err := s.worktree(r, f)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	v, late, err := s.boards.get(r.Context(), name, boardTime)
	if err == nil && (late || v == nil) {
		err = statusErr(http.StatusServiceUnavailable, "the board is not ready yet", "try again")
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	s.answer(w, r, v.json, `"`+v.tag+`"`)
}

// inWorktree returns a handler that answers with a document about a worktree.
func (s *Server) inWorktree(ask func(*http.Request, *ken.Repository) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := s.within(r, func(ctx context.Context, ws *ken.Repository) (any, error) { return ask(r.WithContext(ctx), ws) })
		s.reply(w, r, v, err, "")
	}
}

func (s *Server) within(r *http.Request, ask func(context.Context, *ken.Repository) (any, error)) (v any, err error) {
	name, err := s.worktree(r, &pageData{})
	if err != nil {
		return nil, err
	}
	err = s.withRepository(r.Context(), name, func(ctx context.Context, w *ken.Repository) error {
		v, err = ask(ctx, w)
		return err
	})
	return v, err
}

// inState is inWorktree for the state directory.
func (s *Server) inState(ask func(*http.Request, *workflow.Manager) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := s.withinState(r, func(ctx context.Context, k *workflow.Manager) (any, error) { return ask(r.WithContext(ctx), k) })
		s.reply(w, r, v, err, "")
	}
}

func (s *Server) withinState(r *http.Request, ask func(context.Context, *workflow.Manager) (any, error)) (v any, err error) {
	name, err := s.worktree(r, &pageData{})
	if err != nil {
		return nil, err
	}
	err = s.reads.take(r.Context(), func(ctx context.Context) (err error) {
		st, err := s.deps.OpenState(ctx, name)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, st.Close()) }()
		v, err = ask(ctx, st)
		return err
	})
	return v, err
}

func apiNode(r *http.Request, w *ken.Repository) (any, error) {
	return w.Spec().Show(r.Context(), r.PathValue("id"))
}

// apiSummary returns the summary of one file, or a list for several.
func apiSummary(r *http.Request, w *ken.Repository) (any, error) {
	var paths []repo.Path
	for _, p := range r.URL.Query()["path"] {
		paths = append(paths, repo.Path(p))
	}
	if len(paths) == 0 || len(paths) > mostPaths {
		return nil, statusErr(http.StatusBadRequest, fmt.Sprintf("%d paths given", len(paths)), fmt.Sprintf("give 1 to %d paths: /api/summary?path=PATH", mostPaths))
	}
	known, err := w.Registry.Show(r.Context(), paths)
	if err != nil || len(known) != 1 {
		return known, err
	}
	return known[0], nil
}

// mostPaths is the number of files per request.
const mostPaths = 100

// apiAck acknowledges a spec. The client sends the commit that the user saw; if HEAD is
// another, the user has not seen all changes.
func (s *Server) apiAck(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Reason string `json:"reason"`
		Head   string `json:"head"`
	}
	err := decode(r, &in)
	var head repo.ID
	if err == nil && in.Head != "" {
		if head, err = repo.ParseID(in.Head); err != nil {
			err = errID
		}
	}
	var done any
	if err == nil {
		done, err = s.changeWorktree(r, func(ctx context.Context, ws *ken.Repository) (any, error) {
			return ws.Spec().Ack(ctx, spec.AckRequest{Nodes: []string{r.PathValue("id")}, Reason: in.Reason, Head: head})
		})
	}
	if _, moved := errors.AsType[*repo.MovedError](err); moved {
		err = errMoved
	}
	s.reply(w, r, done, err, "/node/"+url.PathEscape(r.PathValue("id")))
}

// apiRestore restores a snapshot of the archive.
func (s *Server) apiRestore(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Snapshot  string `json:"snapshot"`
		Overwrite flag   `json:"overwrite"`
	}
	err := decode(r, &in)
	var done any
	if err == nil {
		done, err = s.changeState(r, func(ctx context.Context, k *workflow.Manager) (any, error) {
			return k.Restore(ctx, workflow.RestoreOptions{Snapshot: in.Snapshot, Overwrite: bool(in.Overwrite)})
		})
	}
	switch {
	case errors.Is(err, workflow.ErrNewer):
		err = statusErr(http.StatusConflict, err.Error(), "tick \"replace newer files\", or send \"overwrite\": true; ken first moves the present files into the archive")
	case errors.Is(err, workflow.ErrNoSnapshot):
		err = statusErr(http.StatusNotFound, err.Error(), "see the snapshots at /state")
	}
	s.reply(w, r, done, err, "/state")
}

// changeWorktree runs act, which changes a worktree, one call at a time.
func (s *Server) changeWorktree(r *http.Request, act func(context.Context, *ken.Repository) (any, error)) (any, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.within(r, act)
}

// changeState is changeWorktree for the state directory.
func (s *Server) changeState(r *http.Request, act func(context.Context, *workflow.Manager) (any, error)) (any, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.withinState(r, act)
}

// A flag is a JSON boolean, or the "on" of an HTML form.
type flag bool

// UnmarshalJSON reads either form.
func (f *flag) UnmarshalJSON(b []byte) error {
	*f = string(b) == "true" || string(b) == `"on"` || string(b) == `"true"`
	return nil
}

// decode reads one JSON object or a form. It refuses unknown fields: one may be a
// misspelt condition, such as head.
func decode(r *http.Request, into any) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		return decodeObject(r.Body, into)
	case "application/x-www-form-urlencoded":
	default:
		return statusErr(http.StatusUnsupportedMediaType, "the body is neither JSON nor a form", "send it as application/json")
	}
	if err := r.ParseForm(); err != nil {
		return unreadable(err)
	}
	fields := make(map[string]string)
	for name := range r.PostForm {
		if strings.HasPrefix(strings.TrimSpace(name), "{") {
			return statusErr(http.StatusUnsupportedMediaType, "the body is JSON sent as a form", "send it with the header Content-Type: application/json")
		}
		fields[name] = r.PostForm.Get(name)
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return unreadable(err)
	}
	return decodeObject(bytes.NewReader(b), into)
}

func decodeObject(from io.Reader, into any) error {
	d := json.NewDecoder(from)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return unreadable(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return unreadable(errors.New("more than one object"))
	}
	return nil
}

func unreadable(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return err
	}
	return statusErr(http.StatusBadRequest, "invalid request: "+strings.TrimPrefix(err.Error(), "json: "), "send one JSON object")
}

// reply answers with a document. A browser that sent a form is redirected to its page.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, v any, err error, back string) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if back != "" && strings.Contains(r.Header.Get("Accept"), "text/html") {
		if name := r.URL.Query().Get("w"); name != "" {
			sep := "?"
			if strings.Contains(back, sep) {
				sep = "&"
			}
			back += sep + "w=" + url.QueryEscape(name)
		}
		http.Redirect(w, r, back, http.StatusSeeOther)
		return
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	b = repo.EscapeJSON(b)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if r.Method == http.MethodGet {
		s.answer(w, r, append(b, '\n'), tagOf(b))
		return
	}
	_, _ = w.Write(append(b, '\n'))
}
