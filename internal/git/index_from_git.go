package git

import (
	"context"
	"fmt"

	"ken/internal/fault"
	"ken/internal/git/index"
	"ken/internal/repo"
)

// tries is how often ken reads something again that changed during the reading.
const tries = 5

// indexFromGit has git list the entries of the index with their stats. It takes ten times as long
// as reading the file, and works with every layout.
func (r *Repo) indexFromGit(ctx context.Context) (repo.Index, error) {
	for range tries {
		before, err := r.indexVersion()
		if err != nil {
			return repo.Index{}, err
		}
		idx, err := r.listIndex(ctx)
		if err != nil {
			return repo.Index{}, err
		}
		after, err := r.indexVersion()
		if err != nil {
			return repo.Index{}, err
		}
		if before.same(after) {
			idx.Checksum, idx.Stat = after.checksum, after.stat
			for i := range idx.Entries {
				if e := &idx.Entries[i]; index.IsRacy(e.Stat.Mtime, after.stat.Mtime) {
					e.Flags |= repo.Racy
				}
			}
			return idx, nil
		}
	}
	return repo.Index{}, errKeepsChanging("the index")
}

func errKeepsChanging(what string) error {
	return &fault.Error{
		Hint: "let the other git command finish, then try again",
		Err:  fmt.Errorf("read repository: %s keeps changing", what),
	}
}

func (r *Repo) listIndex(ctx context.Context) (repo.Index, error) {
	listed, err := r.git().Read(ctx, nil, "ls-files", "-z", "--stage", "-v", "--debug", "--full-name")
	if err != nil {
		return repo.Index{}, err
	}
	entries, err := index.ParseLsFiles(listed)
	if err != nil {
		return repo.Index{}, err
	}
	return repo.Index{Entries: entries}, nil
}
