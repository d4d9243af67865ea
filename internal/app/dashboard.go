package app

import (
	"context"
	"fmt"

	"ken/internal/board"
	"ken/internal/content"
	"ken/internal/dashboard"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/ken"
	"ken/internal/mcp"
	"ken/internal/spec"
	"ken/internal/statedir"
	"ken/internal/web"
	"ken/internal/workflow"
)

// webDeps builds the dashboard of a repository. shell is the directory where the server
// was started.
func webDeps(ctx context.Context, g *git.Repo, shell string) web.Deps {
	documents := dashboard.NewDocumentChecks(ctx, checkDocuments)
	runs := &runsCache{root: g.Root()}
	d := webSource{root: g.Root(), shell: shell, runs: runs, specs: &spec.LoadedSpecs{}, documents: documents}
	d.prints = dashboard.NewFingerprinter(dashboard.FingerprintOptions{
		Root:     g.Root(),
		StateDir: ken.StateDir(),
		// A late answer changes the next fingerprint.
		Runs: func(ctx context.Context) *board.Part[board.Runs] {
			part := runs.part(ctx, runsShortWait)
			if part == runsLate {
				return nil
			}
			return part
		},
		Checks: documents.Finished,
	})
	return web.Deps{
		Version:     Version,
		Worktrees:   d.worktrees,
		Board:       d.board,
		Fingerprint: d.prints.Take,
		Watch:       func(ctx context.Context, notify func()) { content.Watch(ctx, d.prints.Places, notify) },
		Open:        d.open,
		OpenState:   d.openState,
		Close:       d.documents.Close,
		Remote:      d.remote,
		MCP:         mcp.Handler(confined(g, mcpDeps(g.Root()))),
	}
}

// A webSource implements web.Deps. It lists the worktrees anew on each call.
type webSource struct {
	root      string // root of the worktree of the server
	shell     string // directory where the server was started
	prints    *dashboard.Fingerprinter
	runs      *runsCache
	specs     *spec.LoadedSpecs
	documents *dashboard.DocumentChecks // checks documents in the background
}

// checkDocuments reports on the documents of the worktree at root.
func checkDocuments(ctx context.Context, root string) (*docs.Report, error) {
	w, err := ken.Open(ctx, ken.Options{Dir: root})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return w.Documents().Check(ctx, docs.Options{})
}

func (w webSource) checkouts(ctx context.Context) (*git.Repo, []git.Checkout, error) {
	g, err := git.Open(ctx, w.root)
	if err != nil {
		return nil, nil, err
	}
	all, err := g.Checkouts(ctx)
	return g, all, err
}

func (w webSource) worktrees(ctx context.Context) ([]web.Worktree, error) {
	_, all, err := w.checkouts(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]web.Worktree, len(all))
	for i, c := range all {
		list[i] = web.Worktree{Name: c.Name, Here: c.Here}
		if c.Err == nil {
			list[i].Dir = c.Repo.Root()
			list[i].IsStartDir = list[i].Dir == w.shell
		}
	}
	return list, nil
}

func (w webSource) open(ctx context.Context, name string) (*ken.Repository, error) {
	c, err := w.find(ctx, name)
	if err != nil {
		return nil, err
	}
	return openWorktree(ctx, c)
}

func (w webSource) openState(ctx context.Context, name string) (*workflow.Manager, error) {
	c, err := w.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if c.Err != nil {
		return nil, c.Err
	}
	return statedir.Open(ctx, statedir.Options{From: c.Repo.Root()})
}

// remote returns the remote of a worktree and the newest commit that it is known to have.
func (w webSource) remote(ctx context.Context, name string) (web.Remote, error) {
	c, err := w.find(ctx, name)
	if err != nil {
		return web.Remote{}, err
	}
	if c.Err != nil || c.Head.Commit.IsZero() {
		return web.Remote{}, c.Err
	}
	address, err := c.Repo.RemoteURL(ctx)
	if err != nil || address == "" {
		return web.Remote{}, err
	}
	commit, err := c.Repo.PushedCommit(ctx, c.Head.Commit)
	return web.Remote{URL: address, Commit: commit}, err
}

func (w webSource) find(ctx context.Context, name string) (git.Checkout, error) {
	_, all, err := w.checkouts(ctx)
	if err != nil {
		return git.Checkout{}, err
	}
	return named(all, name)
}

// named returns a worktree by name.
func named(all []git.Checkout, name string) (git.Checkout, error) {
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
	}
	return git.Checkout{}, &fault.Error{Kind: fault.Usage, Hint: "git worktree list", Err: fmt.Errorf("unknown worktree %q", name)}
}
