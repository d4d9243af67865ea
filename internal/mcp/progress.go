package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is how often a client hears how far a call is.
const progressEvery = 200 * time.Millisecond

// progress returns what tells the client of a call how far it is; nil when it did not ask
// for that. It is told at most every so often, of what is more than before, and of the
// last.
func progress(ctx context.Context, req *mcp.CallToolRequest) func(done, total int) {
	if req.Params == nil || req.Session == nil {
		return nil
	}
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var mu sync.Mutex
	said, last := -1, time.Time{}
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); done > said && (done == total || now.Sub(last) >= progressEvery) {
			said, last = done, now
			// A client that does not listen any more is no reason to stop.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(done), Total: float64(total), Message: "files read",
			})
		}
	}
}
