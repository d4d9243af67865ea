package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ken/internal/config"
	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/state"
	"ken/internal/workflow"
)

type stateOptions struct {
	from   string // "" is the current directory
	dir    string // from there; "" is what the configuration says
	author string // who writes, if the caller knows
	wait   time.Duration
}

// A stateSpace is one open state directory, and the decisions over it.
type stateSpace struct {
	dir      *state.Dir
	from     string // where paths begin
	keeper   *workflow.Keeper
	mentions []string
}

func openState(ctx context.Context, opts stateOptions) (*stateSpace, error) {
	g, err := repository(ctx, opts)
	if err != nil {
		return nil, err
	}
	root, cfg := "", config.Config{}
	if g != nil {
		root = g.Root()
		if cfg, err = config.Load(root); err != nil {
			return nil, err
		}
	}
	c, err := config.LoadContract(root)
	if err != nil {
		return nil, err
	}
	place := c.Dir
	if cfg.State.Dir != "" {
		place = cfg.State.Dir
	}
	dir, err := openStateDir(root, place, opts, state.Options{
		Wait:  opts.wait,
		Names: state.Names{Lock: c.Name(contract.Lock), Archive: c.Name(contract.Archive)},
	})
	if err != nil {
		return nil, err
	}
	s := &stateSpace{dir: dir, from: opts.from, mentions: []string{place}}
	if opts.dir != "" {
		s.mentions = append(s.mentions, filepath.ToSlash(filepath.Clean(opts.dir)))
	}
	s.keeper = workflow.New(dir, workflow.Options{
		Contract: c, Now: time.Now, NewID: newWorkflowID, ArchiveRuns: cfg.State.ArchiveRuns,
		Author: stateAuthor(opts.author),
		Commit: func(ctx context.Context) string { return commitAtHead(ctx, g) },
	})
	return s, nil
}

// repository opens the repository the caller is in. Outside of any, a directory
// that was named is enough, and nil is returned.
func repository(ctx context.Context, opts stateOptions) (*git.Repo, error) {
	from := opts.from
	if from == "" {
		from = "."
	}
	g, err := git.Open(ctx, from)
	if err == nil {
		return g, nil
	}
	if fault.KindOf(err) != fault.NoRepo {
		return nil, err
	}
	if opts.dir != "" {
		return nil, nil
	}
	return nil, &fault.Error{
		Kind: fault.NoRepo,
		Hint: "run it inside a repository, or name the directory: ken state --dir DIR …",
		Err:  err,
	}
}

func openStateDir(root, place string, opts stateOptions, so state.Options) (*state.Dir, error) {
	if opts.dir == "" {
		return state.OpenIn(root, place, so)
	}
	named := opts.dir
	if !filepath.IsAbs(named) {
		named = filepath.Join(opts.from, named)
	}
	abs, err := filepath.Abs(named)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", opts.dir, err)
	}
	return state.Open(abs, so)
}

func (s *stateSpace) Keeper() *workflow.Keeper { return s.keeper }

func (s *stateSpace) Mentions() []string { return s.mentions }

func (s *stateSpace) Documents(ctx context.Context, paths []string, f func(path string, content []byte) error) error {
	// What lies in the directory itself is data, not a document about it.
	inside := func(path string) bool {
		abs, err := filepath.Abs(path)
		return err == nil && abs == s.dir.Path()
	}
	var from []string
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.from, path)
		}
		from = append(from, path)
	}
	return state.Documents(ctx, from, inside, func(path string, content []byte) error {
		if rel, err := filepath.Rel(s.from, path); s.from != "" && err == nil {
			path = rel
		}
		return f(path, content)
	})
}

func (s *stateSpace) Close() error { return s.dir.Close() }

func newWorkflowID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "wf_" + hex.EncodeToString(b[:])
}

// stateAuthor says who writes. Asking git for a name would cost more than the
// write itself, and the journal asks which workflow, not who.
func stateAuthor(given string) string {
	if a := os.Getenv("KEN_AUTHOR"); a != "" {
		return a
	}
	return given
}

// commitAtHead is the commit at HEAD, "" where there is none or no telling.
func commitAtHead(ctx context.Context, g *git.Repo) string {
	if g == nil {
		return ""
	}
	head, err := g.Head(ctx)
	if err != nil || head.Commit.IsZero() {
		return ""
	}
	return head.Commit.String()
}
