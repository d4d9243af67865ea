package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

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

// A workshop is a repository as a worker sees it: its objects are here, and what is written
// about it goes to the team's store. It may have no work tree.
type workshop struct {
	w        *workspace
	identity string
	address  string
	store    *postgres.Store
	command  bool // a program may be started for the run that wants one

	mu    sync.Mutex
	trees []*shopTree // the last that were asked for
}

// shopTrees is how many commits are kept at hand: runs come one after another, mostly.
const shopTrees = 4

func openWorkshop(ctx context.Context, dir string, opts cli.WorkOptions, asked bool) (*workshop, error) {
	w, err := openCommits(ctx, dir)
	if err != nil {
		return nil, err
	}
	s := &workshop{w: w, command: opts.Provider == provider.Command}
	if s.address, s.identity, err = w.meet(ctx, asked); err == nil {
		s.store, err = postgres.Open(s.address, postgres.Options{Repository: s.identity, Machine: workerName(), Connections: max(2, opts.Jobs)})
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return s, nil
}

// wrote has the next command in the clone fetch what this process sent to the base.
func (s *workshop) wrote(ctx context.Context) {
	if t, err := s.w.openTeam(ctx); err == nil && t != nil {
		t.Due()
	}
}

func (s *workshop) close() {
	_ = s.store.Close() // it was only read from here
	_ = s.w.Close()
}

// A shopTree is the tree of a commit, with the policy that the commit has, and what the
// team says of its files.
type shopTree struct {
	commitTree

	team *postgres.Store
}

// Summaries returns what the team says of the contents.
func (t *shopTree) Summaries(ctx context.Context, files []*survey.File) ([]survey.Summary, error) {
	return summaries(ctx, t.team, files, func(f *survey.File) (repo.Content, bool) { return repo.Content{ID: f.ID}, true })
}

// at returns the tree of a commit.
func (s *workshop) at(ctx context.Context, commit repo.ID) (*shopTree, error) {
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
			Err:  fmt.Errorf("commit %s is not here", commit),
		})
	}
	t := &shopTree{commitTree{w: &workspace{git: s.w.git, store: s.w.store, files: s.w.files, bare: true}, commit: commit}, s.store}
	if err := t.w.configAt(ctx, commit); err != nil {
		return nil, err
	}
	t.w.cacheOnce.Do(func() { t.w.cache = s.w.outlineCache() })
	if s.trees = append(s.trees, t); len(s.trees) > shopTrees {
		s.trees = s.trees[1:]
	}
	return t, nil
}

// command is a line for a shell.
func command(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fault.Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Able implements [queue.Describer].
func (s *workshop) Able(ctx context.Context, run surveyrun.Run) error {
	t, err := s.at(ctx, run.Commit)
	if err != nil {
		return err
	}
	m, err := s.model(t, run)
	if err != nil {
		return nil //nolint:nilerr // describing it fails with that, and ends the worker
	}
	if own := (&survey.Thinker{Model: m}).Recipe(); own != run.Recipe {
		return &fault.Error{
			Kind: fault.Usage, Hint: "use the same version of ken everywhere",
			Err: fmt.Errorf("the run is written by %q, and this ken would write by %q", run.Recipe, own),
		}
	}
	return nil
}

// model returns who is asked for a run: as it says, and with the keys that are here.
func (s *workshop) model(t *shopTree, run surveyrun.Run) (model.Model, error) {
	if run.Provider == provider.Command && !s.command {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "if you trust it: ken worker --provider command",
			Err: errors.New("it wants to start the program of the repository's configuration"),
		}
	}
	// What fails is tried again by whoever comes next, after a while that all have in common.
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
func (s *workshop) Describe(ctx context.Context, run surveyrun.Run, of survey.Portion, below []survey.Portion, hold queue.Hold) (d queue.Described, err error) {
	tree, err := s.at(ctx, run.Commit)
	if err != nil {
		return d, err
	}
	m, err := s.model(tree, run)
	if err != nil {
		return d, errors.Join(err, survey.ErrHopeless)
	}
	purse := surveyrun.NewPurse(m, hold)
	writer := &survey.Thinker{Model: purse, Plain: run.Provider == provider.Command}
	told, err := s.told(ctx, append([]survey.Portion{of}, below...))
	if err != nil {
		return d, err
	}
	sv := survey.New(tree, s.store, survey.Options{Exclude: tree.w.cfg.Survey.Exclude, Counts: tree.w.cfg.Registry.Counts})
	piece, err := sv.Piece(ctx, writer, run.About, told[0], told[1:])
	if err == nil && piece.Item != nil {
		// Who described the same before it was claimed may have handed it in.
		if err = hold.Claim(ctx, piece.Item.Basis.Digest()); err == nil {
			piece, err = sv.Piece(ctx, writer, run.About, told[0], told[1:])
		}
	}
	if err != nil {
		return d, err
	}
	if piece.Item != nil {
		d.Basis = piece.Item.Basis.Digest()
		draft, err := writer.Write(ctx, piece.Item)
		d.Calls, d.Last = purse.Calls(), purse.Last()
		if err != nil {
			return d, err
		}
		if d.Record, err = piece.Take(draft); err != nil {
			return d, err
		}
		d.Files = fileRecords(piece.Item, draft, writer)
	}
	d.Verdict, d.Reasons, d.Speaks = piece.Turned()
	return d, nil
}

// told finds what is said of portions.
func (s *workshop) told(ctx context.Context, list []survey.Portion) ([]survey.Told, error) {
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
	told := make([]survey.Told, len(list))
	for i, p := range list {
		if told[i] = (survey.Told{Portion: p, Said: kept[p.Record]}); !p.Record.IsZero() && told[i].Said == nil {
			return nil, fmt.Errorf("what is said of %s is not in the store any more", repo.DirLabel(p.Path))
		}
	}
	return told, nil
}

// fileRecords are what was said of a directory's files, for the contents that were looked at.
func fileRecords(it *survey.Item, draft survey.Draft, w survey.Writer) []fresh.Record {
	var list []fresh.Record
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, f := range it.Files {
		text := draft.Files[f.Path]
		if f.ID.IsZero() || fresh.CheckText(text, registry.MaxText, unicode.IsControl) != nil {
			continue
		}
		list = append(list, fresh.Record{
			Text: text, Author: w.Author(), Recipe: w.Recipe(), Path: f.Path, At: now,
			Basis: fresh.Basis{Content: repo.Content{ID: f.ID}},
		})
	}
	return list
}
