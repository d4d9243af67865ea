package disk

import (
	"context"
	"slices"

	"ken/internal/content"
	"ken/internal/git"
	"ken/internal/install"
	"ken/internal/repo"
)

// ToolFiles finds the files of other tools in the work tree.
func ToolFiles(ctx context.Context, g *git.Repo) ([]install.ToolFiles, error) {
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
