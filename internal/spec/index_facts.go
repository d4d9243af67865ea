package spec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

const kindIndexFacts = "index-facts"

// indexFacts are facts about a spec from the index. The index
// changes more often than specs and history, so these facts are
// added to a listing each time and are not part of the cached one.
type indexFacts struct {
	Unmerged bool     // the spec file has an unresolved merge
	Missing  []string // the code entries that match no tracked file, as written
}

// storedIndexFacts are the cached index facts of a checkout, with their inputs.
type storedIndexFacts struct {
	Stamp string                // the stamp of the index
	Nodes string                // a digest of the nodes
	At    map[string]indexFacts // by the path of the spec; a spec without facts has no entry
}

// addIndexFacts adds the facts from the index to a listing. If the index cannot be read, the listing says so; that
// is not an error.
func (r *Reader) addIndexFacts(ctx context.Context, l *Listing) error {
	if len(l.Nodes) == 0 {
		return nil
	}
	at, err := r.indexFactsOf(ctx, l)
	if ctx.Err() != nil {
		return ctx.Err() // prefer the cancellation error even if the result is complete
	}
	if err != nil {
		l.addUnknown(derive.FactIndex, err)
		return nil
	}
	for i := range l.Nodes {
		if n := &l.Nodes[i]; !n.Ghost { // the code of a ghost may exist only in its worktree
			n.addIndexFacts(at[string(n.rawPath())])
		}
	}
	return nil
}

func (l *ListedSpec) addIndexFacts(f indexFacts) {
	l.Missing = append([]string{}, f.Missing...)
	if f.Unmerged {
		l.Status = derive.StatusUnknown
		if !parse.HasConflict(l.Problems) {
			l.Problems = append(l.Problems, parse.UnmergedProblem(l.rawPath()))
		}
	}
}

// indexFactsOf returns the index facts of a listing's nodes. It uses the cached facts if neither the index nor the
// nodes have changed.
func (r *Reader) indexFactsOf(ctx context.Context, l *Listing) (map[string]indexFacts, error) {
	stamp, nodes := r.ws.Git.IndexStamp(), l.digest()
	var k storedIndexFacts
	if stamp != "" && r.load(kindIndexFacts, &k) && k.Stamp == stamp && k.Nodes == nodes {
		return k.At, nil
	}
	tracked, err := r.tracked(ctx)
	if err != nil {
		return nil, err
	}
	found := newLocator(pathsOf(tracked))
	at := make(map[string]indexFacts)
	for i := range l.Nodes {
		n := &l.Nodes[i]
		if n.Ghost {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var code []parse.Entry
		for _, text := range n.Code {
			if e, err := parse.ReadEntry(text); err == nil {
				code = append(code, e)
			}
		}
		missing, known := missing(code, found)
		if !known {
			return nil, errors.New(found.limit.Reason())
		}
		f := indexFacts{Unmerged: isUnmerged(tracked, n.rawPath()), Missing: missing}
		if f.Unmerged || len(f.Missing) > 0 {
			at[string(n.rawPath())] = f
		}
	}
	if stamp != "" && stamp == r.ws.Git.IndexStamp() {
		r.save(kindIndexFacts, storedIndexFacts{stamp, nodes, at})
	}
	return at, nil
}

// missing returns the entries that match no tracked file. known is false if there are too many globs to check.
func missing(entries []parse.Entry, tracked *locator) (list []string, known bool) {
	for _, e := range entries {
		is, known := tracked.names(e)
		if !known {
			return nil, false
		}
		if !is {
			list = append(list, e.Text)
		}
	}
	return list, true
}

func pathsOf(tracked []repo.Entry) []repo.Path {
	paths := make([]repo.Path, len(tracked))
	for i := range tracked {
		paths[i] = tracked[i].Path
	}
	return paths
}

// isUnmerged reports whether a file has an unresolved merge.
func isUnmerged(tracked []repo.Entry, p repo.Path) bool {
	i, ok := repo.FindEntry(tracked, p)
	return ok && tracked[i].Flags.Has(repo.Conflicted)
}

// digest returns a digest of the nodes as far as the index facts depend on them.
func (l *Listing) digest() string {
	sum := sha256.New()
	for i := range l.Nodes {
		n := &l.Nodes[i]
		fmt.Fprintf(sum, "%t %q %q\n", n.Ghost, n.rawPath(), n.Code)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
