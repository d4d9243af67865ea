package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/spec"
)

type specAckInput struct {
	rootInput
	IDs    []string `json:"ids" jsonschema:"nodes"`
	Reason string   `json:"reason" jsonschema:"why each of them still holds, for whoever reads the history"`
}

func (s *server) addSpecAck(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "spec_ack",
		Description: "Put on record that specs still hold although their code changed: an empty commit on HEAD that takes their drift off. " +
			"Only after reading spec and code; if the spec is wrong now, edit it instead.",
		Annotations: recording(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in specAckInput) (*mcp.CallToolResult, *spec.Acked, error) {
		ask := spec.AckRequest{Reason: in.Reason}
		for _, id := range in.IDs {
			ask.Nodes = append(ask.Nodes, nodeID(id))
		}
		if s.Session != nil {
			ask.Session = s.Session()
		}
		return withWorkspace(ctx, s, req, in.Root, func(w Workspace) (*spec.Acked, error) {
			out, err := w.Spec().Ack(ctx, ask)
			return out, withSpecHint(err)
		})
	})
}
