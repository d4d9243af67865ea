package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/model"
	"ken/internal/model/provider"
	"ken/internal/queue"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store/postgres"
	"ken/internal/survey"
	"ken/internal/surveyrun"
)

// A workerRepo is a repository of a worker: its objects are in a clone here, which may have no
// work tree, and its summaries go to the team's database.
type workerRepo struct {
	w        *workspace
	identity string
	address  string
	store    *postgres.Store
	command  bool // runs may start the configured program

	mu    sync.Mutex
	trees []*workerTree // of the last commits
}

// maxWorkerTrees is the most commits whose trees are kept: most runs come one after another.
const maxWorkerTrees = 4

func openWorkerRepo(ctx context.Context, dir string, opts cli.WorkOptions, asked bool) (*workerRepo, error) {
	w, err := openCommits(ctx, dir)
	if err != nil {
		return nil, err
	}
	s := &workerRepo{w: w, command: opts.Provider == provider.Command}
	if s.address, s.identity, err = w.meet(ctx, asked); err == nil {
		s.store, err = postgres.Open(s.address, postgres.Options{Repository: s.identity, Machine: workerName(), Connections: max(2, opts.Jobs)})
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return s, nil
}

// markTeamChanged makes the next command in the clone fetch what this process wrote to the
// team's database.
func (s *workerRepo) markTeamChanged(ctx context.Context) {
	if t, err := s.w.openTeam(ctx); err == nil && t != nil {
		t.Due()
	}
}

func (s *workerRepo) close() {
	_ = s.store.Close() // this connection only reads
	_ = s.w.Close()
}

// A workerTree is the tree of a commit, with the policy of that commit and the team's
// summaries of its files.
type workerTree struct {
	commitTree

	team *postgres.Store
}

// Summaries returns the team's summaries of files.
func (t *workerTree) Summaries(ctx context.Context, files []*survey.File) ([]survey.Summary, error) {
	return summaries(ctx, t.team, files, func(f *survey.File) (repo.Content, bool) { return repo.Content{ID: f.ID}, true })
}

// treeAt returns the tree of a commit.
func (s *workerRepo) treeAt(ctx context.Context, commit repo.ID) (*workerTree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.trees {
		if t.commit == commit {
			s.trees = append(slices.Delete(s.trees, i, i+1), t)
			return t, nil
		}
	}
	if _, ok, err := s.w.git.Tree(ctx, commit); err != nil || !ok {
		return nil, errors.Join(err, &fault.Error{
			Hint: command(append([]string{"git", "-C", s.w.git.GitDir()}, s.w.git.Fetching(ctx)...)),
			Err:  fmt.Errorf("commit %s is not in this clone", commit),
		})
	}
	t := &workerTree{commitTree{w: &workspace{git: s.w.git, store: s.w.store, files: s.w.files, bare: true}, commit: commit}, s.store}
	if err := t.w.configAt(ctx, commit); err != nil {
		return nil, err
	}
	t.w.cacheOnce.Do(func() { t.w.cache = s.w.outlineCache() })
	if s.trees = append(s.trees, t); len(s.trees) > maxWorkerTrees {
		s.trees = s.trees[1:]
	}
	return t, nil
}

// command returns a line for a shell.
func command(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fault.Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Able implements [queue.Describer].
func (s *workerRepo) Able(ctx context.Context, run surveyrun.Run) error {
	t, err := s.treeAt(ctx, run.Commit)
	if err != nil {
		return err
	}
	m, err := s.model(t, run)
	if err != nil {
		return nil //nolint:nilerr // Describe fails with the same error, which ends the worker
	}
	if own := (&survey.ModelDescriber{Model: m}).Recipe(); own != run.Recipe {
		return &fault.Error{
			Kind: fault.Usage, Hint: "use the same version of ken everywhere",
			Err: fmt.Errorf("the run has the recipe %q, and this version of ken has %q", run.Recipe, own),
		}
	}
	return nil
}

// model returns the model of a run, with the keys of this machine.
func (s *workerRepo) model(t *workerTree, run surveyrun.Run) (model.Model, error) {
	if run.Provider == provider.Command && !s.command {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "if you trust it: ken worker --provider command",
			Err: errors.New("the run starts the program in the repository's .ken/config.yaml"),
		}
	}
	// The queue retries failures, with a delay that all workers share.
	cfg := t.w.provider(run.Provider, run.Model)
	if err := t.w.checkProvider(&cfg, run.Provider, run.Model); err != nil {
		return nil, err
	}
	m, err := provider.New(cfg, provider.Options{Attempts: 1})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Describe implements [queue.Describer].
func (s *workerRepo) Describe(ctx context.Context, run surveyrun.Run, of survey.DirTask, below []survey.DirTask, lease queue.DirLease) (d queue.Described, err error) {
	tree, err := s.treeAt(ctx, run.Commit)
	if err != nil {
		return d, err
	}
	m, err := s.model(tree, run)
	if err != nil {
		return d, errors.Join(err, survey.ErrHopeless)
	}
	metered := surveyrun.NewMeteredModel(m, lease)
	writer := &survey.ModelDescriber{Model: metered, Plain: run.Provider == provider.Command}
	inputs, err := s.taskInputs(ctx, append([]survey.DirTask{of}, below...))
	if err != nil {
		return d, err
	}
	sv := survey.New(tree, s.store, survey.Options{Exclude: tree.w.cfg.Survey.Exclude, Counts: tree.w.cfg.Registry.Counts})
	assigned, err := sv.Assign(ctx, writer, run.About, inputs[0], inputs[1:])
	if err == nil && assigned.Item != nil {
		// Another worker may have finished the same input before the claim.
		if err = lease.Claim(ctx, assigned.Item.Basis.Digest()); err == nil {
			assigned, err = sv.Assign(ctx, writer, run.About, inputs[0], inputs[1:])
		}
	}
	if err != nil {
		return d, err
	}
	if assigned.Item != nil {
		d.Basis = assigned.Item.Basis.Digest()
		draft, err := writer.Write(ctx, assigned.Item)
		d.Calls, d.Last = metered.Calls(), metered.Last()
		if err != nil {
			return d, err
		}
		if d.Record, err = assigned.Record(draft); err != nil {
			return d, err
		}
		d.Files = fileRecords(assigned.Item, draft, writer)
	}
	d.Verdict, d.Reasons, d.Current = assigned.Result()
	return d, nil
}

// taskInputs adds the current summaries to tasks.
func (s *workerRepo) taskInputs(ctx context.Context, list []survey.DirTask) ([]survey.TaskInput, error) {
	var ids []fresh.Digest
	for _, p := range list {
		if !p.Record.IsZero() {
			ids = append(ids, p.Record)
		}
	}
	kept, err := s.store.KeptAll(ctx, ids)
	if err != nil {
		return nil, err
	}
	inputs := make([]survey.TaskInput, len(list))
	for i, p := range list {
		if inputs[i] = (survey.TaskInput{DirTask: p, Summary: kept[p.Record]}); !p.Record.IsZero() && inputs[i].Summary == nil {
			return nil, fmt.Errorf("the summary of %s is no longer in the database", repo.DirLabel(p.Path))
		}
	}
	return inputs, nil
}

// fileRecords returns the summaries of a directory's files, for the contents that the model read.
func fileRecords(it *survey.Item, draft survey.Draft, w survey.Writer) []fresh.Record {
	var list []fresh.Record
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, f := range it.Files {
		text := draft.Files[f.Path]
		if f.ID.IsZero() || fresh.CheckText(text, registry.MaxText, repo.Misleads) != nil {
			continue
		}
		list = append(list, fresh.Record{
			Text: text, Author: w.Author(), Recipe: w.Recipe(), Path: f.Path, At: now,
			Basis: fresh.Basis{Content: repo.Content{ID: f.ID}},
		})
	}
	return list
}
