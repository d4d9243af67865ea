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
	Lease int `json:"lease,omitempty" jsonschema:"seconds it is yours; default 900"`
}

func (s *server) addSurveyNext(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "survey_next",
		Description: "Take the next directory to describe, children before parents: item.prompt holds all you need. " +
			"Answer with survey_submit, then ask again until item is null.",
		Annotations: recording(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in surveyNextInput) (*mcp.CallToolResult, *survey.Handed, error) {
		lasting, err := survey.LeaseFor(in.Lease)
		if err != nil {
			return nil, nil, &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("lease: %w; leave it out for 900", err)}
		}
		return withWorkspace(ctx, s, req, in.Root, func(w Workspace) (*survey.Handed, error) {
			return w.Desk().Next(ctx, lasting)
		})
	})
}
