package git

import (
	"context"
	"fmt"

	"ken/internal/fault"
	"ken/internal/git/index"
	"ken/internal/repo"
)

// tries bounds how often a reading is repeated because something moved under
// it.
const tries = 5

// indexFromGit asks git what the index tracks, and what git saw of it last. It is
// slower than reading the index by a factor of ten and understands every layout.
func (r *Repo) indexFromGit(ctx context.Context) (repo.Index, error) {
	for range tries {
		before, err := r.stampIndex()
		if err != nil {
			return repo.Index{}, err
		}
		idx, err := r.askIndex(ctx)
		if err != nil {
			return repo.Index{}, err
		}
		after, err := r.stampIndex()
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
	return repo.Index{}, errMoving("the index")
}

func errMoving(what string) error {
	return &fault.Error{
		Hint: "let the other git command finish, then try again",
		Err:  fmt.Errorf("read repository: %s keeps changing", what),
	}
}

func (r *Repo) askIndex(ctx context.Context) (repo.Index, error) {
	listed, err := r.read(ctx, nil, "ls-files", "-z", "--stage", "-v", "--debug", "--full-name")
	if err != nil {
		return repo.Index{}, err
	}
	entries, err := index.ParseLsFiles(listed)
	if err != nil {
		return repo.Index{}, err
	}
	return repo.Index{Entries: entries}, nil
}
