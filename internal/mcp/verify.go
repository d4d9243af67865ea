package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/registry"
)

type verifyInput struct {
	rootInput
	Paths []string `json:"paths,omitempty" jsonschema:"only these files or directories, from the repository root"`
	Full  bool     `json:"full,omitempty" jsonschema:"read all files, even unchanged ones"`
	All   bool     `json:"all,omitempty" jsonschema:"also list unchanged files"`
	Limit int      `json:"limit,omitempty" jsonschema:"most verdicts to list; default 200"`
}

// listLimit keeps an answer from filling an agent's context. Counts are complete.
const listLimit = 200

// A verified is a report with a limited list of verdicts.
type verified struct {
	*registry.Report
	Omitted int `json:"omitted"` // verdicts left out
}

func (s *server) addVerify(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "file_registry_verify",
		Description: "Compare every file with its recorded content. Verdict per path: match, mismatch, missing, new, conflicted, sparse, unknown; " +
			"summary: fresh, stale, none, excluded, unknown.",
		Annotations: additive(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in verifyInput) (*mcp.CallToolResult, *verified, error) {
		return withWorkspace(ctx, s, req, in.Root, func(w Workspace) (*verified, error) {
			only, err := rootPaths(w, in.Paths)
			if err != nil {
				return nil, err
			}
			rep, err := w.Registry().Verify(ctx, registry.VerifyOptions{Full: in.Full, All: in.All, Paths: only})
			if err != nil {
				return nil, err
			}
			limit := in.Limit
			if limit <= 0 {
				limit = listLimit
			}
			out := &verified{Report: rep}
			if n := len(rep.Verdicts); n > limit {
				rep.Verdicts, out.Omitted = rep.Verdicts[:limit], n-limit
			}
			return out, nil
		})
	})
}
