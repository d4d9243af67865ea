package mcp

import (
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler serves clients over HTTP, as many as there are. Who may ask is for whoever
// mounts it to decide: it believes everyone. Answers are streams, so that a client that
// wants to can hear how far a call is.
func Handler(deps Deps) http.Handler { return handlerOf(newServer(deps)) }

func handlerOf(m *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the guard in front knows more names than that
	})
}
