// Package share sends records of summaries to other clones through a git remote, and takes over
// theirs.
//
// A [fresh.Record] never changes, and its name is the hash of its content. Two sets of records are
// therefore merged by their union. The records of a remote are files of the commits of one ref,
// refs/ken/knowledge; internal/git reads and writes those commits, internal/store keeps the
// records of this clone.
package share

import (
	"context"
	"strings"
	"time"

	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/local"
)

// Options tune a Share.
type Options struct {
	Policy Policy
	Now    func() time.Time // the clock; time.Now if nil
	// Wait is called before a push is retried, with the number of attempts so far; nil does not wait.
	Wait func(ctx context.Context, tries int) error
}

// A Share exchanges the records of one clone with its remotes.
type Share struct {
	git       *git.Repo
	store     store.Records
	stateFile local.ShareFile
	opts      Options
}

// New returns the Share of a clone. It saves in stateFile how far it has read the records of remotes.
func New(g *git.Repo, s store.Records, stateFile local.ShareFile, opts Options) *Share {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Wait == nil {
		opts.Wait = func(ctx context.Context, _ int) error { return ctx.Err() }
	}
	return &Share{g, s, stateFile, opts}
}

// knowledgeRef is the ref of a remote that has the records. It is neither a branch nor a tag, so
// that git itself does not fetch, push or show it.
const knowledgeRef = "refs/ken/knowledge"

// fetchedRef is the ref of this clone with knowledgeRef as last fetched from a remote.
func fetchedRef(remote string) string { return "refs/ken/remotes/" + remote + "/knowledge" }

// mergedRef is the ref of this clone with the last union with a remote.
func mergedRef(remote string) string { return "refs/ken/remotes/" + remote + "/merged" }

const (
	formatFile = "format"
	formatText = "ken knowledge 1\n"
	recordsDir = "records"
)

// Path returns the path of the record with that name.
func (n Name) Path() repo.Path {
	s := n.String()
	return repo.Path(recordsDir + "/" + s[:2] + "/" + s[2:])
}

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
