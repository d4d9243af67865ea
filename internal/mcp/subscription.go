package mcp

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
