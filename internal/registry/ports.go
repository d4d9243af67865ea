package registry

import (
	"context"

	"ken/internal/repo"
)

// Git is what the registry asks of git. A failure is an error; an empty answer
// means that git looked and there was nothing.
type Git interface {
	// Snapshot reads HEAD and the index once, consistently.
	Snapshot(ctx context.Context) (*repo.Snapshot, error)
	// Unmoved reports whether HEAD and the index are still those of the snapshot.
	Unmoved(ctx context.Context, s *repo.Snapshot) (bool, error)
	// Upstream resolves the branch that s.Head's branch follows. When the pair
	// (HEAD, upstream) is that of known, its counts are taken over.
	Upstream(ctx context.Context, s *repo.Snapshot, known repo.Upstream, knownHead repo.ID) (repo.Upstream, error)
	// Tree returns the tree of a commit, ok false when the object is not there.
	Tree(ctx context.Context, commit repo.ID) (tree repo.ID, ok bool, err error)
	// Staged reports whether the index differs from the given tree; the zero
	// tree is the empty one.
	Staged(ctx context.Context, s *repo.Snapshot, tree repo.ID) (bool, error)
	// Reachable reports whether any ref, or HEAD, still leads to the commit.
	Reachable(ctx context.Context, commit repo.ID) (bool, error)
	// Attributes looks up the git attributes of paths, in their order.
	Attributes(ctx context.Context, paths []repo.Path) ([]repo.Attributes, error)
	// HasCRLF reports whether a blob is text with CRLF in it.
	HasCRLF(ctx context.Context, blob repo.ID) (bool, error)
	// Cleaned returns the id git would store the file under, for paths under
	// no filter driver.
	Cleaned(ctx context.Context, paths []repo.Path) ([]repo.ID, error)
	// Touched lists the paths a commit changed against its first parent, and
	// the commit's full id.
	Touched(ctx context.Context, rev string) (commit repo.ID, paths []repo.Path, err error)
	// At returns the entry of a path in a commit, ok false when it has none.
	// A commit that is not here is an error.
	At(ctx context.Context, commit repo.ID, path repo.Path) (id repo.ID, ok bool, err error)
	// Renamed says where files went that are not tracked any more: for each path the
	// tracked paths that git takes for the same file, by the commits that HEAD leads to
	// and by what is staged. Paths that went nowhere are left out.
	Renamed(ctx context.Context, s *repo.Snapshot, gone []repo.Path) (map[repo.Path][]repo.Path, error)
	// Untracked lists the files that are neither tracked nor ignored.
	Untracked(ctx context.Context) ([]repo.Path, error)
}

// Files is what the registry asks of the work tree. Nothing is ever followed
// through a symbolic link.
type Files interface {
	// Stat looks at every entry once, and answers in their order.
	Stat(ctx context.Context, entries []repo.Entry) ([]repo.Found, error)
	// Read reads files and answers in their order; a file that cannot be read
	// has its own error.
	Read(ctx context.Context, wants []repo.ReadRequest) ([]repo.Reading, error)
	// KindByName guesses the kind of a file from its path alone.
	KindByName(path repo.Path) repo.Kind
}
