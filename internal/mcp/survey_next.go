package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/term"
)

type surveyNextInput struct {
	commonInput
	Path  string `json:"path,omitempty" jsonschema:"only in this directory"`
	Lease int    `json:"lease,omitempty" jsonschema:"in seconds; default 900"`
}

func (s *server) addSurveyNext(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "survey_next", Title: "Lease a directory to describe",
		Description: "Leases the next directory to describe, children before parents. Call survey_submit, then repeat until none is ready.",
		Annotations: recording(),
	}, func(ctx context.Context, w *ken.Repository, in surveyNextInput) (answer, error) {
		lasting, err := survey.LeaseDuration(in.Lease)
		if err != nil {
			return nil, &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("lease: %w; leave it out to use 900", err)}
		}
		var within repo.Path
		if in.Path != "" {
			if within, err = w.RootPath(in.Path); err != nil {
				return nil, err
			}
		}
		next, err := w.Next(ctx, survey.NextOptions{Within: within, Duration: lasting})
		if err != nil {
			return nil, err
		}
		return nextItem{next}, nil
	})
}

type nextItem struct{ *survey.NextItem }

func (n nextItem) print(out *text) {
	if n.Item == nil {
		out.Printf("%s\n", n.notReady(out))
		return
	}
	out.Printf("%s\n", strings.TrimRight(term.CleanText(n.Item.Prompt), "\n"))
	out.Remarkf("\nleased to you until %s, %s left to describe; submit with: survey_submit {\"path\": %s, \"lease\": %s, \"text\": \"…\"}",
		n.Item.Expires.Format(time.RFC3339), english.Count(n.Remaining, "directory"), quoted(n.Item.Display()), quoted(n.Item.Lease))
}

// notReady says why no directory is ready, and when to ask again.
func (n nextItem) notReady(out *text) string {
	if n.Remaining == 0 {
		return "no directory is left to describe"
	}
	text := fmt.Sprintf("no directory is ready; %s left to describe", english.Count(n.Remaining, "directory"))
	if len(n.Leased) == 0 {
		return text
	}
	first := slices.MinFunc(n.Leased, func(a, b survey.LeasedPath) int { return a.Until.Compare(b.Until) })
	by := ""
	if first.By != "" {
		by = " to " + out.name(first.By)
	}
	return text + fmt.Sprintf(", %d leased to others, %s%s until %s; ask again then",
		len(n.Leased), out.name(first.Display()), by, first.Until.Format(time.RFC3339))
}
