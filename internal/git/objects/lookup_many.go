package objects

import (
	"context"
	"errors"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// MaxNamed is the largest number of places of one commit that ken looks up by their directories. For each of
// them git reads the trees on the path again, so with more places listing the commit is faster.
const MaxNamed = 1_000

// listMany finds the ids for commits with many places, and returns these commits. It leaves out a commit that git
// cannot list: a lookup may still work, since it needs fewer objects.
func (r Reader) listMany(ctx context.Context, places []repo.CommitPath, ids []repo.ID) (map[repo.ID]bool, error) {
	if len(places) <= MaxNamed {
		return nil, nil
	}
	count := make(map[repo.ID]int)
	for _, p := range places {
		count[p.Commit]++
	}
	listed := make(map[repo.ID]bool)
	for commit, n := range count {
		if n <= MaxNamed || commit.IsZero() {
			continue
		}
		asked := make(map[string]int, n)
		for i, p := range places {
			if p.Commit == commit {
				asked[string(p.Path)] = i
			}
		}
		err := r.list(ctx, commit, asked, ids)
		if _, refused := errors.AsType[*command.Error](err); refused {
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

// list lists the directory that contains all requested paths of a commit, and sets their ids.
func (r Reader) list(ctx context.Context, commit repo.ID, asked map[string]int, ids []repo.ID) error {
	args := []string{"ls-tree", "-r", "-t", "-z", "--full-tree", commit.String()}
	if dir := sharedDir(asked); dir != "" {
		args = append(args, "--", dir+"/")
	}
	return r.Git.Split(ctx, command.Call{Args: args}, func(text string) error {
		_, path, _ := strings.Cut(text, "\t")
		i, wanted := asked[path]
		if !wanted {
			return nil // most paths are not requested
		}
		item, err := ParseTreeItem(text)
		ids[i] = item.ID
		return err
	})
}

// sharedDir returns the deepest directory that contains all paths, "" for the root.
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
