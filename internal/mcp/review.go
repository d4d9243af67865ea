package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/ken"
	"ken/internal/review"
)

type reviewInput struct {
	commonInput
	Range string `json:"range,omitempty" jsonschema:"A..B or REV; default: the work tree since main"`
	All   bool   `json:"all,omitempty" jsonschema:"every line, and older problems"`
}

func (s *server) addReview(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "review", Title: "What a change breaks",
		Description: "Call before you commit or finish: documents, specs and uses that the change breaks, tests to run, summaries that it makes stale.",
		Annotations: readOnly(),
	}, func(ctx context.Context, w *ken.Repository, in reviewInput) (answer, error) {
		r, err := w.Reviewer().Review(ctx, review.Options{Range: in.Range, All: in.All})
		if err != nil {
			return nil, err
		}
		return featureDocument{r, r.Quoted()}, nil
	})
}
