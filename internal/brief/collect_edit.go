package brief

import (
	"context"
	"slices"

	"ken/internal/find"
	"ken/internal/fresh"
	"ken/internal/project"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/workspace"
)

// An EditReader collects facts about files without listing the work tree, and takes from the
// search index only facts about files that have not changed since.
type EditReader struct {
	workspace *workspace.Workspace
	x         *searchindex.Index // may be nil
	paths     []repo.Path        // of all tracked files, sorted
	project   *project.Project
}

// NewEditReader returns a reader of the work tree. The index x may be nil.
func (br *Briefer) NewEditReader(ctx context.Context, x *searchindex.Index) (*EditReader, error) {
	snap, err := br.Workspace.Git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	r := &EditReader{workspace: br.Workspace, x: x}
	for _, e := range snap.Index.Entries {
		if len(r.paths) == 0 || r.paths[len(r.paths)-1] != e.Path { // a conflict has several entries
			r.paths = append(r.paths, e.Path)
		}
	}
	r.project, err = project.New(r.paths, func(p repo.Path) ([]byte, error) { return r.read(ctx, p), nil })
	return r, err
}

func (r *EditReader) read(ctx context.Context, p repo.Path) []byte {
	return r.workspace.ReadFile(ctx, p, find.MaxBytes)
}

// Facts returns the facts about a file for [BeforeEdit]. indexed says that some of them are from the search index.
func (r *EditReader) Facts(ctx context.Context, p repo.Path, k *registry.Summary) (facts FileFacts, indexed bool, err error) {
	kinds := make(map[repo.Path]repo.Kind)
	facts = FileFacts{
		Path: p, Kind: k.Kind, Project: r.project,
		Kinds: func(p repo.Path) repo.Kind { return kinds[p] },
	}
	if k.Text != "" && (k.Verdict == fresh.Fresh || k.Verdict == fresh.Stale) {
		facts.Words = append(facts.Words, writtenSection(p, k))
	}
	if r.x == nil {
		return facts, false, nil
	}
	own, err := r.x.File(ctx, p)
	if err != nil || own.Number == 0 {
		return facts, false, err
	}
	if own.ID == k.CurrentID {
		if err := r.users(ctx, &facts, kinds); err != nil {
			return facts, false, err
		}
	}
	if facts.History, err = fileHistory(ctx, r.x, p); err != nil {
		return facts, false, err
	}
	facts.History.Companions = slices.DeleteFunc(facts.History.Companions, func(c Companion) bool { return !r.tracks(c.Path) })
	return facts, len(facts.Users)+len(facts.History.Companions) > 0, nil
}

// maxUserFiles is how many files that use another are compared with the index.
const maxUserFiles = 200

// users adds the uses of a file by files that are as they were indexed, and the kinds of those.
func (r *EditReader) users(ctx context.Context, facts *FileFacts, kinds map[repo.Path]repo.Kind) error {
	edges, err := r.x.Users(ctx, facts.Path)
	if err != nil {
		return err
	}
	current := make(map[repo.Path]bool)
	for _, e := range edges {
		if _, known := current[e.From]; !known && len(current) < maxUserFiles {
			from, err := r.x.File(ctx, e.From)
			if err != nil {
				return err
			}
			kinds[e.From] = from.Kind
			current[e.From] = from.Number != 0 && r.workspace.BytesOfBlob(r.read(ctx, e.From), from.ID) != nil
		}
		if current[e.From] {
			facts.Users = append(facts.Users, e)
		}
	}
	if len(current) == maxUserFiles {
		facts.UserFiles, err = r.x.UserCount(ctx, facts.Path)
	}
	return err
}

// tracks reports whether git tracks a path.
func (r *EditReader) tracks(p repo.Path) bool {
	_, ok := slices.BinarySearch(r.paths, p)
	return ok
}
