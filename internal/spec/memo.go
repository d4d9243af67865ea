package spec

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"slices"

	"ken/internal/repo"
)

const (
	memoListing = "listing"
	hereLook    = "" // the name of the reader's own checkout among looks
)

// A keptListing is a listing with what it was made from. The listing and its ground lie
// there as they were written, for whoever needs them.
type keptListing struct {
	Key     string                     // of the outlook
	View    string                     // a part of that
	Looks   map[string]repo.StatDigest // by worktree
	Head    repo.ID
	Clean   bool   // the specs are those of HEAD
	Listing string // a Listing
	Ground  string // a ground, which only a renewal has to read
}

// listing reads the listing, nil if it cannot be read.
func (k *keptListing) listing() *Listing {
	var l Listing
	if rest, err := decodeMemo(k.Listing, &l); err != nil || rest != "" {
		return nil
	}
	return &l
}

// ground reads what the listing stands on, nil if it cannot be read.
func (k *keptListing) ground() *listingInputs {
	var g listingInputs
	if rest, err := decodeMemo(k.Ground, &g); err != nil || rest != "" {
		return nil
	}
	return &g
}

// load reads the answer of a kind that was kept, if there is one and this build kept it.
// It begins with a checksum and that build's name.
func (r *Reader) load(kind string, v any) bool {
	b := r.memo.Load(kind)
	if len(b) < memoStart || binary.LittleEndian.Uint32(b) != crc32.ChecksumIEEE(b[memoStart:]) {
		return false
	}
	var maker string
	text, err := decodeMemo(string(b[memoStart:]), &maker)
	if err != nil || maker != r.memo.Maker() {
		return false
	}
	rest, err := decodeMemo(text, v)
	return err == nil && rest == ""
}

func (r *Reader) save(kind string, v any) {
	b := encodeMemo(make([]byte, memoStart), r.memo.Maker())
	b = encodeMemo(b, v)
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[memoStart:]))
	r.memo.Save(kind, b)
}

// memoStart is how long the checksum is.
const memoStart = 4

// loadListing returns the listing that was kept, nil for none.
func (r *Reader) loadListing() *keptListing {
	var k keptListing
	if !r.load(memoListing, &k) {
		return nil
	}
	return &k
}

// current returns the listing of last time, if HEAD is at a commit, and all that it was
// made from is surely the same; nil if not. The checkout's specs look the way they do in
// x.
func (r *Reader) current(ctx context.Context, head repo.ID, x *index) *keptListing {
	k := r.loadListing()
	if k == nil || k.Head != head || x.Look.IsZero() || !k.Looks[hereLook].Equal(x.Look) {
		return nil
	}
	if o, err := r.look(ctx); err != nil || !r.holds(ctx, o, k) {
		return nil
	}
	return k
}

// sameFiles reports whether the files of this checkout are surely those that a
// listing was made from.
func (r *Reader) sameFiles(ctx context.Context, k *keptListing) bool {
	own, ok := k.Looks[hereLook]
	return ok && r.src.Unchanged(ctx, own)
}

// holds reports whether a listing is still true, if this checkout's files are the
// same.
func (r *Reader) holds(ctx context.Context, o *repoState, k *keptListing) bool {
	if len(o.unknown) > 0 || k.Key != o.key() {
		return false
	}
	for i := range o.trees {
		w := &o.trees[i]
		if look, ok := k.Looks[w.Name]; ok && w.Name != hereLook && (w.Err != nil || !w.Work.Unchanged(ctx, look)) {
			return false
		}
	}
	return true
}

// remember keeps a listing for the next time, unless something of a node is not known
// or may have changed while it was made.
func (r *Reader) remember(o *repoState, looks map[string]repo.StatDigest, l *Listing, g *listingInputs) {
	for _, look := range looks {
		if look.IsZero() {
			return
		}
	}
	for _, n := range l.Nodes {
		if len(n.Unknown) > 0 {
			return
		}
	}
	clean := g.Committed == len(g.Nodes) &&
		!slices.ContainsFunc(l.Nodes, func(l Listed) bool { return !l.Ghost && (l.Dirty == nil || *l.Dirty) })
	r.save(memoListing, keptListing{
		Key: o.key(), View: o.view, Looks: looks, Head: l.Head, Clean: clean,
		Listing: string(encodeMemo(nil, *l)), Ground: string(encodeMemo(nil, *g)),
	})
}

// key names a repository state.
func (o *repoState) key() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %q %s %q", o.head, o.main.Name, o.main.Commit, o.view)
	for _, w := range o.trees {
		fmt.Fprintf(sum, "\n%q %t %q %s %v", w.Name, w.Here, w.Head.Branch, w.Head.Commit, w.Err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
