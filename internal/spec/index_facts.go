package spec

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"ken/internal/repo"
)

const memoIndexFacts = "index-facts"

// indexFacts are facts about a spec from the index. The index
// changes more often than specs and history, so these facts are
// added to a listing each time and are not part of the cached one.
type indexFacts struct {
	Unmerged bool     // a merge has not been decided for its file
	Missing  []string // the entries of its code that name nothing, as they were written
}

// keptFootings are those of a checkout, with what they were made from.
type storedIndexFacts struct {
	Stamp string                // of the index
	Nodes string                // a digest of the nodes
	At    map[string]indexFacts // by the path of the spec; most have none
}

// stand lays over a listing what the index says. An index that cannot be read is unknown,
// and no error.
func (r *Reader) stand(ctx context.Context, l *Listing) error {
	if len(l.Nodes) == 0 {
		return nil
	}
	at, err := r.indexFactsOf(ctx, l)
	if ctx.Err() != nil {
		return ctx.Err() // also of what came just in time
	}
	if err != nil {
		l.unknown(FactIndex, err)
		return nil
	}
	for i := range l.Nodes {
		if n := &l.Nodes[i]; !n.Ghost { // whose code may be where it is
			n.stand(at[string(n.raw())])
		}
	}
	return nil
}

func (l *Listed) stand(f indexFacts) {
	l.Missing = append([]string{}, f.Missing...)
	if f.Unmerged {
		l.Status = StatusUnknown
		if !torn(l.Problems) {
			l.Problems = append(l.Problems, unmerged(l.raw()))
		}
	}
}

// indexFactsOf returns what the index says of the nodes of a listing: what was found last
// time, if index and nodes are those.
func (r *Reader) indexFactsOf(ctx context.Context, l *Listing) (map[string]indexFacts, error) {
	stamp, nodes := r.src.IndexStamp(ctx), l.digest()
	var k storedIndexFacts
	if stamp != "" && r.load(memoIndexFacts, &k) && k.Stamp == stamp && k.Nodes == nodes {
		return k.At, nil
	}
	tracked, err := r.src.Tracked(ctx)
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
		var code []Entry
		for _, text := range n.Code {
			if e, err := ParseEntry(text); err == nil {
				code = append(code, e)
			}
		}
		missing, known := missing(code, found)
		if !known {
			return nil, errors.New(found.limit.reason())
		}
		f := indexFacts{Unmerged: isUnmerged(tracked, n.raw()), Missing: missing}
		if f.Unmerged || len(f.Missing) > 0 {
			at[string(n.raw())] = f
		}
	}
	if stamp != "" && stamp == r.src.IndexStamp(ctx) {
		r.save(memoIndexFacts, storedIndexFacts{stamp, nodes, at})
	}
	return at, nil
}

// missing returns the entries that name nothing; known is false when there are too many
// globs to tell.
func missing(entries []Entry, tracked *locator) (list []string, known bool) {
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

// isUnmerged reports whether a merge has not been decided for a file.
func isUnmerged(tracked []repo.Entry, p repo.Path) bool {
	i, ok := slices.BinarySearchFunc(tracked, p, func(e repo.Entry, p repo.Path) int { return cmp.Compare(e.Path, p) })
	return ok && tracked[i].Flags.Has(repo.Conflicted)
}

// digest names what the index facts depend on besides the index.
func (l *Listing) digest() string {
	sum := sha256.New()
	for i := range l.Nodes {
		n := &l.Nodes[i]
		fmt.Fprintf(sum, "%t %q %q\n", n.Ghost, n.raw(), n.Code)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
