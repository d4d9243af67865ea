package registry

import (
	"context"

	"ken/internal/repo"
)

// Git and Files are the inputs of the registry. ken passes *git.Repo and *content.Tree. They are interfaces
// because the property tests have a second implementation: a repository in memory, with a clock that the test
// sets, so that files change within one tick of it and between two reads.

// Git reads a repository. If git cannot be read, a method returns an error; an empty answer means that there is nothing.
type Git interface {
	// Snapshot reads HEAD and the index at one moment.
	Snapshot(ctx context.Context) (*repo.Snapshot, error)
	// StillCurrent reports whether HEAD and the index are still those of a snapshot.
	StillCurrent(ctx context.Context, s *repo.Snapshot) (bool, error)
	// Upstream compares HEAD with the branch that its branch follows. It reuses the counts of known if HEAD is
	// knownHead and the upstream commit is that of known.
	Upstream(ctx context.Context, s *repo.Snapshot, known repo.Upstream, knownHead repo.ID) (repo.Upstream, error)
	// Tree returns the tree of a commit; ok is false if git does not have the commit.
	Tree(ctx context.Context, commit repo.ID) (tree repo.ID, ok bool, err error)
	// IndexDiffers reports whether the index differs from a tree. The zero tree is the empty one.
	IndexDiffers(ctx context.Context, s *repo.Snapshot, tree repo.ID) (bool, error)
	// Reachable reports whether HEAD or a ref leads to a commit.
	Reachable(ctx context.Context, commit repo.ID) (bool, error)
	// Attributes returns the git attributes of paths, in their order.
	Attributes(ctx context.Context, paths []repo.Path) ([]repo.Attributes, error)
	// HasCRLF reports whether a blob is text with a CRLF.
	HasCRLF(ctx context.Context, blob repo.ID) (bool, error)
	// StoredIDs returns the ids under which git would store files. The paths have no filter driver.
	StoredIDs(ctx context.Context, paths []repo.Path) ([]repo.ID, error)
	// ChangedBy returns the full id of a commit and the paths that differ from its first parent.
	ChangedBy(ctx context.Context, rev string) (commit repo.ID, paths []repo.Path, err error)
	// At returns the content of a path in a commit; ok is false if the commit does not have the path. It fails if git
	// does not have the commit.
	At(ctx context.Context, commit repo.ID, path repo.Path) (id repo.ID, ok bool, err error)
	// Lacking returns the contents that a partial clone does not have.
	Lacking(ctx context.Context, ids []repo.ID) (map[repo.ID]bool, error)
	// Renamed returns for paths that are no longer tracked the tracked paths that git considers the same file, by the
	// commits that HEAD reaches and by the index. It leaves out paths that were not renamed.
	Renamed(ctx context.Context, s *repo.Snapshot, gone []repo.Path) (map[repo.Path][]repo.Path, error)
	// Untracked lists the files that are neither tracked nor ignored.
	Untracked(ctx context.Context) ([]repo.Path, error)
}

// Files reads a work tree. It follows no symbolic link.
type Files interface {
	// Stat stats every entry once and answers in their order.
	Stat(ctx context.Context, entries []repo.Entry) ([]repo.FileStat, error)
	// Read reads files and answers in their order. A file that cannot be read has an error of its own.
	Read(ctx context.Context, wants []repo.ReadRequest) ([]repo.Reading, error)
	// KindByName returns the kind of a file by its path alone.
	KindByName(path repo.Path) repo.Kind
}
