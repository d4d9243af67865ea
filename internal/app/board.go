package app

import (
	"context"
	"errors"
	"path/filepath"

	"ken/internal/board"
	"ken/internal/docs"
	"ken/internal/git"
	"ken/internal/ken"
	"ken/internal/spec"
)

// boardMemory is shared by successive boards of one repository.
type boardMemory struct {
	runs  *runsCache
	specs *spec.LoadedSpecs // of the main worktree
	// documents returns the newest report on the documents of a worktree.
	documents func(context.Context, git.Checkout) (*docs.Report, error)
}

// boardOf builds the board of some worktrees. onPart gets the unfinished board.
func boardOf(ctx context.Context, g *git.Repo, all, some []git.Checkout, memory boardMemory, onPart func(*board.Board)) (*board.Board, error) {
	runs := make(chan *board.Part[board.Runs], 1)
	go func() { runs <- memory.runs.part(ctx, runsAnswer) }()
	var readers []*worktreeReader
	var sources []board.Source
	defer func() {
		for _, d := range readers {
			_ = d.Close() // it was only read
		}
	}()
	for _, c := range some {
		w, err := openWorktree(ctx, c)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		d := &worktreeReader{Repository: w}
		if err == nil {
			readers = append(readers, d)
		}
		source := d.source(c, err)
		if err == nil {
			source.Documents = func(ctx context.Context) (*docs.Report, error) { return memory.documents(ctx, c) }
			source.Changes = d.changes
		}
		sources = append(sources, source)
	}
	over, err := ken.Open(ctx, ken.Options{Dir: g.Root()})
	if err != nil {
		return nil, err
	}
	over.LoadedSpecs = memory.specs
	b := board.Make(ctx, repositoryName(g, all), sources, over.Spec().Overlays, onPart)
	b.Runs = <-runs
	if err := errors.Join(ctx.Err(), over.Close()); err != nil {
		return nil, err
	}
	return b, nil
}

// repositoryName is the name of the main checkout, or the directory of a bare
// repository.
func repositoryName(g *git.Repo, all []git.Checkout) string {
	if len(all) > 0 && all[0].Err == nil && all[0].Repo != nil && all[0].Repo.GitDir() == g.CommonDir() {
		return all[0].Name
	}
	return filepath.Base(g.CommonDir())
}
