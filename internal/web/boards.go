package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"ken/internal/board"
)

// A boardView is a board with its JSON and its tag.
type boardView struct {
	board *board.Board
	tree  *board.Worktree // the worktree that the board is about
	json  []byte
	tag   string // changes when anything that pages show changes
}

// boardCache keeps the newest board of each requested worktree.
type boardCache struct {
	deps   Deps
	ctx    context.Context            // of the server; requests share a board, so no request cancels it
	onPart func(worktree, tag string) // called with the tag of each unfinished first board

	mu      sync.Mutex
	at      map[string]*cachedBoard
	calls   fingerprintCalls
	running sync.WaitGroup
}

// A cachedBoard is the state of one worktree in the cache.
type cachedBoard struct {
	last    *boardView
	partial *boardView    // the unfinished first board
	err     error         // why the last build failed
	busy    chan struct{} // closed when the running build ends; nil if none runs
	from    Fingerprint   // the fingerprint of last or err
}

func newBoardCache(deps Deps) *boardCache {
	return &boardCache{deps: deps, onPart: func(string, string) {}, ctx: context.Background(), at: make(map[string]*cachedBoard)}
}

// wait returns when no build is running.
func (b *boardCache) wait() { b.running.Wait() }

// get returns the current board of a worktree. If that takes longer than patience, it
// returns the previous or unfinished board, which may be nil, and late.
func (b *boardCache) get(ctx context.Context, worktree string, patience time.Duration) (v *boardView, late bool, err error) {
	waiting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		fp, err := b.fingerprint(waiting)
		if waiting.Err() != nil {
			return b.newest(worktree), true, ctx.Err()
		}
		if err != nil {
			return nil, false, err
		}
		v, busy, err := b.ask(worktree, fp)
		if busy == nil {
			return v, false, err
		}
		select {
		case <-busy:
		case <-waiting.Done():
			return b.newest(worktree), true, ctx.Err()
		}
	}
}

// ask returns the board for a fingerprint, or starts a build and returns the channel
// that its end closes.
func (b *boardCache) ask(worktree string, fp Fingerprint) (v *boardView, busy chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.at[worktree]
	if s == nil {
		s = &cachedBoard{}
		b.at[worktree] = s
	}
	if s.busy != nil {
		return s.last, s.busy, nil
	}
	if s.from == fp && (s.last != nil || s.err != nil) {
		err := s.err
		if err != nil {
			s.from = "" // the next request tries again
		}
		return s.last, nil, err
	}
	s.busy = make(chan struct{})
	b.running.Go(func() { b.make(worktree, s, fp) })
	return s.last, s.busy, nil
}

// make builds a board and stores it in s.
func (b *boardCache) make(worktree string, s *cachedBoard, fp Fingerprint) {
	parts := 0
	v, err := b.build(worktree, fp, func(so *board.Board) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if s.last != nil {
			return // the previous board says more
		}
		parts++
		s.partial = &boardView{board: so, tree: so.Worktree(), tag: fmt.Sprintf("%d-parts-of-%s", parts, digest(string(fp)))}
		b.onPart(worktree, s.partial.tag)
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	s.err, s.from = err, fp
	if s.partial = nil; err == nil {
		s.last = v
	}
	close(s.busy)
	s.busy = nil
}

// newest returns the previous board or the unfinished first one. It may be nil.
func (b *boardCache) newest(worktree string) *boardView {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.at[worktree]
	switch {
	case s == nil: // no board was requested, or it was dropped
		return nil
	case s.last != nil:
		return s.last
	default:
		return s.partial
	}
}

// builtFrom returns the fingerprint of the newest finished board; "" if there is none.
func (b *boardCache) builtFrom(worktree string) Fingerprint {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.at[worktree]; s != nil && s.last != nil {
		return s.from
	}
	return ""
}

// build returns a new board. It turns a panic into an error.
func (b *boardCache) build(worktree string, fp Fingerprint, onPart func(*board.Board)) (v *boardView, err error) {
	defer recoverInto(&err)
	made, err := b.deps.Board(b.ctx, worktree, onPart)
	if err != nil {
		return nil, err
	}
	v = &boardView{board: made, tree: made.Worktree()}
	if v.json, err = json.MarshalIndent(made, "", "  "); err != nil {
		return nil, err
	}
	v.tag = v.mark(fp)
	return v, nil
}

// mark hashes everything that pages show: the board, texts that are not part of its JSON,
// and the fingerprint, because pages show contents of files and what a review says of them.
func (v *boardView) mark(fp Fingerprint) string {
	sum := sha256.New()
	sum.Write(v.json)
	_, _ = io.WriteString(sum, string(fp))
	if f := v.tree.Files.Known; f != nil {
		for _, l := range f.MapFiles {
			fmt.Fprintf(sum, "%q %d %s %d %s %q\n", l.Path, l.Size, l.Content, l.Summary, l.Grade, l.Reason)
		}
	}
	if d := v.tree.Documents; d.Unknown != nil {
		fmt.Fprintf(sum, "%q\n", d.Unknown.Why)
	}
	if d := v.tree.Documents.Known; d != nil {
		fmt.Fprintf(sum, "%d %d %d %d\n", d.Documents, d.Mentions, d.Hold, d.Wrong)
		for _, m := range d.Report.Stale() {
			fmt.Fprintf(sum, "%q %d %q %s %q %v\n", m.File, m.Line, m.Text, m.Verdict, m.To, m.Since)
		}
	}
	if ignored := v.tree.Ignored.Known; ignored != nil {
		fmt.Fprintf(sum, "%v\n", *ignored)
	}
	for _, p := range slices.Sorted(maps.Keys(v.tree.Changes)) {
		fmt.Fprintf(sum, "%q %v\n", p, v.tree.Changes[p])
	}
	if known := v.tree.Survey.Known; known != nil {
		for i := range known.Directories {
			d := &known.Directories[i]
			fmt.Fprintf(sum, "%q %q %q\n", d.Raw, d.Text, d.Author)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// forget drops all boards that are not being built. The server calls it when no stream
// is open.
func (b *boardCache) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.at, func(_ string, s *cachedBoard) bool { return s.busy == nil })
}
