package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/registry"
	"ken/internal/repo"
)

type updateInput struct {
	rootInput
	Paths   []string      `json:"paths,omitempty" jsonschema:"files you changed; default: those of the HEAD commit"`
	Updates []updateEntry `json:"updates,omitempty" jsonschema:"summaries you wrote"`
}

type updateEntry struct {
	Path    string `json:"path"`
	Summary string `json:"summary,omitempty" jsonschema:"what the file is for and how it works, for a reader who does not open it"`
	Read    string `json:"read,omitempty" jsonschema:"content_id or content_md5 of the content you read"`
	Keep    bool   `json:"keep,omitempty" jsonschema:"keep the current summary; it still holds"`
}

func (s *server) addUpdate(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "file_registry_update_summaries",
		Description: "Call after a commit: stores your summaries, lists changed files without a current one (needs_summary), verifies the rest. " +
			"A rejected entry has a reason; the others are stored.",
		Annotations: additive(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in updateInput) (*mcp.CallToolResult, *registry.Closing, error) {
		return withWorkspace(ctx, s, req, in.Root, func(w Workspace) (*registry.Closing, error) {
			out, err := w.Registry().Close(ctx, closing(w, in))
			if err != nil {
				return nil, err
			}
			for i := range out.Updated {
				out.Updated[i].Hint = forAgents(out.Updated[i].Hint)
			}
			return out, nil
		})
	})
}

// closing turns a call into options of the registry. A path outside the repository is
// refused; the other entries are stored.
func closing(w Workspace, in updateInput) registry.CloseOptions {
	var opts registry.CloseOptions
	for _, u := range in.Updates {
		update := registry.Update{Text: u.Summary, Read: u.Read, Keep: u.Keep}
		var err error
		if update.Path, err = w.RootPath(u.Path); err != nil {
			update.Path, update.Refused = repo.Path(u.Path), err.Error()
		}
		opts.Updates = append(opts.Updates, update)
	}
	for _, p := range in.Paths {
		if path, err := w.RootPath(p); err == nil {
			opts.Paths = append(opts.Paths, path)
		}
	}
	return opts
}
