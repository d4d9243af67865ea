package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is the time between two notifications.
const progressEvery = 200 * time.Millisecond

// progress returns a function that sends progress notifications to the client; nil if the
// client did not ask for them. It sends at most one per progressEvery, and always the last.
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
			// Go on if the client has hung up.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(done), Total: float64(total), Message: "files read",
			})
		}
	}
}
