package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

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

// StartOptions selects the directories and the model of a run.
type StartOptions struct {
	At              string // a revision; HEAD when ""
	Within          repo.Path
	Provider, Model string
	Ceiling         surveyrun.Ceiling
}

// A StartedRun is the answer to StartRun.
type StartedRun struct {
	ID       int64   `json:"run"` // 0 when there is nothing to do
	Commit   repo.ID `json:"commit"`
	Work     int     `json:"directories"`
	Estimate int64   `json:"estimate_tokens"`
	Remark   string  `json:"remark,omitempty"`
}

// Runs gives access to the runs of a repository and of its server.
type Runs struct {
	*queue.Queue

	repo *repository
}

// OpenRuns opens the runs for a command that asked for the server.
func OpenRuns(ctx context.Context, dir string) (*Runs, error) {
	return openWith(ctx, dir, true, func(r *repository) (*queue.Queue, error) {
		q, err := openQueue(ctx, map[string]*repository{r.identity: r}, 1)
		if err == nil {
			r.w.Team.ClearFailures()
		}
		return q, err
	})
}

// OpenRunsReadOnly opens the runs for reading, for a command that did not ask for the server: it
// creates nothing there. It returns [ErrNoDatabase] or [queue.ErrNoRuns] if there are none.
func OpenRunsReadOnly(ctx context.Context, dir string) (*Runs, error) {
	return openWith(ctx, dir, false, func(r *repository) (*queue.Queue, error) {
		return queue.OpenReadOnly(ctx, r.store.Config(), queue.Options{Connections: 1, Server: r.store})
	})
}

func openWith(ctx context.Context, dir string, asked bool, open func(*repository) (*queue.Queue, error)) (*Runs, error) {
	r, err := openRepository(ctx, dir, Options{Jobs: 1}, asked)
	if err != nil {
		return nil, err
	}
	q, err := open(r)
	if err != nil {
		r.close()
		return nil, err
	}
	return &Runs{q, r}, nil
}

// Close closes the clone and the connection to the server.
func (r *Runs) Close() error {
	r.Queue.Close()
	r.repo.close()
	return nil
}

// Repository returns the identity of the repository.
func (r *Runs) Repository() string { return r.repo.identity }

// Remarks returns notes for the user.
func (r *Runs) Remarks() []string { return r.repo.w.Remarks() }

// Path resolves an argument from where the command was run.
func (r *Runs) Path(arg string) (repo.Path, error) { return r.repo.w.Path(arg) }

// CancelRun cancels a run.
func (r *Runs) CancelRun(ctx context.Context, repository string, id int64) error {
	return r.Cancel(ctx, repository, id, r.repo.w.Author(ctx))
}

// Sync exchanges records between the local store and the team's database: workers need not
// summarise again what is known here, and their summaries arrive here.
func (r *Runs) Sync(ctx context.Context) error {
	if r.repo.w.Bare {
		return nil
	}
	_, err := r.repo.w.Team.Sync(ctx)
	return err
}

// StartRun plans the survey of a commit and starts a run.
func (r *Runs) StartRun(ctx context.Context, opts StartOptions) (*StartedRun, error) {
	w := r.repo.w
	commit, err := w.Commit(ctx, cmp.Or(opts.At, "HEAD"))
	if err != nil {
		return nil, err
	}
	if err := r.Sync(ctx); err != nil {
		return nil, err
	}
	tree, err := r.repo.treeAt(ctx, commit)
	if err != nil {
		return nil, err
	}
	who := w
	if w.Bare {
		who = tree.w
	}
	cfg := who.Provider(opts.Provider, opts.Model)
	m, err := plannedModel(cfg)
	if err != nil {
		return nil, err
	}
	if err := who.CheckProvider(&cfg, opts.Provider, opts.Model); err != nil {
		return nil, err
	}
	// Without a model name, a program has the name of its file, which also selects its price.
	cfg.Model = strings.TrimPrefix(m.Name(), cfg.Provider+"/")
	if m, err = plannedModel(cfg); err != nil {
		return nil, err
	}
	writer := &describe.ModelWriter{Model: m}
	if err := opts.Ceiling.CheckPrice(m); err != nil {
		return nil, err
	}
	if !m.Price().Known() {
		day, err := r.Today(ctx)
		if err == nil {
			err = day.CheckPrice(m)
		}
		if err != nil {
			return nil, err
		}
	}
	p := tree.w.Config
	sv := survey.New(tree.files, r.repo.store, survey.Options{Exclude: p.Survey.Exclude, Ranks: p.Survey.Ranks, Counts: p.Registry.Counts})
	out, err := sv.Tasks(ctx, writer, opts.Within)
	if err != nil {
		return nil, err
	}
	started := &StartedRun{Commit: commit, Work: out.Work, Estimate: out.Estimate}
	if there, err := w.Git.OnRemote(ctx, commit); err == nil && !there {
		started.Remark = fmt.Sprintf("commit %s is on no remote branch; push it, so that workers on other machines can fetch it", commit.String()[:12])
	}
	if out.Work == 0 {
		return started, nil
	}
	started.ID, err = r.Queue.StartRun(ctx, surveyrun.Run{
		Repository: r.repo.identity, Commit: commit, Recipe: writer.Recipe(), Provider: cfg.Provider, Model: cfg.Model,
		By: w.Author(ctx), Ceiling: opts.Ceiling, Spent: surveyrun.Amount{Unpriced: !m.Price().Known()},
	}, out)
	return started, err
}

// plannedModel returns the model of the plan. Each worker opens its own.
func plannedModel(cfg provider.Config) (model.Model, error) {
	if cfg.Provider == ken.OutlineProvider {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "name a model: --provider anthropic --model MODEL; or make outlines here: ken survey run",
			Err: errors.New("outlines need no workers"),
		}
	}
	return provider.Quote(cfg, provider.Options{})
}
