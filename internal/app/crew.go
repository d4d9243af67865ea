package app

import (
	"context"
	"errors"
	"fmt"

	"ken/internal/cli"
	"ken/internal/crew"
	"ken/internal/fault"
	"ken/internal/model/provider"
	"ken/internal/queue"
	"ken/internal/repo"
	"ken/internal/survey"
)

// A crewSpace is a repository's runs, and those of its server.
type crewSpace struct {
	*queue.Queue

	shop *workshop
}

// openCrew opens them; asked says that the user has asked for what lies on the server.
func openCrew(ctx context.Context, dir string, asked bool) (*crewSpace, error) {
	shop, err := openWorkshop(ctx, dir, cli.WorkOptions{Jobs: 1}, asked)
	if err != nil {
		return nil, err
	}
	q, err := openQueue(ctx, map[string]*workshop{shop.identity: shop}, 1)
	if err != nil {
		shop.close()
		return nil, err
	}
	return &crewSpace{q, shop}, nil
}

func (c *crewSpace) Close() error {
	c.Queue.Close()
	c.shop.close()
	return nil
}

// Repository is the identity of the repository.
func (c *crewSpace) Repository() string { return c.shop.identity }

// Remarks tells what the user should know.
func (c *crewSpace) Remarks() []string { return c.shop.w.Remarks() }

// Path resolves an argument from where the command was run.
func (c *crewSpace) Path(arg string) (repo.Path, error) { return c.shop.w.Path(arg) }

// CancelRun has no more of a run begun.
func (c *crewSpace) CancelRun(ctx context.Context, id int64) error {
	return c.Cancel(ctx, id, author(ctx, c.shop.w.git, ""))
}

// Sync keeps the local store in step with what was written: what is known here need not be
// described again, and what workers wrote is known here then.
func (c *crewSpace) Sync(ctx context.Context) error {
	if c.shop.w.bare {
		return nil
	}
	_, err := c.shop.w.team.Sync(ctx)
	return err
}

// HandOut plans the survey of a commit and hands it out.
func (c *crewSpace) HandOut(ctx context.Context, opts cli.HandOutOptions) (*cli.HandedOut, error) {
	w := c.shop.w
	rev := opts.At
	if rev == "" {
		rev = "HEAD"
	}
	commit, ok, err := w.git.Resolve(ctx, rev)
	if err == nil && !ok {
		err = &fault.Error{Kind: fault.Usage, Hint: "see what git makes of it: git log -1 " + fault.Quote(rev), Err: fmt.Errorf("there is no commit %q", rev)}
	}
	if err != nil {
		return nil, err
	}
	if err := c.Sync(ctx); err != nil {
		return nil, err
	}
	tree, err := c.shop.at(ctx, commit)
	if err != nil {
		return nil, err
	}
	who := w
	if w.bare {
		who = tree.w
	}
	cfg := who.provider(opts.Provider, opts.Model)
	if cfg.Provider == outlineProvider {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "name who describes, such as: --provider anthropic --model MODEL; or make outlines here: ken survey run",
			Err: errors.New("outlines cost nothing, and need no workers"),
		}
	}
	m, err := provider.Quote(cfg, provider.Options{})
	if err != nil {
		return nil, err
	}
	writer := &survey.Thinker{Model: m}
	if opts.Ceiling.Cost != nil && !m.Price().Known() {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "give it in survey.prices of .ken/config.yaml, or bound the run by --max-tokens",
			Err: fmt.Errorf("what %s costs is not known, so no cost can be kept to", m.Name()),
		}
	}
	p := tree.w.cfg
	sv := survey.New(tree, c.shop.store, survey.Options{Exclude: p.Survey.Exclude, Ranks: p.Survey.Ranks, Counts: p.Registry.Counts})
	out, err := sv.Portions(ctx, writer, opts.Within)
	if err != nil {
		return nil, err
	}
	handed := &cli.HandedOut{Commit: commit, Work: out.Work, Estimate: out.Estimate}
	if there, err := w.git.OnRemote(ctx, commit); err == nil && !there {
		handed.Remark = fmt.Sprintf("commit %s is on no branch of a remote that git knows of: workers elsewhere need it; push it, and have them fetch", commit.String()[:12])
	}
	if out.Work == 0 {
		return handed, nil
	}
	model := cfg.Model
	handed.ID, err = c.Queue.HandOut(ctx, crew.Run{
		Repository: c.shop.identity, Commit: commit, Recipe: writer.Recipe(), Provider: cfg.Provider, Model: model,
		By: author(ctx, w.git, ""), Ceiling: opts.Ceiling,
	}, out)
	return handed, err
}
