package app

import (
	"context"
	"errors"
	"path/filepath"

	"ken/internal/board"
	"ken/internal/git"
	"ken/internal/spec"
)

// makeBoard sums up the worktree that dir lies in or, with all, every one.
func makeBoard(ctx context.Context, dir string, all bool) (*board.Board, error) {
	if dir == "" {
		dir = "."
	}
	g, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	trees, err := g.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	var some []git.Checkout
	for _, c := range trees {
		if all || c.Here {
			some = append(some, c)
		}
	}
	look := &runsCache{root: g.Root()}
	defer look.close()
	return boardOf(ctx, g, trees, some, boardMemory{runs: look}, nil)
}

// boardMemory is what boards of one repository, made one after another, have in common.
type boardMemory struct {
	runs  *runsCache
	specs *lastSpecs // of the worktree that is asked for proposals; nil for a single board
}

// boardOf sums up some of the worktrees of a repository, and tells what it has so far.
func boardOf(ctx context.Context, g *git.Repo, all, some []git.Checkout, memory boardMemory, tell func(*board.Board)) (*board.Board, error) {
	runs := make(chan *board.Part[board.Runs], 1)
	go func() { runs <- memory.runs.part(ctx, runsAnswer) }()
	var desks []*boardDesk
	var sources []board.Source
	defer func() {
		for _, d := range desks {
			_ = d.Close()
		}
	}()
	for _, c := range some {
		d, err := openDesk(ctx, c)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if d != nil {
			desks = append(desks, d)
		}
		sources = append(sources, d.source(c, err))
	}
	over, err := open(ctx, openOptions{dir: g.Root()})
	if err != nil {
		return nil, err
	}
	over.specs = memory.specs
	b := board.Make(ctx, repositoryName(g, all), sources, over.Spec(), tell)
	b.Runs = <-runs
	if err := errors.Join(ctx.Err(), over.Close()); err != nil {
		return nil, err
	}
	return b, nil
}

// repositoryName is what people call it: its main checkout's name, or of a bare one
// the directory's.
func repositoryName(g *git.Repo, all []git.Checkout) string {
	if len(all) > 0 && all[0].Err == nil && all[0].Repo != nil && all[0].Repo.GitDir() == g.CommonDir() {
		return all[0].Name
	}
	return filepath.Base(g.CommonDir())
}

var _ board.Overlays = (*spec.Reader)(nil)
