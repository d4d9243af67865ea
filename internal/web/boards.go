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

// A view is a board as it was made, with what it was made from.
type view struct {
	board *board.Board
	tree  *board.Worktree // the one that it is about
	json  []byte
	tag   string // changes when anything that pages show of it does
}

// boards keeps the last board of each worktree that somebody looked at.
type boards struct {
	deps Deps
	ctx  context.Context            // of the server: a board is made for everybody
	tell func(worktree, tag string) // of a first board that is being made

	mu      sync.Mutex
	at      map[string]*shelf
	pulses  map[string]*looks
	running sync.WaitGroup
}

// A shelf is the place of one worktree's board.
type shelf struct {
	last *view
	some *view         // what there is of the first one
	err  error         // why the last attempt brought none
	busy chan struct{} // closed when the one under way is over; nil when none is
	from Pulse         // what last, or err, was made from
}

func newBoards(deps Deps) *boards {
	return &boards{deps: deps, tell: func(string, string) {}, ctx: context.Background(), at: make(map[string]*shelf), pulses: make(map[string]*looks)}
}

// wait returns when nothing is being made any more.
func (b *boards) wait() { b.running.Wait() }

// get returns the board of a worktree as things are now. If making it takes longer
// than patience, it returns what there is, which may be nil, and says that it is late.
func (b *boards) get(ctx context.Context, worktree string, patience time.Duration) (v *view, late bool, err error) {
	waiting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		pulse, err := b.look(waiting, worktree)
		if waiting.Err() != nil {
			return b.soFar(worktree), true, ctx.Err()
		}
		if err != nil {
			return nil, false, err
		}
		v, busy, err := b.ask(worktree, pulse)
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

// ask returns the board that was made from a pulse, or has one made.
func (b *boards) ask(worktree string, pulse Pulse) (v *view, busy chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.at[worktree]
	if s == nil {
		s = &shelf{}
		b.at[worktree] = s
	}
	if s.busy != nil {
		return s.last, s.busy, nil
	}
	if s.from == pulse && (s.last != nil || s.err != nil) {
		err := s.err
		if err != nil {
			s.from = Pulse{} // the next one tries again
		}
		return s.last, nil, err
	}
	s.busy = make(chan struct{})
	b.running.Go(func() { b.make(worktree, s, pulse) })
	return s.last, s.busy, nil
}

func (b *boards) make(worktree string, s *shelf, pulse Pulse) {
	parts := 0
	v, err := b.build(worktree, pulse, func(so *board.Board) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if s.last != nil {
			return // what was true before says more
		}
		parts++
		s.some = &view{board: so, tree: so.Worktree(worktree), tag: fmt.Sprintf("%d-parts-of-%s", parts, digest(pulse.Key))}
		b.tell(worktree, s.some.tag)
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	s.err, s.from = err, pulse
	if s.some = nil; err == nil {
		s.last = v
	}
	close(s.busy)
	s.busy = nil
}

// soFar returns the last board, or what there is of the first.
func (b *boards) soFar(worktree string) *view {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.at[worktree]
	switch {
	case s == nil: // there never was one, or it was forgotten meanwhile
		return nil
	case s.last != nil:
		return s.last
	default:
		return s.some
	}
}

// build makes a board, and goes wrong as [boards.pulse] does.
func (b *boards) build(worktree string, pulse Pulse, tell func(*board.Board)) (v *view, err error) {
	defer saved(&err)
	made, err := b.deps.Board(b.ctx, worktree, tell)
	if err != nil {
		return nil, err
	}
	v = &view{board: made, tree: made.Worktree(worktree)}
	if v.tree == nil {
		return nil, errNoPage
	}
	if v.json, err = json.MarshalIndent(made, "", "  "); err != nil {
		return nil, err
	}
	v.tag = v.mark(pulse)
	return v, nil
}

// mark is over all that pages show: the board, and what they show besides.
func (v *view) mark(pulse Pulse) string {
	sum := sha256.New()
	sum.Write(v.json)
	_, _ = io.WriteString(sum, pulse.Specs+" "+pulse.Texts)
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
func (b *boards) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.at, func(_ string, s *shelf) bool { return s.busy == nil })
}
