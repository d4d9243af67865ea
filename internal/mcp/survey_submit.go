package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/term"
)

type surveySubmitInput struct {
	commonInput
	Path  string            `json:"path" jsonschema:"from survey_next"`
	Lease string            `json:"lease" jsonschema:"from survey_next"`
	Text  string            `json:"text,omitempty" jsonschema:"summary of the directory"`
	Keep  bool              `json:"keep,omitempty" jsonschema:"keep the old text in the prompt; it still holds"`
	Files map[string]string `json:"files,omitempty" jsonschema:"summaries of its own files that you read, by path"`
}

func (s *server) addSurveySubmit(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "survey_submit",
		Description: "Submit the summary of a directory from survey_next. Returns stored; superseded (the directory changed, call survey_next again); " +
			"fenced (the lease ended, another agent has it); or rejected, with the reason.",
		Annotations: recording(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in surveySubmitInput) (answer, error) {
		return withRepository(ctx, s, req, in.Root, func(w *ken.Repository) (answer, error) {
			path, err := w.RootPath(in.Path)
			if err != nil {
				return nil, err
			}
			sub := survey.Submission{Path: path, Lease: in.Lease, Draft: describe.Draft{Text: in.Text, Keep: in.Keep, Files: make(map[repo.Path]string)}}
			for name, text := range in.Files {
				file, err := w.RootPath(name)
				if err != nil {
					return nil, err
				}
				sub.Files[file] = text
			}
			done, err := w.Submit(ctx, sub)
			if err != nil {
				return nil, err
			}
			done.Reason = forAgents(done.Reason)
			return submitted{done}, nil
		})
	})
}

type submitted struct{ *survey.Submitted }

func (s submitted) print(out *text) {
	out.Line(term.Plain, string(s.Result), out.name(s.Display()), s.Reason)
}
