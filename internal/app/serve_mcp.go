package app

import (
	"context"
	"fmt"
	"path/filepath"

	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/ken"
	"ken/internal/mcp"
	"ken/internal/workflow"
)

// confined restricts MCP over HTTP to the worktrees of one repository. It removes the
// session of the server, which is not the agent's.
func confined(g *git.Repo, deps mcp.Deps) mcp.Deps {
	known := func(ctx context.Context, dir string) error {
		if dir == "" {
			return nil
		}
		other, err := git.Open(ctx, git.ExistingDir(dir))
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
	deps.Open = func(ctx context.Context, root, author string) (*ken.Repository, error) {
		if err := known(ctx, root); err != nil {
			return nil, err
		}
		return open(ctx, root, author)
	}
	deps.OpenState = func(ctx context.Context, root, named, author string) (*workflow.Manager, error) {
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
