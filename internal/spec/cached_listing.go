package spec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"ken/internal/cache"
	"ken/internal/repo"
)

const (
	kindListing = "listing"
	ownCheckout = "" // the key of the reader's own checkout in cachedListing.Stats
)

// A cachedListing is a listing with the inputs that it was made from. Listing and Inputs are decoded only when
// they are needed.
type cachedListing struct {
	Key     string                     // repoState.key
	View    string                     // repoState.view
	Stats   map[string]repo.StatDigest // stat digests of the spec files, by worktree
	Head    repo.ID
	Clean   bool   // the spec files are those of HEAD
	Listing []byte // of encodeListing
	Inputs  []byte // encoded listingInputs, which only readTree decodes
}

// listing decodes the listing. It returns nil if that fails.
func (cl *cachedListing) listing() *Listing { return decodeListing(cl.Listing) }

// inputs decodes the inputs of the listing. It returns nil if that fails.
func (cl *cachedListing) inputs() *listingInputs {
	var g listingInputs
	if decodeCached(cl.Inputs, &g) != nil {
		return nil
	}
	return &g
}

// lastAnswerKey returns the cache key of the last answer of a kind for this work tree. The answer includes its inputs; the
// caller of load compares them.
func (r *Reader) lastAnswerKey(kind string) *cache.Key {
	key := r.ws.Cache.Key("spec-" + kind)
	fmt.Fprintf(key, "%q", r.ws.Git.GitDir())
	return key
}

// load reads the last answer of a kind into v, if this build of ken saved one.
func (r *Reader) load(kind string, v any) bool {
	answer, ok := r.ws.Cache.Load(r.lastAnswerKey(kind))
	return ok && decodeCached(answer, v) == nil
}

func (r *Reader) save(kind string, v any) { r.ws.Cache.Save(r.lastAnswerKey(kind), encodeCached(v)) }

// loadListing returns the cached listing, nil without one.
func (r *Reader) loadListing() *cachedListing {
	var k cachedListing
	if !r.load(kindListing, &k) {
		return nil
	}
	return &k
}

// currentListing returns the cached listing if it was made at the given head and no input has changed since, nil
// otherwise. have has the stat digest of the spec files.
func (r *Reader) currentListing(ctx context.Context, head repo.ID, have *cachedNodes) *cachedListing {
	k := r.loadListing()
	if k == nil || k.Head != head || have.Stats.IsZero() || !k.Stats[ownCheckout].Equal(have.Stats) {
		return nil
	}
	if o, err := r.readState(ctx); err != nil || !r.isValid(ctx, o, k) {
		return nil
	}
	return k
}

// sameFiles reports whether the spec files of this checkout are certainly those that a listing was made from.
func (r *Reader) sameFiles(ctx context.Context, k *cachedListing) bool {
	own, ok := k.Stats[ownCheckout]
	return ok && r.unchanged(ctx, own)
}

// isValid reports whether a cached listing is still valid, provided that the spec files of this checkout are
// unchanged.
func (r *Reader) isValid(ctx context.Context, o *repoState, k *cachedListing) bool {
	if len(o.unknown) > 0 || k.Key != o.key() {
		return false
	}
	for i := range o.trees {
		w := &o.trees[i]
		if stats, ok := k.Stats[w.Name]; ok && w.Name != ownCheckout && (w.Err != nil || !w.files.Unchanged(ctx, stats)) {
			return false
		}
	}
	return true
}

// saveListing caches a listing, unless a fact of a node is unknown or a spec file may have changed while the
// listing was made.
func (r *Reader) saveListing(o *repoState, stats map[string]repo.StatDigest, l *Listing, g *listingInputs) {
	for _, stats := range stats {
		if stats.IsZero() {
			return
		}
	}
	for _, n := range l.Nodes {
		if len(n.Unknown) > 0 {
			return
		}
	}
	clean := g.Committed == len(g.Nodes) &&
		!slices.ContainsFunc(l.Nodes, func(l ListedSpec) bool { return !l.Ghost && (l.Dirty == nil || *l.Dirty) })
	r.save(kindListing, cachedListing{
		Key: o.key(), View: o.view, Stats: stats, Head: l.Head, Clean: clean,
		Listing: encodeListing(l), Inputs: encodeCached(*g),
	})
}

// key returns a digest of a repository state.
func (o *repoState) key() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %q %s %q", o.head, o.main.Name, o.main.Commit, o.view)
	for _, w := range o.trees {
		fmt.Fprintf(sum, "\n%q %t %q %s %v", w.Name, w.Here, w.Head.Branch, w.Head.Commit, w.Err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
