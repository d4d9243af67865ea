package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/survey"
)

type surveyNextInput struct {
	rootInput
	Lease int `json:"lease,omitempty" jsonschema:"lease in seconds; default 900"`
}

func (s *server) addSurveyNext(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "survey_next",
		Description: "Lease the next directory to describe, children before parents. item.prompt has everything you need. " +
			"Call survey_submit, then repeat until item is null.",
		Annotations: recording(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in surveyNextInput) (*mcp.CallToolResult, *survey.NextItem, error) {
		lasting, err := survey.LeaseFor(in.Lease)
		if err != nil {
			return nil, nil, &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("lease: %w; leave it out to use 900", err)}
		}
		return withWorkspace(ctx, s, req, in.Root, func(w Workspace) (*survey.NextItem, error) {
			return w.Dispatcher().Next(ctx, lasting)
		})
	})
}
