package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ken/internal/board"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec"
)

// pages are the parsed templates, one set per page, and the assets by name.
type pages struct {
	templates map[string]*template.Template
	assets    map[string]asset
	release   string // hash of the assets
}

type asset struct {
	content []byte
	kind    string
	tag     string
}

func loadPages() (*pages, error) {
	p := &pages{templates: make(map[string]*template.Template), assets: make(map[string]asset)}
	all := sha256.New()
	names, err := fs.Glob(files, "assets/*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		all.Write(b)
		kind := mime.TypeByExtension(path.Ext(name))
		switch path.Ext(name) { // do not depend on the MIME table of the machine
		case ".js":
			kind = "text/javascript; charset=utf-8"
		case ".css":
			kind = "text/css; charset=utf-8"
		case ".svg":
			kind = "image/svg+xml"
		}
		p.assets[path.Base(name)] = asset{b, kind, `"` + hex.EncodeToString(sum[:8]) + `"`}
	}
	p.release = hex.EncodeToString(all.Sum(nil)[:6])
	layout, err := template.New("layout").Funcs(helpers).ParseFS(files, "templates/layout.html", "templates/parts.html", "templates/path.html")
	if err != nil {
		return nil, err
	}
	names, err = fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		base := strings.TrimSuffix(path.Base(name), ".html")
		if base == "layout" || base == "parts" || base == "path" {
			continue
		}
		t, err := template.Must(layout.Clone()).ParseFS(files, name)
		if err != nil {
			return nil, err
		}
		p.templates[base] = t
	}
	return p, nil
}

// pageData are the values that every page template gets. Body has those of one page.
type pageData struct {
	Title      string
	Page       string // name of the template
	Repository string
	Worktree   string
	Here       bool
	Worktrees  []Worktree
	Tag        string // tag of the board, "" without one
	Late       bool   // a newer board is being built
	SignedIn   bool
	Release    string
	Version    string
	Board      *board.Board
	Tree       *board.Worktree
	Body       any
	dir        string // root of the worktree, "" if unknown
	inStartDir bool   // commands need no -C
	editor     string // address of a file in the user's editor, see links.go
	remote     func() Remote
	bare       string // render only this template
	status     int
}

// Link returns the address of a page for the same worktree. pairs are names and values
// of the query.
func (pd *pageData) Link(path string, pairs ...any) template.URL {
	q := url.Values{}
	if !pd.Here && pd.Worktree != "" {
		q.Set("w", pd.Worktree)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		v := fmt.Sprint(pairs[i+1])
		if p, ok := pairs[i+1].(repo.Path); ok {
			v = string(p) // raw bytes, not the escaped form
		}
		if v != "" {
			q.Set(fmt.Sprint(pairs[i]), v)
		}
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return template.URL(path) //nolint:gosec // values are escaped
}

// Bare reports whether only a part of the page is rendered.
func (pd *pageData) Bare() bool { return pd.bare != "" }

// In returns the address of a page for another worktree.
func (pd *pageData) In(worktree, path string) template.URL {
	other := pageData{Worktree: worktree}
	for _, w := range pd.Worktrees {
		other.Here = other.Here || w.Here && w.Name == worktree
	}
	return other.Link(path)
}

// File returns the address of the page of a file, at a line if that is not 0.
func (pd *pageData) File(p repo.Path, line int) template.URL {
	if line < 1 {
		return pd.Link("/file", "path", p)
	}
	return pd.Link("/file", "path", p, "line", line)
}

// Directory returns the address of the page of a directory.
func (pd *pageData) Directory(p repo.Path) template.URL { return pd.Link("/map", "dir", p) }

// trackedFile returns File for a file that git tracks, "" for any other path.
func (pd *pageData) trackedFile(p repo.Path, line int) template.URL {
	if pd.Tree == nil || pd.Tree.Files.Known == nil || pd.Tree.Files.Known.MapFile(p) == nil {
		return ""
	}
	return pd.File(p, line)
}

// pageOf returns the address of the page of a file or directory, "" if git tracks none.
func (pd *pageData) pageOf(p repo.Path) template.URL {
	if page := pd.trackedFile(p, 0); page != "" {
		return page
	}
	if isDirectory(pd.Tree, p) {
		return pd.Directory(p)
	}
	return ""
}

// Node returns the address of the page of a spec.
func (pd *pageData) Node(id string) template.URL { return pd.Link("/node/" + url.PathEscape(id)) }

// newPage returns the data of a page, with the board if it is ready soon.
func (s *Server) newPage(r *http.Request, page, title string) (*pageData, error) {
	f := &pageData{Page: page, Title: title, SignedIn: s.guard.signedIn(r), Release: s.pages.release, Version: s.deps.Version, status: http.StatusOK}
	name, err := s.worktree(r, f)
	if err != nil {
		return f, err
	}
	f.editor = s.deps.Editor
	f.remote = sync.OnceValue(func() Remote { return s.remote(r.Context(), name) })
	v, late, err := s.boards.get(r.Context(), name, firstPaint)
	if err != nil {
		return f, err
	}
	f.Late = late
	if v != nil {
		f.Board, f.Tree, f.Tag, f.Repository = v.board, v.tree, v.tag, v.board.Repository
		if !late {
			s.hub.publish(name, v.tag)
		}
	}
	return f, nil
}

// remote returns the remote of a worktree. It is empty if it cannot be read: the page then
// has no link to it.
func (s *Server) remote(ctx context.Context, worktree string) Remote {
	if s.deps.Remote == nil {
		return Remote{}
	}
	remote, err := s.deps.Remote(ctx, worktree)
	if err != nil {
		return Remote{}
	}
	return remote
}

// worktree returns the name of the worktree that a request is about.
func (s *Server) worktree(r *http.Request, f *pageData) (string, error) {
	list, err := s.deps.Worktrees(r.Context())
	if err != nil {
		if r.Context().Err() == nil {
			err = statusErr(http.StatusServiceUnavailable, "cannot read the repository: "+err.Error(), "move it back, or start ken serve in its new place")
		}
		return "", err
	}
	f.Worktrees = list
	asked := r.URL.Query().Get("w")
	for _, w := range list {
		if asked == w.Name || asked == "" && w.Here {
			f.Worktree, f.Here, f.dir, f.inStartDir = w.Name, w.Here, w.Dir, w.IsStartDir
			return w.Name, nil
		}
	}
	return "", statusErr(http.StatusNotFound, "unknown worktree: "+asked, "see them at /worktrees")
}

// page returns a handler that renders a page.
func (s *Server) page(make func(*http.Request) (*pageData, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f, err := make(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.render(w, r, f)
	}
}

func (s *Server) render(w http.ResponseWriter, r *http.Request, f *pageData) {
	name := "layout"
	if f.bare != "" {
		name = f.bare
	}
	var b bytes.Buffer
	if err := s.pages.templates[f.Page].ExecuteTemplate(&b, name, f); err != nil {
		http.Error(w, "internal error: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if f.status != http.StatusOK {
		w.WriteHeader(f.status)
		_, _ = w.Write(b.Bytes())
		return
	}
	s.answer(w, r, b.Bytes(), tagOf(b.Bytes()))
}

// answer sends a body unless the client has it already.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte, tag string) {
	w.Header().Set("ETag", tag)
	if has(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	send(w, body, s.limits.write)
}

// send writes a body in chunks. A client that takes longer than within for a chunk is
// disconnected.
func send(w http.ResponseWriter, body []byte, within time.Duration) {
	control := http.NewResponseController(w)
	for part := range slices.Chunk(body, writeChunk) {
		_ = control.SetWriteDeadline(time.Now().Add(within))
		if _, err := w.Write(part); err != nil {
			return
		}
	}
}

// has reports whether a tag is in an If-None-Match header. A proxy may have made it
// weak.
func has(known, tag string) bool {
	for one := range strings.SplitSeq(known, ",") {
		if strings.TrimPrefix(strings.TrimSpace(one), "W/") == tag {
			return true
		}
	}
	return false
}

func tagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// An errorAnswer is the JSON and the page of an error.
type errorAnswer struct {
	Error  string `json:"error"`
	Hint   string `json:"hint,omitempty"`
	Status int    `json:"status"`
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	t := errorAnswer{Error: err.Error(), Hint: fault.HintOf(err), Status: statusOf(err)}
	if !wantsPage(r) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(t.Status)
		_ = json.NewEncoder(w).Encode(t)
		return
	}
	f := &pageData{
		Page: "error", Title: "Error", Release: s.pages.release, Version: s.deps.Version, Body: t,
		status: t.Status, Here: true, SignedIn: s.guard.signedIn(r),
	}
	if !errors.Is(err, errHost) && !errors.Is(err, errOrigin) && !errors.Is(err, errToken) {
		_, _ = s.worktree(r, f)
	}
	s.render(w, r, f)
}

func statusOf(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	if _, ok := errors.AsType[*spec.UnknownSpecError](err); ok {
		return http.StatusNotFound
	}
	switch fault.KindOf(err) {
	case fault.Usage:
		return http.StatusBadRequest
	case fault.NoRepo:
		return http.StatusNotFound
	case fault.Locked, fault.Stale:
		return http.StatusConflict
	case fault.Interrupted:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// asset serves one of the embedded files.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	a, ok := s.pages.assets[r.PathValue("name")]
	if !ok {
		s.fail(w, r, errNoPage)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	if r.URL.Query().Get("v") == s.pages.release {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	s.answer(w, r, a.content, a.tag)
}
