package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/model"
	"ken/internal/model/provider"
	"ken/internal/queue"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/surveyrun"
)

// A runSpace gives access to the runs of a repository and of its server.
type runSpace struct {
	*queue.Queue

	repo *workerRepo
}

// openRuns opens the runs for a command that asked for the server.
func openRuns(ctx context.Context, dir string) (*runSpace, error) {
	return openRunsWith(ctx, dir, true, func(r *workerRepo) (*queue.Queue, error) {
		q, err := openQueue(ctx, map[string]*workerRepo{r.identity: r}, 1)
		if err == nil {
			r.w.Team.Reached()
		}
		return q, err
	})
}

// openRunsReadOnly opens the runs for reading, for a command that did not ask for the server: it
// creates nothing there. It returns [queue.ErrNone] if there are none.
func openRunsReadOnly(ctx context.Context, dir string) (*runSpace, error) {
	return openRunsWith(ctx, dir, false, func(r *workerRepo) (*queue.Queue, error) {
		return queue.Look(ctx, r.store.Config(), queue.Options{Connections: 1, Server: queueServer{r.store}})
	})
}

func openRunsWith(ctx context.Context, dir string, asked bool, open func(*workerRepo) (*queue.Queue, error)) (*runSpace, error) {
	r, err := openWorkerRepo(ctx, dir, cli.WorkOptions{Jobs: 1}, asked)
	if err != nil {
		return nil, err
	}
	q, err := open(r)
	if err != nil {
		r.close()
		return nil, err
	}
	return &runSpace{q, r}, nil
}

func (c *runSpace) Close() error {
	c.Queue.Close()
	c.repo.close()
	return nil
}

// Repository returns the identity of the repository.
func (c *runSpace) Repository() string { return c.repo.identity }

// Remarks returns notes for the user.
func (c *runSpace) Remarks() []string { return c.repo.w.Remarks() }

// Path resolves an argument from where the command was run.
func (c *runSpace) Path(arg string) (repo.Path, error) { return c.repo.w.Path(arg) }

// CancelRun cancels a run.
func (c *runSpace) CancelRun(ctx context.Context, repository string, id int64) error {
	return c.Cancel(ctx, repository, id, c.repo.w.Author(ctx))
}

// Sync exchanges records between the local store and the team's database: workers need not
// summarise again what is known here, and their summaries arrive here.
func (c *runSpace) Sync(ctx context.Context) error {
	if c.repo.w.Bare {
		return nil
	}
	_, err := c.repo.w.Team.Sync(ctx)
	return err
}

// StartRun plans the survey of a commit and starts a run.
func (c *runSpace) StartRun(ctx context.Context, opts cli.StartRunOptions) (*cli.StartedRun, error) {
	w := c.repo.w
	commit, err := w.Commit(ctx, cmp.Or(opts.At, "HEAD"))
	if err != nil {
		return nil, err
	}
	if err := c.Sync(ctx); err != nil {
		return nil, err
	}
	tree, err := c.repo.treeAt(ctx, commit)
	if err != nil {
		return nil, err
	}
	who := w
	if w.Bare {
		who = tree.w
	}
	cfg := who.Provider(opts.Provider, opts.Model)
	m, err := quoted(cfg)
	if err != nil {
		return nil, err
	}
	if err := who.CheckProvider(&cfg, opts.Provider, opts.Model); err != nil {
		return nil, err
	}
	// Without a model name, a program has the name of its file, which also selects its price.
	cfg.Model = strings.TrimPrefix(m.Name(), cfg.Provider+"/")
	if m, err = quoted(cfg); err != nil {
		return nil, err
	}
	writer := &describe.ModelWriter{Model: m}
	if err := opts.Ceiling.CheckPrice(m); err != nil {
		return nil, err
	}
	if !m.Price().Known() {
		day, err := c.Today(ctx)
		if err == nil {
			err = day.CheckPrice(m)
		}
		if err != nil {
			return nil, err
		}
	}
	p := tree.w.Config
	sv := survey.New(tree.files, c.repo.store, survey.Options{Exclude: p.Survey.Exclude, Ranks: p.Survey.Ranks, Counts: p.Registry.Counts})
	out, err := sv.Tasks(ctx, writer, opts.Within)
	if err != nil {
		return nil, err
	}
	handed := &cli.StartedRun{Commit: commit, Work: out.Work, Estimate: out.Estimate}
	if there, err := w.Git.OnRemote(ctx, commit); err == nil && !there {
		handed.Remark = fmt.Sprintf("commit %s is on no remote branch; push it, so that workers on other machines can fetch it", commit.String()[:12])
	}
	if out.Work == 0 {
		return handed, nil
	}
	handed.ID, err = c.Queue.StartRun(ctx, surveyrun.Run{
		Repository: c.repo.identity, Commit: commit, Recipe: writer.Recipe(), Provider: cfg.Provider, Model: cfg.Model,
		By: w.Author(ctx), Ceiling: opts.Ceiling, Spent: surveyrun.Amount{Unpriced: !m.Price().Known()},
	}, out)
	return handed, err
}

// quoted returns the model of the plan. Each worker opens its own.
func quoted(cfg provider.Config) (model.Model, error) {
	if cfg.Provider == ken.OutlineProvider {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "name a model: --provider anthropic --model MODEL; or make outlines here: ken survey run",
			Err: errors.New("outlines need no workers"),
		}
	}
	return provider.Quote(cfg, provider.Options{})
}
