package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"weak"

	"ken/internal/board"
	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/workflow"
)

// pages are the templates, one set for each page, and the assets by the name that they
// are served under.
type pages struct {
	templates map[string]*template.Template
	assets    map[string]asset
	release   string // changes when any of them does
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
		switch path.Ext(name) { // whatever the machine thinks of them
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
	layout, err := template.New("layout").Funcs(helpers).ParseFS(files, "templates/layout.html", "templates/parts.html")
	if err != nil {
		return nil, err
	}
	names, err = fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		base := strings.TrimSuffix(path.Base(name), ".html")
		if base == "layout" || base == "parts" {
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

// A frame is what is around every page.
type frame struct {
	Title      string
	Page       string // which of them
	Repository string
	Worktree   string
	Here       bool
	Worktrees  []Worktree
	Tag        string // of the board that it was drawn from, "" for none
	Late       bool   // a newer one is being made
	MayWrite   bool
	Release    string
	Version    string
	Board      *board.Board
	Tree       *board.Worktree
	Body       any
	bare       string // a part of a page, drawn alone, by the name of its template
	status     int
}

// Link is an address within the dashboard, on the same worktree. What follows path are
// names and values.
func (f *frame) Link(path string, pairs ...any) template.URL {
	q := url.Values{}
	if !f.Here && f.Worktree != "" {
		q.Set("w", f.Worktree)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		v := fmt.Sprint(pairs[i+1])
		if p, ok := pairs[i+1].(repo.Path); ok {
			v = string(p) // its bytes, and not how it is read
		}
		if v != "" {
			q.Set(fmt.Sprint(pairs[i]), v)
		}
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return template.URL(path) //nolint:gosec // what is not ours in it is escaped
}

// Node is the address of a node's page.
func (f *frame) Node(id string) template.URL { return f.Link("/node/" + url.PathEscape(id)) }

// begin starts the frame of a page: which worktree it is about, and its board if that
// is to be had soon.
func (s *Server) begin(r *http.Request, page, title string) (*frame, error) {
	f := &frame{Page: page, Title: title, MayWrite: s.guard.mayWrite(r), Release: s.pages.release, Version: s.deps.Version, status: http.StatusOK}
	name, err := s.worktree(r, f)
	if err != nil {
		return f, err
	}
	v, late, err := s.boards.get(r.Context(), name, firstPaint)
	if err != nil {
		return f, err
	}
	f.Late = late
	if v != nil {
		f.Board, f.Tree, f.Tag, f.Repository = v.board, v.tree, v.tag, v.board.Repository
		if !late {
			s.hub.tell(name, v.tag)
		}
	}
	return f, nil
}

// worktree returns the one that a request is about: one of those that there are, by
// its name.
func (s *Server) worktree(r *http.Request, f *frame) (string, error) {
	list, err := s.deps.Worktrees(r.Context())
	if err != nil {
		if r.Context().Err() == nil {
			err = refusal(http.StatusServiceUnavailable, "the repository cannot be read: "+err.Error(), "bring it back to where it was, or start ken serve where it is now")
		}
		return "", err
	}
	f.Worktrees = list
	asked := r.URL.Query().Get("w")
	for _, w := range list {
		if asked == w.Name || asked == "" && w.Here {
			f.Worktree, f.Here = w.Name, w.Here
			return w.Name, nil
		}
	}
	return "", refusal(http.StatusNotFound, "there is no worktree of that name", "see them at /worktrees")
}

// page answers with a page.
func (s *Server) page(make func(*http.Request) (*frame, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f, err := make(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.draw(w, r, f)
	}
}

// drawn keeps pages for as long as the board of their worktree is the one that they
// were drawn from. It holds on to none: boards are large.
type drawn struct {
	mu    sync.Mutex
	at    map[string]*sheaf // by worktree
	bytes int               // of all of them
}

// A sheaf is pages that were drawn from one board, by what else they depend on.
type sheaf struct {
	from  weak.Pointer[board.Board]
	pages map[string]drawing
	bytes int
}

type drawing struct {
	body []byte
	tag  string
}

// maxDrawn is how many bytes of pages are kept.
const maxDrawn = 8 << 20

// key names all that a page depends on besides its board, "" for one that depends on
// more, or is about to be replaced.
func (f *frame) key(r *http.Request) string {
	if f.status != http.StatusOK || f.Board == nil || f.Late || f.bare != "" || f.Page == "node" || f.Page == "file" {
		return ""
	}
	return fmt.Sprintf("%s %t %v", r.URL.RequestURI(), f.MayWrite, f.Worktrees)
}

func (d *drawn) find(f *frame, key string) (drawing, bool) {
	if key == "" {
		return drawing{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.at[f.Worktree]
	if s == nil || s.from != weak.Make(f.Board) {
		return drawing{}, false
	}
	p, ok := s.pages[key]
	return p, ok
}

func (d *drawn) keep(f *frame, key string, p drawing) {
	if key == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	size := len(key) + len(p.body)
	s := d.at[f.Worktree]
	if s != nil && s.from != weak.Make(f.Board) {
		d.bytes -= s.bytes
		s = nil
	}
	if d.at == nil || d.bytes+size > maxDrawn {
		d.at, d.bytes, s = make(map[string]*sheaf), 0, nil
	}
	if s == nil {
		s = &sheaf{from: weak.Make(f.Board), pages: make(map[string]drawing)}
		d.at[f.Worktree] = s
	}
	if _, twice := s.pages[key]; !twice {
		s.bytes += size
		d.bytes += size
	}
	s.pages[key] = p
}

// forget lets go of all of them.
func (d *drawn) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at, d.bytes = nil, 0
}

func (s *Server) draw(w http.ResponseWriter, r *http.Request, f *frame) {
	key := f.key(r)
	if p, ok := s.drawn.find(f, key); ok {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		s.answer(w, r, p.body, p.tag)
		return
	}
	name := "layout"
	if f.bare != "" {
		name = f.bare
	}
	var b bytes.Buffer
	if err := s.pages.templates[f.Page].ExecuteTemplate(&b, name, f); err != nil {
		http.Error(w, "ken went wrong: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if f.status != http.StatusOK {
		w.WriteHeader(f.status)
		_, _ = w.Write(b.Bytes())
		return
	}
	p := drawing{b.Bytes(), tagOf(b.Bytes())}
	s.drawn.keep(f, key, p)
	s.answer(w, r, p.body, p.tag)
}

// answer sends a body unless the asker has it. Whoever reads slowly is given time, and
// whoever does not read at all is not.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte, tag string) {
	w.Header().Set("ETag", tag)
	if has(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	send(w, body, s.limits.piece)
}

// send writes a body piece by piece, each of which has so long to be read.
func send(w http.ResponseWriter, body []byte, within time.Duration) {
	control := http.NewResponseController(w)
	for part := range slices.Chunk(body, piece) {
		_ = control.SetWriteDeadline(time.Now().Add(within))
		if _, err := w.Write(part); err != nil {
			return
		}
	}
}

// has reports whether a tag is among those that an asker has, in whatever bytes it got it.
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

// A trouble is why there is no page, in words.
type trouble struct {
	Error  string `json:"error"`
	Hint   string `json:"hint,omitempty"`
	Status int    `json:"status"`
}

// fail answers with what went wrong.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	t := trouble{Error: err.Error(), Hint: fault.HintOf(err), Status: statusOf(err)}
	if !wantsPage(r) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(t.Status)
		_ = json.NewEncoder(w).Encode(t)
		return
	}
	f := &frame{
		Page: "error", Title: "Error", Release: s.pages.release, Version: s.deps.Version, Body: t,
		status: t.Status, Here: true, MayWrite: s.guard.mayWrite(r),
	}
	if !errors.Is(err, errHost) && !errors.Is(err, errOrigin) && !errors.Is(err, errToken) {
		_, _ = s.worktree(r, f)
	}
	s.draw(w, r, f)
}

func statusOf(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	if _, ok := errors.AsType[*spec.NoNodeError](err); ok {
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

// helpers are what templates may call.
var helpers = template.FuncMap{
	"num": num, "yes": yes, "also": also, "tally": tallyText, "brief": brief, "minute": minute, "who": who,
	"is":      func(p *string, s string) bool { return p != nil && *p == s },
	"foreign": func(c workflow.Counts) int { return c.AdHoc + c.Ephemeral + c.Unknown },
	"str":     func(s string) string { return s },
	"bytes":   bytesText,
	"place":   place,
	"count":   countText,
	"hue":     func(s string) int { h := fnv.New32a(); _, _ = h.Write([]byte(s)); return int(h.Sum32() % 12) },
	"glyph":   glyph,
	"opGlyph": opGlyph,
	"tone":    func(s fresh.State) string { return s.String() },
	"list":    func(v ...any) []any { return v },
	"join":    strings.Join,
	"quote":   func(p repo.Path) string { return fault.Quote(string(p)) },
	"sub":     func(a, b int) int { return a - b },
	"bucket":  bucketText,
	"short":   func(s string) string { return s[:min(len(s), 7)] },
}

// glyph is the sign of a status, so that its colour is not all that tells it.
func glyph(s spec.Status) string {
	switch s {
	case spec.StatusMerged:
		return "●"
	case spec.StatusDrift:
		return "◐"
	case spec.StatusActive:
		return "◆"
	case spec.StatusPending:
		return "○"
	default:
		return "?"
	}
}

// opGlyph is the sign of what a worktree would do to a node.
func opGlyph(op spec.OpKind) string {
	switch op {
	case spec.OpAdded:
		return "+"
	case spec.OpEdited:
		return "~"
	case spec.OpDeleted:
		return "✕"
	case spec.OpMoved:
		return "→"
	default:
		return "?"
	}
}

// bucketText says what a bucket of the contract is for.
func bucketText(b contract.Bucket) string {
	switch b {
	case contract.AdHoc:
		return "allowed by nothing"
	case contract.Unknown:
		return "could not be inspected"
	case contract.Ephemeral:
		return "a leftover that should not exist"
	case contract.PatternAllowed:
		return "allowed by a pattern"
	case contract.Canonical:
		return "allowed by its name"
	default:
		return ""
	}
}

// bytesText is a size as people say it.
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	case n < 1000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1000_000)
	default:
		return fmt.Sprintf("%.1f GB", float64(n)/1000_000_000)
	}
}

// countText is a number with what it counts: "1 file", "2 files".
func countText(n int, one string) string {
	switch {
	case n == 1:
		return "1 " + one
	case strings.HasSuffix(one, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(one, "y"))
	default:
		return fmt.Sprintf("%d %ss", n, one)
	}
}

// share100 is a part of a whole in percent.
func share100(part, whole int) string {
	if whole <= 0 {
		return "0"
	}
	return fmt.Sprintf("%.2f", 100*float64(part)/float64(whole))
}

// num is a number that may not be known, -1 when it is not.
func num(p *int) int {
	if p == nil {
		return -1
	}
	return *p
}

// yes reports whether something is known, and true.
func yes(p *bool) bool { return p != nil && *p }

// briefly is how much of a description a row has room for.
const briefly = 96

// place shortens the path of a directory to what tells it from others of its kind.
func place(dir string) string {
	parts := strings.Split(filepath.ToSlash(dir), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// brief cuts a text at a word, if it is longer than a row.
func brief(text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) <= briefly {
		return string(r)
	}
	cut := string(r[:briefly])
	if i := strings.LastIndexByte(cut, ' '); i > briefly/2 {
		cut = cut[:i]
	}
	return cut + "…"
}

// whoLength is how much of a session's name sets it apart from others.
const whoLength = 12

// who is a session's name for a narrow place.
func who(session string) string {
	if r := []rune(session); len(r) > whoLength+4 {
		return string(r[:whoLength]) + "…"
	}
	return session
}

// minute is a time for a list: the day, and when on it.
func minute(stamp string) string {
	if len(stamp) < len("2006-01-02T15:04") {
		return stamp
	}
	return stamp[:10] + " " + stamp[11:16]
}
