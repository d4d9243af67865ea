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

// A keptListing is a listing with what it was made from.
type keptListing struct {
	Key     string          // of the outlook
	View    string          // a part of that
	Looks   map[string]Look // by worktree
	Listing Listing
	Ground  string // a ground, which only a renewal has to read
}

// loadListing returns the listing that was kept, nil for none, or one that another
// build kept. It begins with a checksum and that build's name.
func (r *Reader) loadListing() *keptListing {
	b := r.memo.Load(memoListing)
	if len(b) < memoStart || binary.LittleEndian.Uint32(b) != crc32.ChecksumIEEE(b[memoStart:]) {
		return nil
	}
	var maker string
	text, err := decodeMemo(string(b[memoStart:]), &maker)
	if err != nil || maker != r.memo.Maker() {
		return nil
	}
	var k keptListing
	if rest, err := decodeMemo(text, &k); err != nil || rest != "" {
		return nil
	}
	return &k
}

func (r *Reader) saveListing(k *keptListing) {
	const perNode = 2 << 10 // about as much as one takes
	b := encodeMemo(make([]byte, memoStart, perNode*(len(k.Listing.Nodes)+1)+len(k.Ground)), r.memo.Maker())
	b = encodeMemo(b, *k)
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[memoStart:]))
	r.memo.Save(memoListing, b)
}

// memoStart is how long the checksum is.
const memoStart = 4

// current returns the listing of last time, if all that it was made from is surely
// the same, and HEAD is at a commit; nil if not.
func (r *Reader) current(ctx context.Context, head repo.ID) *keptListing {
	k := r.loadListing()
	if k == nil || k.Listing.Head != head || !r.sameFiles(ctx, k) {
		return nil
	}
	if o, err := r.look(ctx); err != nil || !r.holds(ctx, o, k) {
		return nil
	}
	return k
}

// committed returns the nodes of HEAD, if these are the listed ones; nil if not.
func (k *keptListing) committed() []*Node {
	var g ground
	if k == nil {
		return nil
	}
	if rest, err := decodeMemo(k.Ground, &g); err != nil || rest != "" || g.Committed != len(g.Nodes) ||
		slices.ContainsFunc(k.Listing.Nodes, func(l Listed) bool { return !l.Ghost && (l.Dirty == nil || *l.Dirty) }) {
		return nil
	}
	nodes := make([]*Node, len(g.Nodes))
	for i := range g.Nodes {
		nodes[i] = g.Nodes[i].node()
	}
	return nodes
}

// sameFiles reports whether the files of this checkout are surely those that a
// listing was made from.
func (r *Reader) sameFiles(ctx context.Context, k *keptListing) bool {
	own, ok := k.Looks[hereLook]
	return ok && r.src.Same(ctx, own)
}

// holds reports whether a listing is still true, if this checkout's files are the
// same.
func (r *Reader) holds(ctx context.Context, o *outlook, k *keptListing) bool {
	if len(o.unknown) > 0 || k.Key != o.key() {
		return false
	}
	for i := range o.trees {
		w := &o.trees[i]
		if look, ok := k.Looks[w.Name]; ok && w.Name != hereLook && (w.Err != nil || !w.Work.Same(ctx, look)) {
			return false
		}
	}
	return true
}

// remember keeps a listing for the next time, unless something of a node is not known
// or may have changed while it was made.
func (r *Reader) remember(o *outlook, looks map[string]Look, l *Listing, g *ground) {
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
	r.saveListing(&keptListing{Key: o.key(), View: o.view, Looks: looks, Listing: *l, Ground: string(encodeMemo(nil, *g))})
}

// key names an outlook.
func (o *outlook) key() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %q %s %q", o.head, o.main.Name, o.main.Commit, o.view)
	for _, w := range o.trees {
		fmt.Fprintf(sum, "\n%q %t %q %s %v", w.Name, w.Here, w.Head.Branch, w.Head.Commit, w.Err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
