package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/brief"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/registry"
)

type orientInput struct {
	commonInput
	Budget int `json:"budget,omitempty" jsonschema:"size of the brief in tokens; default 1500, minimum 50"`
}

func (s *server) addOrient(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name:        "orient",
		Description: "Call this first in a session: is ken's knowledge of this repository current, why not, and a brief. Verifies when needed.",
		Annotations: additive(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in orientInput) (answer, error) {
		if in.Budget != 0 && in.Budget < brief.MinBudget {
			return nil, &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("budget is %d: set at least %d, or leave it out", in.Budget, brief.MinBudget)}
		}
		return withRepository(ctx, s, req, in.Root, func(w *ken.Repository) (answer, error) {
			o, err := w.Briefer().Orient(ctx, in.Budget)
			if err != nil {
				return nil, err
			}
			return orientation{o}, nil
		})
	})
}

type orientation struct{ *registry.Orientation }

func (o orientation) print(out *text) {
	out.Printf("%s", o.Brief)
	if o.LeftOut > 0 {
		out.Remarkf("%s left out: call brief with a path, or raise budget", english.Count(o.LeftOut, "line"))
	}
}
