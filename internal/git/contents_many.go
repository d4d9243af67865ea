package git

import (
	"context"
	"errors"
	"strings"

	"ken/internal/repo"
)

// maxNamed is how many places of one commit git is asked for by their directories. It
// reads the trees on the way for each of these again, so that from here on it is
// quicker to have it list them all.
const maxNamed = 1_000

// listMany finds the ids of the places in commits of which many are asked, and returns
// those commits. One that cannot be listed is not among them: not all of it need be
// here for what is asked.
func (r *Repo) listMany(ctx context.Context, places []repo.CommitPath, ids []repo.ID) (map[repo.ID]bool, error) {
	if len(places) <= maxNamed {
		return nil, nil
	}
	count := make(map[repo.ID]int)
	for _, p := range places {
		count[p.Commit]++
	}
	listed := make(map[repo.ID]bool)
	for commit, n := range count {
		if n <= maxNamed || commit.IsZero() {
			continue
		}
		asked := make(map[string]int, n)
		for i, p := range places {
			if p.Commit == commit {
				asked[string(p.Path)] = i
			}
		}
		err := r.list(ctx, commit, asked, ids)
		if _, refused := errors.AsType[*refusal](err); refused {
			clearIDs(ids, asked)
			continue
		}
		if err != nil {
			return nil, err
		}
		listed[commit] = true
	}
	return listed, nil
}

func clearIDs(ids []repo.ID, at map[string]int) {
	for _, i := range at {
		ids[i] = repo.ID{}
	}
}

// list lists the directory that holds all asked paths of a commit, and puts their ids
// where they are asked for.
func (r *Repo) list(ctx context.Context, commit repo.ID, asked map[string]int, ids []repo.ID) error {
	args := []string{"ls-tree", "-r", "-t", "-z", "--full-tree", commit.String()}
	if dir := sharedDir(asked); dir != "" {
		args = append(args, "--", dir+"/")
	}
	return r.split(ctx, call{args: args}, func(text string) error {
		_, path, _ := strings.Cut(text, "\t")
		i, wanted := asked[path]
		if !wanted {
			return nil // most are not, and need not be read
		}
		item, err := parseTreeItem(text)
		ids[i] = item.id
		return err
	})
}

// sharedDir returns the directory that all paths lie in, "" for the root.
func sharedDir(paths map[string]int) string {
	dir, first := "", true
	for p := range paths {
		if first {
			dir, first = p, false
		}
		for dir != "" && !strings.HasPrefix(p, dir+"/") {
			dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
		}
	}
	return dir
}
