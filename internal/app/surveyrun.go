package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/model"
	"ken/internal/model/provider"
	"ken/internal/queue"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// A crewSpace is a repository's runs, and those of its server.
type crewSpace struct {
	*queue.Queue

	shop *workshop
}

// openCrew opens them, for a user who has asked for what lies on the server.
func openCrew(ctx context.Context, dir string) (*crewSpace, error) {
	return openCrewBy(ctx, dir, true, func(shop *workshop) (*queue.Queue, error) {
		q, err := openQueue(ctx, map[string]*workshop{shop.identity: shop}, 1)
		if err == nil {
			shop.w.team.Reached()
		}
		return q, err
	})
}

// lookAtCrew opens them for looking: nothing is made on a server that the user has not asked
// for. It returns [queue.ErrNone] where there are none.
func lookAtCrew(ctx context.Context, dir string) (*crewSpace, error) {
	return openCrewBy(ctx, dir, false, func(shop *workshop) (*queue.Queue, error) {
		return queue.Look(ctx, shop.store.Config(), queue.Options{Connections: 1, Server: queueServer{shop.store}})
	})
}

func openCrewBy(ctx context.Context, dir string, asked bool, open func(*workshop) (*queue.Queue, error)) (*crewSpace, error) {
	shop, err := openWorkshop(ctx, dir, cli.WorkOptions{Jobs: 1}, asked)
	if err != nil {
		return nil, err
	}
	q, err := open(shop)
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
func (c *crewSpace) CancelRun(ctx context.Context, repository string, id int64) error {
	return c.Cancel(ctx, repository, id, author(ctx, c.shop.w.git, ""))
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

// priced says that a cost cannot be kept to: the run's, or the server's for a day.
func (c *crewSpace) priced(ctx context.Context, m model.Model, of surveyrun.Ceiling) error {
	if m.Price().Known() {
		return nil
	}
	if of.Cost != nil {
		return &fault.Error{
			Kind: fault.Usage, Hint: "give it in survey.prices of .ken/config.yaml, or bound the run by --max-tokens",
			Err: fmt.Errorf("what %s costs is not known, so no cost can be kept to", m.Name()),
		}
	}
	day, err := c.Today(ctx)
	if err == nil && day.Ceiling.Cost != nil {
		err = &fault.Error{
			Kind: fault.Usage, Hint: "give it in survey.prices of .ken/config.yaml; the server's ceiling is shown by: ken worker ceiling",
			Err: fmt.Errorf("what %s costs is not known, and the server may spend no more than %s a day", m.Name(), *day.Ceiling.Cost),
		}
	}
	return err
}

// HandOut plans the survey of a commit and hands it out.
func (c *crewSpace) HandOut(ctx context.Context, opts cli.HandOutOptions) (*cli.HandedOut, error) {
	w := c.shop.w
	commit, err := w.commitOf(ctx, cmp.Or(opts.At, "HEAD"))
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
	m, err := quoted(cfg)
	if err != nil {
		return nil, err
	}
	if err := who.checkProvider(&cfg, opts.Provider, opts.Model); err != nil {
		return nil, err
	}
	// A program goes by its file's name where no model is named, for its price as well.
	cfg.Model = strings.TrimPrefix(m.Name(), cfg.Provider+"/")
	if m, err = quoted(cfg); err != nil {
		return nil, err
	}
	writer := &survey.Thinker{Model: m}
	if err := c.priced(ctx, m, opts.Ceiling); err != nil {
		return nil, err
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
	handed.ID, err = c.Queue.HandOut(ctx, surveyrun.Run{
		Repository: c.shop.identity, Commit: commit, Recipe: writer.Recipe(), Provider: cfg.Provider, Model: cfg.Model,
		By: author(ctx, w.git, ""), Ceiling: opts.Ceiling, Spent: surveyrun.Amount{Unpriced: !m.Price().Known()},
	}, out)
	return handed, err
}

// quoted returns the model that work is planned for. Who describes it asks one of its own.
func quoted(cfg provider.Config) (model.Model, error) {
	if cfg.Provider == outlineProvider {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "name who describes, such as: --provider anthropic --model MODEL; or make outlines here: ken survey run",
			Err: errors.New("outlines cost nothing, and need no workers"),
		}
	}
	return provider.Quote(cfg, provider.Options{})
}
