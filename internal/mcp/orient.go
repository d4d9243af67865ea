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
	Budget int `json:"budget,omitempty" jsonschema:"size of the brief in tokens; default 1500, minimum 50"`
}

func (s *server) addOrient(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name:        "orient",
		Description: "Call this first in a session. Returns whether ken's knowledge of this repository is current, why not, and a brief. Verifies when needed.",
		Annotations: additive(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in orientInput) (*mcp.CallToolResult, *registry.Orientation, error) {
		if in.Budget != 0 && in.Budget < registry.MinBudget {
			return nil, nil, &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("budget is %d: set at least %d, or leave it out", in.Budget, registry.MinBudget)}
		}
		return withWorkspace(ctx, s, req, in.Root, func(w Workspace) (*registry.Orientation, error) {
			return w.Orient(ctx, in.Budget)
		})
	})
}
