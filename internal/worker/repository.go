package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/model"
	"ken/internal/model/provider"
	"ken/internal/permission"
	"ken/internal/repo"
	"ken/internal/store/postgres"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/surveyrun"
	"ken/internal/tree"
)

// A repository is a repository of a worker. Its objects are in a local clone, which may have no work tree. Its
// summaries go to the team's database.
type repository struct {
	w        *ken.Repository
	identity string
	address  string
	store    *postgres.Store
	command  bool // runs may start the configured program

	mu    sync.Mutex
	trees []*commitTree // of the last commits
}

// maxTrees is the most commits whose trees are kept: most runs come one after another.
const maxTrees = 4

func openRepository(ctx context.Context, dir string, opts Options, asked bool) (*repository, error) {
	w, err := ken.OpenAllowBare(ctx, dir)
	if err != nil {
		return nil, err
	}
	s := &repository{w: w, command: opts.Provider == provider.Command}
	if s.address, s.identity, err = database(ctx, w, asked); err == nil {
		s.store, err = postgres.Open(s.address, postgres.Options{Repository: s.identity, Connections: max(2, opts.Jobs)})
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return s, nil
}

// markTeamChanged makes the next command in the clone fetch what this process wrote to the
// team's database.
func (s *repository) markTeamChanged(ctx context.Context) {
	if t, err := s.w.OpenTeam(ctx); err == nil && t != nil {
		t.VisitNext()
	}
}

func (s *repository) close() {
	_ = s.store.Close() // this connection only reads
	_ = s.w.Close()
}

// A commitTree is the tree of a commit, with the configuration of that commit and the team's summaries of its files.
type commitTree struct {
	files *tree.CommitTree
	w     *ken.Repository // with the configuration
}

// treeAt returns the tree of a commit.
func (s *repository) treeAt(ctx context.Context, commit repo.ID) (*commitTree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.trees {
		if t.files.Commit() == commit {
			s.trees = append(slices.Delete(s.trees, i, i+1), t)
			return t, nil
		}
	}
	if _, ok, err := s.w.Git.Tree(ctx, commit); err != nil || !ok {
		return nil, errors.Join(err, &fault.Error{
			Hint: command(append([]string{"git", "-C", s.w.Git.GitDir()}, s.w.Git.FetchArgs(ctx)...)),
			Err:  fmt.Errorf("commit %s is not in this clone", commit),
		})
	}
	w := &ken.Repository{Workspace: s.w.Workspace, Store: s.w.Store}
	if err := w.ConfigAt(ctx, commit); err != nil {
		return nil, err
	}
	opts := w.TreeSources()
	opts.Records = s.store
	t := &commitTree{tree.NewCommitTree(opts, commit), w}
	if s.trees = append(s.trees, t); len(s.trees) > maxTrees {
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

// CheckRun implements [queue.Describer].
func (s *repository) CheckRun(ctx context.Context, run surveyrun.Run) error {
	t, err := s.treeAt(ctx, run.Commit)
	if err != nil {
		return err
	}
	m, err := s.model(t, run)
	if _, notAllowed := errors.AsType[*permission.Error](err); notAllowed {
		return err // other runs go on: anybody who can start a run chooses its address
	}
	if err != nil {
		return nil //nolint:nilerr // Describe fails with the same error, which ends the worker
	}
	return run.CheckRecipe(m)
}

// model returns the model of a run, with the keys of this machine.
func (s *repository) model(t *commitTree, run surveyrun.Run) (model.Model, error) {
	if run.Provider == provider.Command && !s.command {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "if you trust it: ken worker --provider command",
			Err: errors.New("the run starts the program in the repository's .ken/config.yaml"),
		}
	}
	// The queue retries failures, with a delay that all workers share.
	cfg := t.w.Provider(run.Provider, run.Model)
	if err := t.w.CheckProvider(&cfg, run.Provider, run.Model); err != nil {
		return nil, err
	}
	m, err := provider.New(cfg, provider.Options{Attempts: 1})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Describe implements [queue.Describer].
func (s *repository) Describe(ctx context.Context, run surveyrun.Run, of survey.DirTask, below []survey.DirTask, lease surveyrun.DirLease) (d surveyrun.DescribeResult, err error) {
	tree, err := s.treeAt(ctx, run.Commit)
	if err != nil {
		return d, err
	}
	m, err := s.model(tree, run)
	if err != nil {
		return d, errors.Join(err, describe.ErrFatal)
	}
	sv := survey.New(tree.files, s.store, survey.Options{Exclude: tree.w.Config.Survey.Exclude, Counts: tree.w.Config.Registry.Counts})
	describer := &surveyrun.Describer{Survey: sv, Model: m, Plain: run.Provider == provider.Command, Records: s.store.DirRecordsByID, Now: time.Now}
	return describer.Describe(ctx, run, of, below, lease)
}
