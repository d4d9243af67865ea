package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
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
	from   string // "" for the current directory
	dir    string // relative to from; "" for the configured directory
	author string // who writes, "" if unknown
	wait   time.Duration
}

// A stateSpace is an open state directory.
type stateSpace struct {
	dir      *state.Dir
	git      *git.Repo // the repository with the configuration; nil outside a repository
	from     string    // the base of relative paths
	keeper   *workflow.Manager
	mentions []string
}

func openState(ctx context.Context, opts stateOptions) (*stateSpace, error) {
	named, err := opts.named()
	if err != nil {
		return nil, err
	}
	g, err := repository(ctx, opts.from, named)
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
	c, err := config.LoadContract(root, filepath.ToSlash(cmp.Or(named, cfg.State.Dir)))
	if err != nil {
		return nil, err
	}
	place := cmp.Or(cfg.State.Dir, c.Dir)
	so := state.Options{
		Wait:  opts.wait,
		Names: state.Names{Lock: c.Name(contract.Lock), Archive: c.Name(contract.Archive)},
	}
	where := statePlace{dir: named, from: opts.from, git: g, archive: so.Names.Archive}
	if named == "" {
		where.dir, where.configured = filepath.Join(root, place), true
	}
	where.own, err = where.isDefault(root)
	if err != nil {
		return nil, err
	}
	so.Guard = where.check
	var dir *state.Dir
	if named != "" {
		err = where.check(ctx)
		if err == nil {
			dir, err = state.Open(named, so)
		}
	} else {
		dir, err = state.OpenIn(root, place, so)
	}
	if err != nil {
		return nil, err
	}
	s := &stateSpace{dir: dir, git: g, from: opts.from, mentions: []string{place}}
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

// named returns the absolute path of dir, "" if it is not set.
func (o stateOptions) named() (string, error) {
	if o.dir == "" {
		return "", nil
	}
	dir := o.dir
	if !filepath.IsAbs(dir) {
		if info, err := os.Stat(filepath.Join(o.from, ".")); err != nil || !info.IsDir() {
			return "", &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("not a directory: %s", o.from)}
		}
		dir = filepath.Join(o.from, dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", o.dir, err)
	}
	return abs, nil
}

// repository opens the repository whose configuration applies: that of the named
// directory, or the caller's. It returns nil for a named directory outside a repository.
func repository(ctx context.Context, from, named string) (*git.Repo, error) {
	if named != "" {
		g, err := git.Open(ctx, existing(named))
		if errors.Is(err, fs.ErrPermission) { // without permission for the directory, its parent is in the same repository
			g, err = git.Open(ctx, filepath.Dir(existing(named)))
		}
		if fault.KindOf(err) == fault.NoRepo {
			return nil, nil
		}
		return g, err
	}
	if from == "" {
		from = "."
	}
	g, err := git.Open(ctx, from)
	if fault.KindOf(err) == fault.NoRepo {
		return nil, &fault.Error{
			Kind: fault.NoRepo,
			Hint: "run it inside a repository, or name the directory: ken … --dir DIR",
			Err:  err,
		}
	}
	return g, err
}

// existing returns dir or its nearest existing parent.
func existing(dir string) string {
	for {
		info, err := os.Stat(dir)
		if above := filepath.Dir(dir); (err != nil || !info.IsDir()) && above != dir {
			dir = above
			continue
		}
		return dir
	}
}

func (s *stateSpace) Keeper() *workflow.Manager { return s.keeper }

func (s *stateSpace) Mentions() []string { return s.mentions }

func (s *stateSpace) Documents(ctx context.Context, paths []string, left func(path string, why error), f func(path string, content []byte) error) error {
	// Files in the state directory are data, not documents about it.
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
	shown := func(path string) string {
		if rel, err := filepath.Rel(s.from, path); s.from != "" && err == nil {
			return rel
		}
		return path
	}
	opts := state.DocumentOptions{Skip: inside, Left: func(path string, why error) { left(shown(path), why) }}
	return state.Documents(ctx, from, opts, func(path string, content []byte) error { return f(shown(path), content) })
}

func (s *stateSpace) Close() error { return s.dir.Close() }

func newWorkflowID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "wf_" + hex.EncodeToString(b[:])
}

// stateAuthor returns who writes. Asking git for a name would take longer than the write
// itself.
func stateAuthor(given string) string {
	if a := os.Getenv("KEN_AUTHOR"); a != "" {
		return a
	}
	return given
}

// commitAtHead returns the commit at HEAD, "" if there is none or it is unknown.
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
