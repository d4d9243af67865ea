package web

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ken/internal/board"
	"ken/internal/repo"
)

// A repository whose fp and board are fakeRepo.
type fakeRepo struct {
	mu    sync.Mutex
	fp    string
	made  atomic.Int32
	looks atomic.Int32
	hold  chan struct{} // a board waits for it; nil for none
	err   error
}

func (g *fakeRepo) set(fp string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fp = fp
}

func (g *fakeRepo) deps() Deps {
	return Deps{
		Fingerprint: func(context.Context, string) (Fingerprint, error) {
			g.looks.Add(1)
			g.mu.Lock()
			defer g.mu.Unlock()
			return Fingerprint{Key: g.fp}, nil
		},
		Board: func(_ context.Context, _ string, tell func(*board.Board)) (*board.Board, error) {
			g.made.Add(1)
			if g.hold != nil {
				tell(&board.Board{Repository: "so far", Worktrees: []board.Worktree{{Name: "w"}}})
				<-g.hold
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.err != nil {
				return nil, g.err
			}
			return &board.Board{Repository: g.fp, Worktrees: []board.Worktree{{Name: "w"}}}, nil
		},
	}
}

// A board is made once for what is there, and again when anything has moved.
func TestABoardIsMadeOncePerPulse(t *testing.T) {
	g := &fakeRepo{fp: "1"}
	b := newBoardCache(g.deps())
	for range 3 {
		v, late, err := b.get(t.Context(), "w", time.Minute)
		if err != nil || late || v.board.Repository != "1" {
			t.Fatalf("%+v, %t, %v", v, late, err)
		}
	}
	if n := g.made.Load(); n != 1 {
		t.Errorf("it was made %d times", n)
	}
	g.set("2")
	if v, _, _ := b.get(t.Context(), "w", time.Minute); v.board.Repository != "2" {
		t.Errorf("after a change it is that of %s", v.board.Repository)
	}
}

// Who cannot wait gets what was there before, and is told so; nobody is told of the parts of
// the next one, which say less.
func TestALateBoardIsSaidToBeLate(t *testing.T) {
	g := &fakeRepo{fp: "1"}
	b := newBoardCache(g.deps())
	b.tell = func(_, tag string) { t.Errorf("pages are sent for %s", tag) }
	if _, _, err := b.get(t.Context(), "w", time.Minute); err != nil {
		t.Fatal(err)
	}
	g.hold = make(chan struct{})
	g.set("2")
	v, late, err := b.get(t.Context(), "w", time.Millisecond)
	if err != nil || !late || v.board.Repository != "1" {
		t.Errorf("%+v, %t, %v", v, late, err)
	}
	close(g.hold)
	if v, late, err = b.get(t.Context(), "w", time.Minute); err != nil || late || v.board.Repository != "2" {
		t.Errorf("%+v, %t, %v", v, late, err)
	}
}

// A look that takes long, at a server that thinks, holds up nobody who cannot wait.
func TestALateLookIsSaidToBeLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deps := (&fakeRepo{fp: "1"}).deps()
		look, stall := deps.Fingerprint, make(chan struct{})
		b := newBoardCache(deps)
		if _, _, err := b.get(t.Context(), "w", time.Minute); err != nil {
			t.Fatal(err)
		}
		b.deps.Fingerprint = func(ctx context.Context, worktree string) (Fingerprint, error) {
			<-stall
			return look(ctx, worktree)
		}
		if v, late, err := b.get(t.Context(), "w", time.Second); err != nil || !late || v == nil || v.board.Repository != "1" {
			t.Errorf("%+v, %t, %v", v, late, err)
		}
		close(stall)
		b.wait()
	})
}

// Of the first board those see what there is who cannot wait for all of it.
func TestAFirstBoardIsSeenAsItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &fakeRepo{fp: "1", hold: make(chan struct{})}
		b := newBoardCache(g.deps())
		v, late, err := b.get(t.Context(), "w", time.Second)
		if err != nil || !late || v == nil || v.board.Repository != "so far" {
			t.Fatalf("%+v, %t, %v", v, late, err)
		}
		close(g.hold)
		if v, late, err := b.get(t.Context(), "w", time.Minute); err != nil || late || v.board.Repository != "1" {
			t.Errorf("%+v, %t, %v", v, late, err)
		}
	})
}

// A failure is told, and tried again the next time.
func TestAFailedBoardIsTriedAgain(t *testing.T) {
	g := &fakeRepo{fp: "1", err: errors.New("no")}
	b := newBoardCache(g.deps())
	if _, _, err := b.get(t.Context(), "w", time.Minute); err == nil {
		t.Fatal("a failure is not told")
	}
	g.mu.Lock()
	g.err = nil
	g.mu.Unlock()
	if v, _, err := b.get(t.Context(), "w", time.Minute); err != nil || v == nil {
		t.Errorf("%+v, %v", v, err)
	}
}

// A crowd shares looks, and nobody is fakeRepo one that began before they asked.
func TestACrowdSharesLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var began atomic.Int32
		b := newBoardCache(Deps{Fingerprint: func(context.Context, string) (Fingerprint, error) {
			n := began.Add(1)
			<-release
			return Fingerprint{Key: fmt.Sprint(n)}, nil
		}})
		const crowd = 50
		got := make(chan Fingerprint, 1+crowd)
		ask := func() {
			p, err := b.fingerprint(t.Context(), "w")
			if err != nil {
				t.Error(err)
			}
			got <- p
		}
		go ask()
		synctest.Wait() // its look has begun
		for range crowd {
			go ask()
		}
		synctest.Wait()
		close(release)
		synctest.Wait()
		seen := make(map[string]int)
		for range 1 + crowd {
			seen[(<-got).Key]++
		}
		if seen["1"] != 1 || seen["2"] != crowd {
			t.Errorf("the looks were fakeRepo %v times", seen)
		}
	})
}

// A stream that was slow misses nothing: it gets what is true by then.
func TestASlowStreamGetsTheNewest(t *testing.T) {
	h := newHub()
	s := h.subscribe([]string{"w"})
	defer h.unsubscribe(s)
	<-s.wake
	h.unsent(s)
	for _, tag := range []string{"1", "2", "3"} {
		h.publish("w", tag)
	}
	<-s.wake
	if news := h.unsent(s); len(news) != 1 || news["w"] != "3" {
		t.Errorf("it is told %v", news)
	}
	select {
	case <-s.wake:
		t.Error("it is woken for nothing")
	default:
	}
}

// A stream about several worktrees is told of the one that is another, and of it once.
func TestAStreamIsToldOnce(t *testing.T) {
	h := newHub()
	s := h.subscribe([]string{"v", "w"})
	defer h.unsubscribe(s)
	h.publish("v", "1")
	h.publish("w", "1")
	if news := h.unsent(s); len(news) != 2 {
		t.Errorf("first it is told %v", news)
	}
	h.publish("w", "2")
	if news := h.unsent(s); len(news) != 1 || news["w"] != "2" {
		t.Errorf("then it is told %v", news)
	}
}

// What pages show of a board is in its tag.
func TestATagChangesWithWhatPagesShow(t *testing.T) {
	makeFrom := func(fp Fingerprint, change func(*board.Leaf, *board.Directory)) string {
		b := newBoardCache(Deps{Board: func(context.Context, string, func(*board.Board)) (*board.Board, error) {
			leaf, dir := board.Leaf{Path: "a"}, board.Directory{Raw: "d"}
			change(&leaf, &dir)
			return &board.Board{Worktrees: []board.Worktree{{
				Name: "w", Files: board.Part[board.Files]{Known: &board.Files{Leaves: []board.Leaf{leaf}}},
				Survey: board.Part[board.Survey]{Known: &board.Survey{Directories: []board.Directory{dir}}},
			}}}, nil
		}})
		v, err := b.build("w", fp, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v.tag
	}
	make := func(change func(*board.Leaf, *board.Directory)) string { return makeFrom(Fingerprint{}, change) }
	same := make(func(*board.Leaf, *board.Directory) {})
	if again := make(func(*board.Leaf, *board.Directory) {}); again != same {
		t.Error("the same board has another tag")
	}
	for what, change := range map[string]func(*board.Leaf, *board.Directory){
		"the path of a file":       func(l *board.Leaf, _ *board.Directory) { l.Path = repo.Path("b") },
		"its size":                 func(l *board.Leaf, _ *board.Directory) { l.Size++ },
		"its verdict":              func(l *board.Leaf, _ *board.Directory) { l.Found++ },
		"its summary":              func(l *board.Leaf, _ *board.Directory) { l.Summary++ },
		"its reason":               func(l *board.Leaf, _ *board.Directory) { l.Reason = "x" },
		"the text of a directory":  func(_ *board.Leaf, d *board.Directory) { d.Text = "x" },
		"who wrote of a directory": func(_ *board.Leaf, d *board.Directory) { d.Author = "x" },
	} {
		if make(change) == same {
			t.Errorf("%s is another, and the tag is not", what)
		}
	}
	// The words of specs and summaries, which a board does not have.
	for _, fp := range []Fingerprint{{Specs: "x"}, {Texts: "x"}} {
		if makeFrom(fp, func(*board.Leaf, *board.Directory) {}) == same {
			t.Errorf("the tag does not change with %+v", fp)
		}
	}
}

// Who asks what there is of a first board gets nothing when it was just forgotten.
func TestWhatWasForgottenIsNotThere(t *testing.T) {
	if v := newBoardCache(Deps{}).soFar("w"); v != nil {
		t.Errorf("%+v", v)
	}
}

// A board that is being made is not forgotten: who comes back waits for it.
func TestWhatIsBeingMadeIsNotForgotten(t *testing.T) {
	g := &fakeRepo{fp: "1", hold: make(chan struct{})}
	b := newBoardCache(g.deps())
	for range 2 {
		if _, late, err := b.get(t.Context(), "w", time.Millisecond); err != nil || !late {
			t.Fatal(late, err)
		}
		b.forget()
	}
	close(g.hold)
	b.wait()
	if n := g.made.Load(); n != 1 {
		t.Errorf("it was begun %d times", n)
	}
}

// What there is of two first boards goes by two tags.
func TestPartsOfBoardsAreToldApart(t *testing.T) {
	tags := map[string]bool{}
	for _, fp := range []string{"1", "2"} {
		g := &fakeRepo{fp: fp, hold: make(chan struct{})}
		b := newBoardCache(g.deps())
		told := make(chan string, 10)
		b.tell = func(_, tag string) { told <- tag }
		if _, late, err := b.get(t.Context(), "w", time.Millisecond); err != nil || !late {
			t.Fatal(late, err)
		}
		tags[<-told] = true
		close(g.hold)
		b.wait()
	}
	if len(tags) != 2 {
		t.Errorf("the tags are %v", tags)
	}
}
