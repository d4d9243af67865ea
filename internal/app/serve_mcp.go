package app

import (
	"context"
	"fmt"
	"path/filepath"

	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/git"
	"ken/internal/mcp"
	"ken/internal/repo"
)

// An agentSpace is a workspace as agents ask it.
type agentSpace struct{ *workspace }

// Brief is the text and the document of ken brief.
func (a agentSpace) Brief(ctx context.Context, path repo.Path, budget int) (fmt.Stringer, error) {
	return a.workspace.Brief(ctx, cli.BriefOptions{Path: path, Budget: budget})
}

// Find is the text and the document of ken find.
func (a agentSpace) Find(ctx context.Context, words []string, opts mcp.FindOptions) (fmt.Stringer, error) {
	kinds, err := find.ParseKinds(opts.Kinds)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Usage, Err: err}
	}
	return a.workspace.Find(ctx, find.Query{Words: words, Limit: opts.Limit, Kinds: kinds}, "")
}

// Review is the text and the document of ken review.
func (a agentSpace) Review(ctx context.Context, span string, all bool) (fmt.Stringer, error) {
	return a.workspace.Review(ctx, cli.ReviewOptions{Range: span, All: all})
}

// confined restricts MCP over HTTP to the worktrees of one repository. It removes the
// session of the server, which is not the agent's.
func confined(g *git.Repo, deps mcp.Deps) mcp.Deps {
	known := func(ctx context.Context, dir string) error {
		if dir == "" {
			return nil
		}
		other, err := git.Open(ctx, existing(dir))
		if err != nil || other.CommonDir() != g.CommonDir() {
			return &fault.Error{
				Kind: fault.Usage, Hint: "leave root out, or name a directory in one of its worktrees",
				Err: fmt.Errorf("this server answers for one repository, and %s is not in it", dir),
			}
		}
		return nil
	}
	open, openState := deps.Open, deps.OpenState
	deps.Session = nil
	deps.Open = func(ctx context.Context, root, author string) (mcp.Workspace, error) {
		if err := known(ctx, root); err != nil {
			return nil, err
		}
		return open(ctx, root, author)
	}
	deps.OpenState = func(ctx context.Context, root, named, author string) (mcp.StateSpace, error) {
		if err := known(ctx, root); err != nil {
			return nil, err
		}
		if named != "" {
			from := root
			if from == "" {
				from = g.Root()
			}
			dir := named
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(from, dir)
			}
			if err := known(ctx, dir); err != nil {
				return nil, err
			}
		}
		return openState(ctx, root, named, author)
	}
	return deps
}
