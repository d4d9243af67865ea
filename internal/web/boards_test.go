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

// A fakeRepo returns the fingerprint and the board that a test sets.
type fakeRepo struct {
	mu    sync.Mutex
	fp    string
	made  atomic.Int32
	looks atomic.Int32
	hold  chan struct{} // a board waits for it; nil for none
	err   error
}

func (f *fakeRepo) set(fp string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fp = fp
}

func (f *fakeRepo) deps() Deps {
	return Deps{
		Fingerprint: func(context.Context) (Fingerprint, error) {
			f.looks.Add(1)
			f.mu.Lock()
			defer f.mu.Unlock()
			return Fingerprint(f.fp), nil
		},
		Board: func(_ context.Context, _ string, onPart func(*board.Board)) (*board.Board, error) {
			f.made.Add(1)
			if f.hold != nil {
				onPart(&board.Board{Repository: "so far", Worktrees: []board.Worktree{{Name: "w"}}})
				<-f.hold
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.err != nil {
				return nil, f.err
			}
			return &board.Board{Repository: f.fp, Worktrees: []board.Worktree{{Name: "w"}}}, nil
		},
	}
}

// The cache builds a board once per fingerprint.
func TestBoardIsBuiltOncePerFingerprint(t *testing.T) {
	g := &fakeRepo{fp: "1"}
	b := newBoardCache(g.deps())
	for range 3 {
		v, late, err := b.get(t.Context(), "w", time.Minute)
		if err != nil || late || v.board.Repository != "1" {
			t.Fatalf("get returned %+v, late %t, error %v", v, late, err)
		}
	}
	if n := g.made.Load(); n != 1 {
		t.Errorf("the board was built %d times, want 1", n)
	}
	g.set("2")
	if v, _, _ := b.get(t.Context(), "w", time.Minute); v.board.Repository != "2" {
		t.Errorf("after a change get returned the board of %s", v.board.Repository)
	}
}

// While a build is running, get returns the previous board and late. It publishes no
// parts of the new one, which say less.
func TestSlowBuildReturnsPreviousBoard(t *testing.T) {
	g := &fakeRepo{fp: "1"}
	b := newBoardCache(g.deps())
	b.onPart = func(_, tag string) { t.Errorf("published the unfinished board %s; the previous one says more", tag) }
	if _, _, err := b.get(t.Context(), "w", time.Minute); err != nil {
		t.Fatal(err)
	}
	g.hold = make(chan struct{})
	g.set("2")
	v, late, err := b.get(t.Context(), "w", time.Millisecond)
	if err != nil || !late || v.board.Repository != "1" {
		t.Errorf("get returned %+v, late %t, error %v", v, late, err)
	}
	close(g.hold)
	if v, late, err = b.get(t.Context(), "w", time.Minute); err != nil || late || v.board.Repository != "2" {
		t.Errorf("get returned %+v, late %t, error %v", v, late, err)
	}
}

// While a fingerprint is being taken, get returns the previous board and late.
func TestSlowFingerprintReturnsPreviousBoard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deps := (&fakeRepo{fp: "1"}).deps()
		look, stall := deps.Fingerprint, make(chan struct{})
		b := newBoardCache(deps)
		if _, _, err := b.get(t.Context(), "w", time.Minute); err != nil {
			t.Fatal(err)
		}
		b.deps.Fingerprint = func(ctx context.Context) (Fingerprint, error) {
			<-stall
			return look(ctx)
		}
		if v, late, err := b.get(t.Context(), "w", time.Second); err != nil || !late || v == nil || v.board.Repository != "1" {
			t.Errorf("get returned %+v, late %t, error %v", v, late, err)
		}
		close(stall)
		b.wait()
	})
}

// While the first build is running, get returns the unfinished board.
func TestUnfinishedFirstBoardIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &fakeRepo{fp: "1", hold: make(chan struct{})}
		b := newBoardCache(g.deps())
		v, late, err := b.get(t.Context(), "w", time.Second)
		if err != nil || !late || v == nil || v.board.Repository != "so far" {
			t.Fatalf("get returned %+v, late %t, error %v", v, late, err)
		}
		close(g.hold)
		if v, late, err := b.get(t.Context(), "w", time.Minute); err != nil || late || v.board.Repository != "1" {
			t.Errorf("get returned %+v, late %t, error %v", v, late, err)
		}
	})
}

// get returns the error of a failed build, and the next call builds again.
func TestFailedBuildIsRepeated(t *testing.T) {
	g := &fakeRepo{fp: "1", err: errors.New("no")}
	b := newBoardCache(g.deps())
	if _, _, err := b.get(t.Context(), "w", time.Minute); err == nil {
		t.Fatal("get returned no error for a failed build")
	}
	g.mu.Lock()
	g.err = nil
	g.mu.Unlock()
	if v, _, err := b.get(t.Context(), "w", time.Minute); err != nil || v == nil {
		t.Errorf("get returned %+v, error %v", v, err)
	}
}

// Simultaneous requests share a fingerprint that was taken after they arrived.
func TestSimultaneousRequestsShareFingerprints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var began atomic.Int32
		b := newBoardCache(Deps{Fingerprint: func(context.Context) (Fingerprint, error) {
			n := began.Add(1)
			<-release
			return Fingerprint(fmt.Sprint(n)), nil
		}})
		const crowd = 50
		got := make(chan Fingerprint, 1+crowd)
		ask := func() {
			p, err := b.fingerprint(t.Context())
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
			seen[string(<-got)]++
		}
		if seen["1"] != 1 || seen["2"] != crowd {
			t.Errorf("requests got the fingerprints %v times, want 1 for the first and all others for the second", seen)
		}
	})
}

// A slow stream gets the newest tag.
func TestSlowStreamGetsNewestTag(t *testing.T) {
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
		t.Errorf("unsent tags are %v, want only w: 3", news)
	}
	select {
	case <-s.wake:
		t.Error("the stream was woken without an unsent tag")
	default:
	}
}

// A stream for several worktrees gets each new tag once.
func TestStreamGetsEachTagOnce(t *testing.T) {
	h := newHub()
	s := h.subscribe([]string{"v", "w"})
	defer h.unsubscribe(s)
	h.publish("v", "1")
	h.publish("w", "1")
	if news := h.unsent(s); len(news) != 2 {
		t.Errorf("first unsent tags are %v, want 2", news)
	}
	h.publish("w", "2")
	if news := h.unsent(s); len(news) != 1 || news["w"] != "2" {
		t.Errorf("then unsent tags are %v, want only w: 2", news)
	}
}

// The tag of a board changes when anything that pages show changes.
func TestTagCoversEverythingShown(t *testing.T) {
	makeFrom := func(fp Fingerprint, change func(*board.MapFile, *board.Directory)) string {
		b := newBoardCache(Deps{Board: func(context.Context, string, func(*board.Board)) (*board.Board, error) {
			leaf, dir := board.MapFile{Path: "a"}, board.Directory{Raw: "d"}
			change(&leaf, &dir)
			return &board.Board{Worktrees: []board.Worktree{{
				Name: "w", Files: board.Part[board.Files]{Known: &board.Files{MapFiles: []board.MapFile{leaf}}},
				Survey: board.Part[board.Survey]{Known: &board.Survey{Directories: []board.Directory{dir}}},
			}}}, nil
		}})
		v, err := b.build("w", fp, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v.tag
	}
	make := func(change func(*board.MapFile, *board.Directory)) string { return makeFrom("", change) }
	same := make(func(*board.MapFile, *board.Directory) {})
	if again := make(func(*board.MapFile, *board.Directory) {}); again != same {
		t.Error("the same board has two different tags")
	}
	for what, change := range map[string]func(*board.MapFile, *board.Directory){
		"the path of a file":       func(l *board.MapFile, _ *board.Directory) { l.Path = repo.Path("b") },
		"its size":                 func(l *board.MapFile, _ *board.Directory) { l.Size++ },
		"its verdict":              func(l *board.MapFile, _ *board.Directory) { l.Content.State++ },
		"its summary":              func(l *board.MapFile, _ *board.Directory) { l.Summary++ },
		"its reason":               func(l *board.MapFile, _ *board.Directory) { l.Reason = "x" },
		"the text of a directory":  func(_ *board.MapFile, d *board.Directory) { d.Text = "x" },
		"who wrote of a directory": func(_ *board.MapFile, d *board.Directory) { d.Author = "x" },
	} {
		if make(change) == same {
			t.Errorf("%s changed, but the tag did not", what)
		}
	}
	// The words of specs and summaries and the contents of files, which a board does not have.
	if makeFrom("x", func(*board.MapFile, *board.Directory) {}) == same {
		t.Error("the tag does not change with the fingerprint")
	}
}

// newest returns nil for a worktree that is not in the cache.
func TestNewestWithoutBoardIsNil(t *testing.T) {
	if v := newBoardCache(Deps{}).newest("w"); v != nil {
		t.Errorf("newest returned %+v; want nil", v)
	}
}

// forget keeps a board that is being built.
func TestForgetKeepsRunningBuilds(t *testing.T) {
	g := &fakeRepo{fp: "1", hold: make(chan struct{})}
	b := newBoardCache(g.deps())
	for range 2 {
		if _, late, err := b.get(t.Context(), "w", time.Millisecond); err != nil || !late {
			t.Fatalf("get returned late %t, %v; want late without an error", late, err)
		}
		b.forget()
	}
	close(g.hold)
	b.wait()
	if n := g.made.Load(); n != 1 {
		t.Errorf("the build started %d times, want 1", n)
	}
}

// Unfinished boards of different fingerprints have different tags.
func TestUnfinishedBoardsHaveDifferentTags(t *testing.T) {
	tags := map[string]bool{}
	for _, fp := range []string{"1", "2"} {
		g := &fakeRepo{fp: fp, hold: make(chan struct{})}
		b := newBoardCache(g.deps())
		published := make(chan string, 10)
		b.onPart = func(_, tag string) { published <- tag }
		if _, late, err := b.get(t.Context(), "w", time.Millisecond); err != nil || !late {
			t.Fatalf("get returned late %t, %v; want late without an error", late, err)
		}
		tags[<-published] = true
		close(g.hold)
		b.wait()
	}
	if len(tags) != 2 {
		t.Errorf("the tags are %v, want two different ones", tags)
	}
}
