package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/registry"
)

type knowledgeInput struct {
	at
	Paths  []string `json:"paths" jsonschema:"files, from the repository root"`
	Budget int      `json:"budget,omitempty" jsonschema:"tokens the texts may take; default: no limit"`
}

// A knowledge is what is known of the paths asked about, in their order.
type knowledge struct {
	Knowledge []registry.Knowledge `json:"knowledge"`
	Shortened int                  `json:"shortened"` // texts left out for want of room
}

func (s *server) addKnowledge(m *mcp.Server) {
	add(m, &mcp.Tool{
		Name: "knowledge",
		Description: "Summaries of files with verdict and receipt. Trust fresh ones instead of reading the file; " +
			"stale ones describe older content. What you read because of none or stale, write back.",
		Annotations: readOnly(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in knowledgeInput) (*mcp.CallToolResult, *knowledge, error) {
		return within(ctx, s, req, in.Root, func(w Workspace) (*knowledge, error) {
			paths, err := rootPaths(w, in.Paths)
			if err != nil {
				return nil, err
			}
			known, err := w.Registry().Show(ctx, paths)
			if err != nil {
				return nil, err
			}
			out := &knowledge{Knowledge: known}
			out.Shortened = registry.Shorten(known, in.Budget)
			return out, nil
		})
	})
}
