package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/registry"
)

type orientInput struct {
	rootInput
	Budget int `json:"budget,omitempty" jsonschema:"tokens the brief may take; default 1500, at least 50"`
}

func (s *server) addOrient(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name:        "orient",
		Description: "First call of a session: may what is known about this repository be trusted, why not, and a brief of it. Verifies when needed.",
		Annotations: additive(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in orientInput) (*mcp.CallToolResult, *registry.Orientation, error) {
		if in.Budget != 0 && in.Budget < registry.MinBudget {
			return nil, nil, &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("budget is %d: give at least %d tokens, or leave it out", in.Budget, registry.MinBudget)}
		}
		return withWorkspace(ctx, s, req, in.Root, func(w Workspace) (*registry.Orientation, error) {
			return w.Orient(ctx, in.Budget)
		})
	})
}
