package term

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// watch simulates work of 40 steps, a second each, and returns the output.
func watch(live bool, every int, pause time.Duration) string {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	p := (&IO{Err: &out, Live: live}).Progress("describing")
	p.now, p.started = func() time.Time { return clock }, clock
	if pause > 0 {
		p.Lines(every, pause)
	}
	for i := 1; i <= 40; i++ {
		clock = clock.Add(time.Second)
		p.UpdateWith(i, 40, "$0.01")
	}
	p.Done()
	return out.String()
}

func TestProgress(t *testing.T) {
	if got := watch(false, 0, 0); got != "" {
		t.Errorf("output without Lines: %q, want none", got)
	}
	// A line after every ten steps or after the pause, whichever comes first.
	for _, tt := range []struct {
		every int
		pause time.Duration
		lines int
	}{{10, time.Hour, 4}, {10, 5 * time.Second, 8}, {0, 10 * time.Second, 4}} {
		got := watch(false, tt.every, tt.pause)
		if strings.Count(got, "\n") != tt.lines || strings.ContainsAny(got, "\r\x1b") {
			t.Errorf("every %d steps or %v: got %q, want %d lines", tt.every, tt.pause, got, tt.lines)
		}
	}
	live := watch(true, 10, time.Hour)
	if strings.Count(live, "\r\x1b[K") != 41 || strings.Contains(live, "\n") || !strings.HasSuffix(live, "\r\x1b[K") {
		t.Errorf("on a terminal: %q", live)
	}
	for _, part := range []string{"10 of 40", "1.0 a second", "30s left", "$0.01"} {
		if !strings.Contains(live, part) {
			t.Errorf("the output on a terminal does not contain %q: %q", part, live)
		}
	}
}

// The progress line fits on one line, also after the terminal became narrower.
func TestProgressFits(t *testing.T) {
	var out bytes.Buffer
	clock, width := time.Unix(0, 0), 0
	p := (&IO{Err: &out, Live: true, Width: func() int { return width }}).Progress("describing the directories")
	p.now, p.started = func() time.Time { return clock }, clock
	for _, tt := range []struct {
		width int
		want  string
	}{
		{0, "describing the directories: 1 of 2, 1.0 a second, about 1s left, $0.01"},
		{200, "describing the directories: 1 of 2, 30.0 a minute, about 2s left, $0.01"},
		{36, "describing the directories: 1 of 2…"},
		{20, "describing the dir…"},
		{3, "d…"},
		{2, ""},
	} {
		width = tt.width
		clock = clock.Add(time.Second)
		out.Reset()
		p.UpdateWith(1, 2, "$0.01")
		if got := strings.TrimPrefix(out.String(), "\r\x1b[K"); got != tt.want {
			t.Errorf("%d columns: %q, want %q", width, got, tt.want)
		}
	}
}

// Wait shows the elapsed time on a terminal only, and nothing after Done.
func TestProgressWait(t *testing.T) {
	for _, live := range []bool{true, false} {
		var out bytes.Buffer
		clock := time.Unix(0, 0)
		p := (&IO{Err: &out, Live: live}).Progress("reading documents")
		p.now, p.started = func() time.Time { return clock }, clock
		if live {
			p.waiting = make(chan struct{}) // as Wait sets it, without its ticker
		} else {
			p.Wait()
		}
		clock = clock.Add(3 * time.Second)
		p.showWaiting()
		p.Done()
		p.showWaiting()
		want := ""
		if live {
			want = "\r\x1b[Kreading documents: 3 s\r\x1b[K"
		}
		if out.String() != want {
			t.Errorf("live %v: %q, want %q", live, out.String(), want)
		}
	}
}
