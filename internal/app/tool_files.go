package app

import (
	"context"
	"slices"

	"ken/internal/content"
	"ken/internal/git"
	"ken/internal/install"
	"ken/internal/repo"
)

// findToolFiles finds the files of other tools in the repository of dir.
func findToolFiles(ctx context.Context, dir string) ([]install.ToolFiles, error) {
	if dir == "" {
		dir = "."
	}
	g, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return toolFilesOf(ctx, g)
}

func (s *stateSpace) ToolFiles(ctx context.Context) ([]install.ToolFiles, error) {
	if s.git == nil {
		return nil, nil
	}
	return toolFilesOf(ctx, s.git)
}

func toolFilesOf(ctx context.Context, g *git.Repo) ([]install.ToolFiles, error) {
	snap, err := g.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	loose, err := g.Untracked(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(loose)
	has := install.GitPaths{Loose: loose, Tracked: make([]repo.Path, len(snap.Index.Entries))}
	for i := range snap.Index.Entries {
		has.Tracked[i] = snap.Index.Entries[i].Path
	}
	return install.FindToolFiles(ctx, content.Open(g.Root(), content.Options{}), has)
}
