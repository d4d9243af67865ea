package share

import (
	"context"
	"strings"
	"time"

	"ken/internal/repo"
)

// A Ledger is the history that records travel in: commits of one git repository, which
// nothing else of it leads to. This clone has one, and it remembers where that of each
// remote was last seen.
type Ledger interface {
	// Tips returns where this clone's ledger stands and where a remote's was last seen,
	// each zero when there is none.
	Tips(ctx context.Context, remote string) (own, theirs repo.ID, err error)
	// Fetch asks a remote where its ledger stands, and brings all of it here. The zero
	// ID says that it has none.
	Fetch(ctx context.Context, remote string) (repo.ID, error)
	// Push has a remote take over a tip. Unless it replaces what is there, which has to
	// be over then, the tip has to follow on that. Not taken says that the remote's is
	// another one by now; a remote that refuses is an error.
	Push(ctx context.Context, remote string, p Offer) (taken bool, err error)
	// Note moves this clone's tip, unless it is not where it was any more, and what is
	// remembered of the remote's.
	Note(ctx context.Context, remote string, m Move) (moved bool, err error)
	// Layout returns what lies at the top of a tip. One that is no commit is an error.
	Layout(ctx context.Context, tip repo.ID) (Layout, error)
	// Differences are those between two tips, file by file. All of it differs from the
	// zero one. More than a ledger can have are an error.
	Differences(ctx context.Context, from, to repo.ID) ([]repo.Change, error)
	// Have returns which of the tips' files there are, of as many paths as are given.
	Have(ctx context.Context, paths []repo.Path, tips ...repo.ID) ([]bool, error)
	// EachBlob hands over contents as they come; see [git.Repo.EachBlob].
	EachBlob(ctx context.Context, ids []repo.ID, see func(i int, content []byte, size int64)) error
	// Introductions calls f with each commit that leads to tip and not to known, and
	// the files that it brought or changed. Of a merge, that is what none of its
	// parents has so. Signatures are looked at only when they are to be verified.
	Introductions(ctx context.Context, tip, known repo.ID, verify bool, f func(Voucher, []repo.Change) error) error
	// Verify returns who made commits, and looks at their signatures.
	Verify(ctx context.Context, commits []repo.ID) ([]Voucher, error)
	// Keep writes contents, which nothing leads to yet.
	Keep(ctx context.Context, contents [][]byte) ([]repo.ID, error)
	// Write makes a commit, which nothing leads to yet.
	Write(ctx context.Context, c Commit) (repo.ID, error)
	// Author returns who commits here, and whether commits are signed.
	Author(ctx context.Context) (who string, signs bool, err error)
}

// An Offer is a tip for a remote.
type Offer struct {
	Tip     repo.ID
	Over    repo.ID // where the remote's was last seen
	Replace bool    // the tip does not follow on that
}

// A Move says where tips are now.
type Move struct {
	From, To repo.ID // this clone's
	Theirs   repo.ID // the remote's; zero: as it was
}

// A Layout is what lies at the top of a tip.
type Layout struct {
	Format  string           // the text of the file of that name, "" for none
	Records repo.ID          // the directory of records; zero for none
	Dropped map[Name]repo.ID // lists of what was dropped, by their names
}

// A Commit is a state of the ledger that is to be written.
type Commit struct {
	Parents []repo.ID          // it begins with what the first has, or with nothing
	Afresh  bool               // it begins with nothing, whatever its parents have
	Trees   map[string]repo.ID // directories to begin with beside that
	Remove  []repo.Path
	Put     []Put
	Message string
	Sign    bool
	At      time.Time
}

// A Put is a file: its content, or the id of one that is here.
type Put struct {
	Path repo.Path
	ID   repo.ID
	Data []byte
}

const (
	formatFile = "format"
	formatText = "ken knowledge 1\n"
	recordsDir = "records"
	droppedDir = "dropped"
)

// Path returns where a record of that name lies.
func (n Name) Path() repo.Path {
	s := n.String()
	return repo.Path(recordsDir + "/" + s[:2] + "/" + s[2:])
}

func listPath(n Name) repo.Path { return repo.Path(droppedDir + "/" + n.String()) }

// recordAt returns the name of the record that belongs at a path.
func recordAt(p repo.Path) (Name, bool) {
	dir, rest, _ := strings.Cut(string(p), "/")
	a, b, ok := strings.Cut(rest, "/")
	if dir != recordsDir || !ok || len(a) != 2 {
		return Name{}, false
	}
	n, err := ParseName(a + b)
	return n, err == nil
}

// listAt returns the name of the list that belongs at a path.
func listAt(p repo.Path) (Name, bool) {
	rest, ok := strings.CutPrefix(string(p), droppedDir+"/")
	if !ok {
		return Name{}, false
	}
	n, err := ParseName(rest)
	return n, err == nil
}

// encodeList spells a list of names, which is named by it.
func encodeList(names []Name) []byte {
	out := make([]byte, 0, 65*len(names))
	for _, n := range names {
		out = append(append(out, n.String()...), '\n')
	}
	return out
}

// decodeList reads what encodeList writes; ok is false for anything else.
func decodeList(b []byte, into map[Name]bool) bool {
	if len(b)%65 != 0 {
		return false
	}
	last := ""
	for ; len(b) > 0; b = b[65:] {
		s := string(b[:64])
		n, err := ParseName(s)
		if err != nil || b[64] != '\n' || s <= last {
			return false
		}
		last = s
		into[n] = true
	}
	return true
}
