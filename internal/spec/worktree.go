package spec

import (
	"bytes"
	"context"
	"strings"

	"ken/internal/repo"
)

// Files are the files of one checkout.
type Files interface {
	// Specs returns the spec files that are there, tracked or not, and how they
	// looked.
	Specs(ctx context.Context) ([]File, Look, error)
	// Same reports whether the spec files are surely as they looked.
	Same(ctx context.Context, l Look) bool
}

// A Look is how the directories and files of specs looked on disk when they were
// read. The zero Look vouches for nothing.
type Look struct {
	Names []byte `json:"names"` // what was looked at, each ended by NUL
	Sum   []byte `json:"sum"`   // a digest of what was seen
}

// NewLook returns a look at paths.
func NewLook(paths []repo.Path, sum []byte) Look {
	var names []byte
	for _, p := range paths {
		names = append(append(names, p...), 0)
	}
	return Look{names, sum}
}

// IsZero reports whether the look vouches for nothing.
func (l Look) IsZero() bool { return len(l.Sum) == 0 }

// equal reports whether two looks saw the same.
func (l Look) equal(m Look) bool {
	return bytes.Equal(l.Sum, m.Sum) && bytes.Equal(l.Names, m.Names)
}

// Paths returns what was looked at.
func (l Look) Paths() []repo.Path {
	all := string(l.Names)
	paths := make([]repo.Path, 0, strings.Count(all, "\x00"))
	for {
		p, rest, ok := strings.Cut(all, "\x00")
		if !ok {
			return paths
		}
		paths, all = append(paths, repo.Path(p)), rest
	}
}

// A Worktree is a checkout of the repository.
type Worktree struct {
	Name string // one of its own among them
	Here bool   // the reader's own
	Head repo.Head
	Err  error // why it cannot be looked into; there are no files then
	Work Work
}

// Work is what lies in a checkout.
type Work interface {
	Files
	// Changed lists the paths that differ from what a commit has, committed or
	// not, untracked ones included, sorted.
	Changed(ctx context.Context, since repo.ID) ([]repo.Path, error)
}

// on reports whether the checkout is that of a branch.
func (w *Worktree) on(branch string) bool {
	return branch != "" && w.Head.Branch == "refs/heads/"+branch
}
