package mcp

import (
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler serves any number of clients over HTTP. It checks no access; the caller does.
// Answers are streams, so that clients can get progress.
func Handler(deps Deps) http.Handler { return handlerOf(newServer(deps)) }

func handlerOf(m *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the guard of web checks host names
	})
}
