package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/ken"
	"ken/internal/spec"
	"ken/internal/term"
)

type specAckInput struct {
	commonInput
	IDs    []string `json:"ids" jsonschema:"ids of specs"`
	Reason string   `json:"reason" jsonschema:"why they hold; for the commit message"`
}

func (s *server) addSpecAck(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "spec_ack", Title: "Acknowledge that specs hold",
		Description: "Records in an empty commit on HEAD that specs still hold although their code changed. Read spec and code first. " +
			"If the spec is wrong now, edit it instead.",
		Annotations: recording(),
	}, func(ctx context.Context, w *ken.Repository, in specAckInput) (answer, error) {
		ask := spec.AckRequest{Reason: in.Reason}
		for _, id := range in.IDs {
			ask.Nodes = append(ask.Nodes, nodeID(id))
		}
		if s.Session != nil {
			ask.Session = s.Session()
		}
		out, err := w.Spec().Ack(ctx, ask)
		if err != nil {
			return nil, withSpecHint(err)
		}
		return acked{out}, nil
	})
}

type acked struct{ *spec.AckResult }

func (a acked) print(out *text) {
	out.Line(term.Plain, "acked", out.name(strings.Join(a.Nodes, ", ")), "in commit "+a.Commit.Short())
	if len(a.Edited) > 0 {
		why := "the ack is about the committed text, not about this edit"
		out.Line(term.Plain, "edited", out.name(strings.Join(a.Edited, ", ")), why)
	}
}
