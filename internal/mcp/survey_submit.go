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
	Text  string            `json:"text,omitempty"`
	Keep  bool              `json:"keep,omitempty" jsonschema:"the old text still holds"`
	Files map[string]string `json:"files,omitempty" jsonschema:"summaries of files that you read, by path"`
}

func (s *server) addSurveySubmit(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "survey_submit", Title: "Submit a directory's summary",
		Description: "Submits the summary of a directory from survey_next. Returns stored; superseded (it changed: call survey_next again); " +
			"fenced (the lease ended); or rejected, with the reason.",
		Annotations: recording(),
	}, func(ctx context.Context, w *ken.Repository, in surveySubmitInput) (answer, error) {
		path, err := w.RootPath(in.Path)
		if err != nil {
			return nil, err
		}
		draft := describe.Draft{Text: in.Text, Keep: in.Keep, Files: make(map[repo.Path]string)}
		for name, text := range in.Files {
			file, err := w.RootPath(name)
			if err != nil {
				return nil, err
			}
			draft.Files[file] = text
		}
		done, err := w.Submit(ctx, survey.Submission{Path: path, Lease: in.Lease, Draft: draft})
		if err != nil {
			return nil, err
		}
		done.Reason = forAgents(done.Reason)
		return submitted{done}, nil
	})
}

type submitted struct{ *survey.Submitted }

func (s submitted) print(out *text) {
	out.Line(term.Plain, string(s.Result), out.name(s.Display()), s.Reason)
}
