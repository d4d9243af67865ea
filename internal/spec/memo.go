package spec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

const (
	memoListing = "listing"
	hereLook    = "" // the name of the reader's own checkout among looks
)

// A memoHead is the first line of a listing that is kept: what it was made from.
// Behind it stands the listing, as documents show it.
type memoHead struct {
	Key   string          `json:"key"`   // of the outlook
	Looks map[string]Look `json:"looks"` // by worktree
}

// recall returns the listing of last time, if all that it was made from is surely
// the same: where the checkouts stand, and the files that were read.
func (r *Reader) recall(ctx context.Context, o *outlook) (*Listing, bool) {
	first, rest, ok := bytes.Cut(r.memo.Load(memoListing), []byte{'\n'})
	if !ok || len(o.unknown) > 0 {
		return nil, false
	}
	var head memoHead
	if json.Unmarshal(first, &head) != nil || head.Key != o.key(r.memo.Maker()) {
		return nil, false
	}
	if own, ok := head.Looks[hereLook]; !ok || !r.src.Same(ctx, own) {
		return nil, false
	}
	delete(head.Looks, hereLook)
	for i := range o.trees {
		w := &o.trees[i]
		if look, ok := head.Looks[w.Name]; ok && (w.Err != nil || !w.Work.Same(ctx, look)) {
			return nil, false
		}
	}
	var l Listing
	if json.Unmarshal(rest, &l) != nil {
		return nil, false
	}
	return &l, true
}

// remember keeps a listing for the next time, unless something in it is not known
// or may have changed while it was made.
func (r *Reader) remember(o *outlook, looks map[string]Look, l *Listing) {
	away := 0
	for _, look := range looks {
		if look.IsZero() {
			return
		}
	}
	// That a worktree cannot be looked into is part of the outlook.
	for _, w := range o.trees {
		if w.Err != nil {
			away++
		}
	}
	if len(l.Unknown) > away {
		return
	}
	for _, n := range l.Nodes {
		if len(n.Unknown) > 0 {
			return
		}
	}
	head, err := json.Marshal(memoHead{o.key(r.memo.Maker()), looks})
	if err != nil {
		return
	}
	if body, err := json.Marshal(l); err == nil {
		r.memo.Save(memoListing, append(append(head, '\n'), body...))
	}
}

// key names an outlook, and who looks.
func (o *outlook) key(maker string) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %s %q %s %q", maker, o.head, o.main.Name, o.main.Commit, o.view)
	for _, w := range o.trees {
		fmt.Fprintf(sum, "\n%q %t %q %s %v", w.Name, w.Here, w.Head.Branch, w.Head.Commit, w.Err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
