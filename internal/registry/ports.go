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
	Read(ctx context.Context, wants []Want) ([]Reading, error)
	// KindByName guesses the kind of a file from its path alone.
	KindByName(path repo.Path) repo.Kind
}

// A Want asks for one file to be read.
type Want struct {
	Path repo.Path
	// Known is a content that the bytes may well have: if the id turns out to
	// be that one, so is the md5, and is not computed. Its md5 may be zero, for
	// a caller that has no use for it. The zero Content is no such guess.
	Known repo.Content
	// Proven says that git stores the bytes as Known.ID while the file's stat
	// is Seen. Then it is the id that is not computed, unless there are line
	// endings that git might have converted.
	Proven bool
	// Seen is the stat that the file had a moment ago, which may save looking
	// again. Zero when nobody looked.
	Seen repo.Stat
	// Convert names the conversion whose result is wanted too; ConvertText and
	// ConvertAuto fill [Reading.Converted].
	Convert repo.Convert
}

// A Reading is what one streaming read of a file found.
type Reading struct {
	Raw  repo.Content // of the bytes as they are; for a symlink, of its target text
	Size int64        // how many bytes there were
	CRLF bool         // they hold a CR directly before a LF
	// Converted is the id with CRLF turned into LF, where that was asked for
	// and changes something; zero otherwise.
	Converted repo.ID
	AsSeen    bool       // the file's stat was the Want's Seen
	Found     repo.Found // the stat that vouches for what was read; zero Stat when it may not
	Kind      repo.Kind  // by name and first bytes
	Err       error
}
