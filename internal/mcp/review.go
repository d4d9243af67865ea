package mcp

import (
	"context"

	"ken/internal/ken"
	"ken/internal/review"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type reviewInput struct {
	commonInput
	Range string `json:"range,omitempty" jsonschema:"A..B or REV; default: the work tree since the main branch"`
	All   bool   `json:"all,omitempty" jsonschema:"every line, and older problems"`
}

func (s *server) addReview(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "review",
		Description: "Call this before you commit or finish: documents, specs and uses that your change breaks, the tests to run, summaries that it makes stale. " +
			"Each line names the place, the reason and the next command.",
		Annotations: readOnly(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in reviewInput) (answer, error) {
		return withRepository(ctx, s, req, in.Root, func(w *ken.Repository) (answer, error) {
			r, err := w.Reviewer().Review(ctx, review.Options{Range: in.Range, All: in.All})
			if err != nil {
				return nil, err
			}
			return featureDocument{r, r.Quoted()}, nil
		})
	})
}
