package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/repo"
	"ken/internal/survey"
)

type surveySubmitInput struct {
	rootInput
	Path  string            `json:"path" jsonschema:"as in item"`
	Lease string            `json:"lease" jsonschema:"as in item"`
	Text  string            `json:"text,omitempty" jsonschema:"what you say of the directory"`
	Keep  bool              `json:"keep,omitempty" jsonschema:"the old text in the prompt still holds; no text needed"`
	Files map[string]string `json:"files,omitempty" jsonschema:"by path: summaries of its own files that you read"`
}

func (s *server) addSurveySubmit(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "survey_submit",
		Description: "Hand in the text about a directory from survey_next. result: stored; superseded (it changed meanwhile, ask again); " +
			"fenced (too late, another has it); rejected (reason says why, submit a better one).",
		Annotations: recording(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in surveySubmitInput) (*mcp.CallToolResult, *survey.Submitted, error) {
		return withWorkspace(ctx, s, req, in.Root, func(w Workspace) (*survey.Submitted, error) {
			path, err := w.RootPath(in.Path)
			if err != nil {
				return nil, err
			}
			sub := survey.Submission{Path: path, Lease: in.Lease, Draft: survey.Draft{Text: in.Text, Keep: in.Keep, Files: make(map[repo.Path]string)}}
			for name, text := range in.Files {
				file, err := w.RootPath(name)
				if err != nil {
					return nil, err
				}
				sub.Files[file] = text
			}
			done, err := w.Submit(ctx, sub)
			if done != nil {
				done.Reason = forAgents(done.Reason)
			}
			return done, err
		})
	})
}
