package registry

import (
	"bytes"
	"context"
	"iter"
	"time"

	"ken/internal/fresh"
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

// A Candidate is a record, as far as it takes to choose among those of a path.
type Candidate struct {
	Basis fresh.Basis
	At    time.Time
	ID    fresh.Digest
}

// newer reports whether c was written after d. It depends on nothing but the two.
func (c Candidate) newer(d Candidate) bool {
	if order := c.At.Compare(d.At); order != 0 {
		return order > 0
	}
	return bytes.Compare(c.ID[:], d.ID[:]) > 0
}

// Store is what the registry asks of its storage. A store that does not exist
// yet is an empty one; only Commit makes it.
type Store interface {
	// Baseline returns the last verification of a worktree, ok false if none;
	// its Generation is right either way.
	Baseline(ctx context.Context, worktree string) (b Baseline, ok bool, err error)
	// Rows yields a worktree's rows in byte order of their paths.
	Rows(ctx context.Context, worktree string) iter.Seq2[Row, error]
	// RowsOf returns the rows of the given paths, those that exist.
	RowsOf(ctx context.Context, worktree string, paths []repo.Path) (map[repo.Path]Row, error)
	// Exceptions returns the rows with any of the marks, and those whose text is
	// about other content. Exceptional marks are found fastest.
	Exceptions(ctx context.Context, worktree string, marks Marks) (map[repo.Path]Row, error)
	// Tally counts a worktree's rows by what is known of them.
	Tally(ctx context.Context, worktree string) (Tally, error)
	// Known returns, for each content that some record was written from, the
	// key of the newest such record's basis. Of records of the same time, the one with
	// the higher id is the newest.
	Known(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Basis, error)
	// Newest returns, for each content that Known knows, the newest record.
	Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error)
	// Record finds a record by its id.
	Record(ctx context.Context, id fresh.Digest) (r fresh.Record, ok bool, err error)
	// WrittenAt returns the records that were written at each path, newest first: by
	// time, and where that is the same by id. Paths without one are left out.
	WrittenAt(ctx context.Context, paths []repo.Path) (map[repo.Path][]Candidate, error)
	// WrittenSince lists the paths, each once, of the records that came after a mark,
	// and returns the mark after which none has come yet. Every record came after the
	// mark 0.
	WrittenSince(ctx context.Context, mark int64) (paths []repo.Path, now int64, err error)
	// NewestAt returns the first of the records that WrittenAt lists for a path.
	NewestAt(ctx context.Context, path repo.Path) (r fresh.Record, ok bool, err error)
	// Commit makes a change durable, all of it or nothing. Its baseline lands
	// only if the generation is still the one it names, and still, called inside
	// the transaction, says so; nil counts as yes. The rest lands either way.
	// Rows that come or go without a baseline that speaks of them unsettle the
	// one there is: it is no longer clean, and no longer tells of an index.
	Commit(ctx context.Context, worktree string, c Change, still func() (bool, error)) error
}
