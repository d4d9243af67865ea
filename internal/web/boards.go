package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"ken/internal/board"
)

// A boardView is a board as it was made, with what it was made from.
type boardView struct {
	board *board.Board
	tree  *board.Worktree // the one that it is about
	json  []byte
	tag   string // changes when anything that pages show of it does
}

// boardCache keeps the last board of each worktree that somebody looked at.
type boardCache struct {
	deps Deps
	ctx  context.Context            // of the server: a board is made for everybody
	tell func(worktree, tag string) // of a first board that is being made

	mu      sync.Mutex
	at      map[string]*cachedBoard
	calls   map[string]*fingerprintCalls
	running sync.WaitGroup
}

// A cachedBoard is the place of one worktree's board.
type cachedBoard struct {
	last    *boardView
	partial *boardView    // what there is of the first one
	err     error         // why the last attempt brought none
	busy    chan struct{} // closed when the one under way is over; nil when none is
	from    Fingerprint   // what last, or err, was made from
}

func newBoardCache(deps Deps) *boardCache {
	return &boardCache{deps: deps, tell: func(string, string) {}, ctx: context.Background(), at: make(map[string]*cachedBoard), calls: make(map[string]*fingerprintCalls)}
}

// wait returns when nothing is being made any more.
func (b *boardCache) wait() { b.running.Wait() }

// get returns the board of a worktree as things are now. If making it takes longer
// than patience, it returns what there is, which may be nil, and says that it is late.
func (b *boardCache) get(ctx context.Context, worktree string, patience time.Duration) (v *boardView, late bool, err error) {
	waiting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		fp, err := b.fingerprint(waiting, worktree)
		if waiting.Err() != nil {
			return b.soFar(worktree), true, ctx.Err()
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
			return b.soFar(worktree), true, ctx.Err()
		}
	}
}

// ask returns the board that was made from a fp, or has one made.
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
			s.from = Fingerprint{} // the next one tries again
		}
		return s.last, nil, err
	}
	s.busy = make(chan struct{})
	b.running.Go(func() { b.make(worktree, s, fp) })
	return s.last, s.busy, nil
}

func (b *boardCache) make(worktree string, s *cachedBoard, fp Fingerprint) {
	parts := 0
	v, err := b.build(worktree, fp, func(so *board.Board) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if s.last != nil {
			return // what was true before says more
		}
		parts++
		s.partial = &boardView{board: so, tree: so.Worktree(worktree), tag: fmt.Sprintf("%d-parts-of-%s", parts, digest(fp.Key))}
		b.tell(worktree, s.partial.tag)
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

// soFar returns the last board, or what there is of the first.
func (b *boardCache) soFar(worktree string) *boardView {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.at[worktree]
	switch {
	case s == nil: // there never was one, or it was forgotten meanwhile
		return nil
	case s.last != nil:
		return s.last
	default:
		return s.partial
	}
}

// build makes a board, and goes wrong as [boards.fp] does.
func (b *boardCache) build(worktree string, fp Fingerprint, tell func(*board.Board)) (v *boardView, err error) {
	defer recoverInto(&err)
	made, err := b.deps.Board(b.ctx, worktree, tell)
	if err != nil {
		return nil, err
	}
	v = &boardView{board: made, tree: made.Worktree(worktree)}
	if v.tree == nil {
		return nil, errNoPage
	}
	if v.json, err = json.MarshalIndent(made, "", "  "); err != nil {
		return nil, err
	}
	v.tag = v.mark(fp)
	return v, nil
}

// mark is over all that pages show: the board, and what they show besides.
func (v *boardView) mark(fp Fingerprint) string {
	sum := sha256.New()
	sum.Write(v.json)
	_, _ = io.WriteString(sum, fp.Specs+" "+fp.Texts)
	if f := v.tree.Files.Known; f != nil {
		for _, l := range f.Leaves {
			fmt.Fprintf(sum, "%q %d %d %d %s %q\n", l.Path, l.Size, l.Found, l.Summary, l.Grade, l.Reason)
		}
	}
	if known := v.tree.Survey.Known; known != nil {
		for i := range known.Directories {
			d := &known.Directories[i]
			fmt.Fprintf(sum, "%q %q %q\n", d.Raw, d.Text, d.Author)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// forget lets go of all boards, once nobody looks any more.
func (b *boardCache) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.at, func(_ string, s *cachedBoard) bool { return s.busy == nil })
}
