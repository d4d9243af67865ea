package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/term"
)

type updateInput struct {
	commonInput
	Paths   []string      `json:"paths,omitempty" jsonschema:"files you changed; default: those of HEAD"`
	Updates []updateEntry `json:"updates,omitempty" jsonschema:"summaries you wrote"`
}

type updateEntry struct {
	Path    string `json:"path"`
	Summary string `json:"summary,omitempty" jsonschema:"what it is for and how it works"`
	Read    string `json:"read,omitempty" jsonschema:"content_id that you read (see file_registry_verify, format json)"`
	Keep    bool   `json:"keep,omitempty" jsonschema:"the old summary still holds"`
}

func (s *server) addUpdate(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "file_registry_update_summaries", Title: "Store summaries",
		Description: "Call after a commit: stores the summaries that you wrote, lists changed files without a current one, verifies the rest.",
		Annotations: additive(),
	}, func(ctx context.Context, w *ken.Repository, in updateInput) (answer, error) {
		out, err := w.Registry.Close(ctx, closing(w, in))
		if err != nil {
			return nil, err
		}
		for i := range out.Updated {
			u := &out.Updated[i]
			u.Reason, u.Hint = forAgents(u.Reason), forAgents(u.Hint)
		}
		return closed{out}, nil
	})
}

// closing turns a call into options of the registry. A path outside the repository is
// refused; the other entries are stored.
func closing(w *ken.Repository, in updateInput) registry.CloseOptions {
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

// A closed tells what became of the updates, and what needs a summary.
type closed struct {
	*registry.CloseResult
}

func (c closed) print(out *text) {
	rep := registry.Report{State: c.State, Reasons: c.Reasons, Head: c.Commit, Counts: c.Counts}
	out.Printf("%s\n", term.Clean(rep.Headline()))
	if c.LastVerified != c.Commit && !c.LastVerified.IsZero() {
		out.Line(term.Plain, "unknown", "the repository", "it changed during the check; the last complete check is at "+c.LastVerified.Short())
	}
	if c.Unknown != "" {
		out.Line(term.Plain, "unknown", "files of the commit", c.Unknown)
	}
	for _, u := range c.Updated {
		why := u.Reason
		if u.Assumed && u.Result == registry.Stored {
			why = "for the current content; set read to the content id that you read"
		}
		out.Line(term.Plain, string(u.Result), out.name(u.Display()), why)
		if u.Hint != "" {
			out.Remarkf("hint: %s", term.Clean(u.Hint))
		}
	}
	c.printNeeds(out)
}

// printNeeds lists the files that need a summary.
func (c closed) printNeeds(out *text) {
	needs := c.NeedsSummary
	for _, n := range needs[:min(len(needs), listLimit)] {
		out.Line(term.Plain, "needs", out.name(n.Display()), "summary "+n.Summary.String())
	}
	if more := len(needs) - listLimit; more > 0 {
		out.Remarkf("%d more: set paths to the files you mean", more)
	}
	if len(needs) > 0 {
		out.Remarkf("hint: read each file, then send updates with path and summary, or keep: true if the old summary still holds")
	}
}
