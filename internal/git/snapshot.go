package git

import (
	"context"
	"slices"

	"ken/internal/repo"
)

// Snapshot reads HEAD and the index of one moment. It returns an error if they keep changing. In ordinary
// layouts it starts no process.
func (r *Repo) Snapshot(ctx context.Context) (*repo.Snapshot, error) {
	head, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	for range tries {
		idx, err := r.index(ctx)
		if err != nil {
			return nil, err
		}
		// If HEAD is the same before and after reading the index, it was the same in between.
		again, err := r.Head(ctx)
		if err != nil {
			return nil, err
		}
		if again == head {
			return r.complete(ctx, &repo.Snapshot{Head: head, Index: idx})
		}
		head = again
	}
	return nil, errKeepsChanging("HEAD")
}

// complete adds settings and submodules to a snapshot.
func (r *Repo) complete(ctx context.Context, s *repo.Snapshot) (*repo.Snapshot, error) {
	s.Worktree = r.Worktree()
	s.Index.Submodules = r.submodules(ctx, s.Index.Entries)
	var err error
	if s.FileMode, err = r.fileMode(ctx); err != nil {
		return nil, err
	}
	if s.Symlinks, err = r.symlinks(ctx); err != nil {
		return nil, err
	}
	s.Attributed, s.AttributesDigest = r.attributeSources(s.Index.Entries)
	return s, nil
}

// StillCurrent reports whether HEAD and the index are still those of s. It reads only HEAD and the last bytes of the
// index.
func (r *Repo) StillCurrent(ctx context.Context, s *repo.Snapshot) (bool, error) {
	now, err := r.indexVersion()
	if err != nil {
		return false, err
	}
	if !now.same(indexVersion{checksum: s.Index.Checksum, stat: s.Index.Stat}) {
		return false, nil
	}
	head, err := r.Head(ctx)
	if err != nil {
		return false, err
	}
	return head == s.Head, nil
}

// Tracks reports whether the index has a file in dir.
func (r *Repo) Tracks(ctx context.Context, dir repo.Path) (bool, error) {
	s, err := r.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(s.Index.Entries, func(e repo.Entry) bool { return e.Path.Under(dir) }), nil
}
