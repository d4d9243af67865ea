package mcp

import (
	"context"
	"errors"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
)

// Resources of summaries: the brief, and the summary of each path.
const (
	briefURI        = "ken://brief"
	summaryScheme   = "ken://summary/"
	summaryTemplate = summaryScheme + "{+path}"
)

func (s *server) addKnownResources(m *mcp.Server) {
	m.AddResource(&mcp.Resource{
		URI: briefURI, Name: "brief", Title: "Brief of this repository", MIMEType: specMIME,
		Description: "Whether ken's knowledge is current, and the brief that orient returns.",
	}, s.readBrief)
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "summary", Title: "Summary of a file or directory", URITemplate: summaryTemplate, MIMEType: specMIME,
		Description: "The summary of a path, after a comment with its verdict.",
	}, s.readSummary)
	m.AddReceivingMiddleware(escapeSummaryURIs)
}

// summaryURI returns the URI of a summary.
func summaryURI(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return summaryScheme + strings.Join(parts, "/")
}

// escapeSummaryURIs is escapeSpecURIs for summaries.
func escapeSummaryURIs(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if p, ok := req.GetParams().(*mcp.ReadResourceParams); ok && p != nil {
			if path, ok := summaryPath(p.URI); ok {
				p.URI = summaryURI(path)
			}
		}
		return next(ctx, method, req)
	}
}

func summaryPath(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, summaryScheme)
	if !ok || rest == "" {
		return "", false
	}
	if path, err := url.PathUnescape(rest); err == nil {
		return path, true
	}
	return rest, true
}

// document returns the content of a resource.
func document(uri, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{
		Cacheable: private(),
		Contents:  []*mcp.ResourceContents{{URI: uri, MIMEType: specMIME, Text: strings.ToValidUTF8(text, "\uFFFD")}},
	}
}

// readResource opens the work tree where the server was started and returns the text of
// f.
func (s *server) readResource(ctx context.Context, uri string, f func(*ken.Repository) (string, error)) (*mcp.ReadResourceResult, error) {
	w, err := s.Open(ctx, "", "")
	if fault.KindOf(err) == fault.NoRepo {
		return nil, notFound(uri, &fault.Error{
			Kind: fault.NoRepo, Hint: "resources belong to the work tree where the server was started; for another one, call orient, brief or spec with root", Err: err,
		})
	}
	if err != nil {
		return nil, withHint(err)
	}
	text, err := f(w)
	if err := errors.Join(err, w.Close()); err != nil {
		if known, ok := errors.AsType[*jsonrpc.Error](err); ok {
			return nil, known
		}
		return nil, withHint(err)
	}
	return document(uri, text), nil
}

func (s *server) readBrief(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return s.readResource(ctx, req.Params.URI, func(w *ken.Repository) (string, error) {
		o, err := w.Briefer().Orient(ctx, 0)
		if err != nil {
			return "", err
		}
		return o.Brief, nil
	})
}

func (s *server) readSummary(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	return s.readResource(ctx, uri, func(w *ken.Repository) (string, error) {
		name, _ := summaryPath(uri)
		path, err := w.RootPath(name)
		if err != nil {
			return "", notFound(uri, err)
		}
		k, err := known(ctx, w, path)
		if err != nil {
			return "", err
		}
		if k.dir != nil {
			return withVerdict(k.dir.Verdict.String(), k.dir.Path, k.dir.Reasons, k.dir.TextOrEmpty()), nil
		}
		f := k.file
		return withVerdict(f.Verdict.String(), f.Path, f.Reasons, f.Text), nil
	})
}

// A pathKnowledge is what ken knows about a directory if dir is set, else about a file.
type pathKnowledge struct {
	file registry.Summary
	dir  *survey.ListedDir
}

// known returns the summary of a path with its verdict.
func known(ctx context.Context, w *ken.Repository, path repo.Path) (pathKnowledge, error) {
	files, err := w.Registry.Show(ctx, []repo.Path{path})
	if err != nil {
		return pathKnowledge{}, err
	}
	k := pathKnowledge{file: files[0]}
	if k.file.CurrentID.IsZero() { // not a readable file; it may be a directory
		dirs, err := w.Survey(nil).Directories(ctx, []repo.Path{path})
		if err != nil {
			return pathKnowledge{}, err
		}
		k.dir = dirs[0]
	}
	return k, nil
}

// withVerdict returns a text after a comment with its verdict.
func withVerdict(judged, path string, reasons []string, text string) string {
	v := &comment{}
	v.line("verdict", judged)
	v.line("path", path)
	if len(reasons) > 0 {
		v.line("because", line(strings.Join(reasons, ", ")))
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return v.markdown() + text
}

// subscriptions are the resources that clients subscribed to. ken watches nothing: it
// notifies subscribers after calls that write.
//
// The SDK does not report when a client disconnects, so subscribe removes sessions that
// are gone.
type subscriptions struct {
	sessions func() iter.Seq[*mcp.ServerSession] // open sessions

	mu   sync.Mutex
	uris map[string]map[*mcp.ServerSession]bool
}

func (w *subscriptions) subscribe(_ context.Context, req *mcp.SubscribeRequest) error {
	here := make(map[*mcp.ServerSession]bool)
	for s := range w.sessions() {
		here[s] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remove(func(_ string, s *mcp.ServerSession) bool { return !here[s] })
	if w.uris == nil {
		w.uris = make(map[string]map[*mcp.ServerSession]bool)
	}
	if w.uris[req.Params.URI] == nil {
		w.uris[req.Params.URI] = make(map[*mcp.ServerSession]bool)
	}
	w.uris[req.Params.URI][req.Session] = true
	return nil
}

func (w *subscriptions) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remove(func(uri string, s *mcp.ServerSession) bool { return uri == req.Params.URI && s == req.Session })
	return nil
}

// remove removes the matching subscriptions.
func (w *subscriptions) remove(some func(uri string, s *mcp.ServerSession) bool) {
	for uri, sessions := range w.uris {
		maps.DeleteFunc(sessions, func(s *mcp.ServerSession, _ bool) bool { return some(uri, s) })
		if len(sessions) == 0 {
			delete(w.uris, uri)
		}
	}
}

// writers are the tools after which subscribers are notified.
var writers = []string{"file_registry_update_summaries", "survey_submit", "spec_ack"}

// announce notifies subscribers after a successful call of a writer.
func (w *subscriptions) announce(m *mcp.Server) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			p, ok := req.GetParams().(*mcp.CallToolParamsRaw)
			if err != nil || !ok || p == nil || !slices.Contains(writers, p.Name) {
				return res, err
			}
			if r, ok := res.(*mcp.CallToolResult); ok && r.IsError {
				return res, nil
			}
			w.mu.Lock()
			uris := slices.Sorted(maps.Keys(w.uris))
			w.mu.Unlock()
			for _, uri := range uris {
				_ = m.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})
			}
			return res, nil
		}
	}
}
