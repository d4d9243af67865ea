package term

import (
	"fmt"
	"sync"
	"time"
)

// patience is the time after which progress is shown.
const patience = 500 * time.Millisecond

// A Progress shows on Err how much of some work is done, if the work takes longer than patience. On a terminal it
// overwrites one line; elsewhere it prints plain lines, if Lines was called. It is safe for concurrent use.
type Progress struct {
	io      *IO
	what    string
	mu      sync.Mutex
	started time.Time
	shown   time.Time
	now     func() time.Time

	waiting chan struct{} // closed by Done; nil without Wait

	every    int           // see Lines
	pause    time.Duration // 0 for no lines
	lastDone int           // the count in the last line
}

// Progress starts to show work, which what describes: "reading files".
func (o *IO) Progress(what string) *Progress {
	p := &Progress{io: o, what: what, now: time.Now}
	p.started = p.now()
	return p
}

// Lines prints plain lines if the output is not a terminal: one after each pause, and one after every so many steps unless
// every is 0.
func (p *Progress) Lines(every int, pause time.Duration) {
	p.every, p.pause, p.shown = every, pause, p.started
}

// Wait shows the elapsed seconds, for work that does not count its steps. Done ends it.
func (p *Progress) Wait() {
	if !p.io.Live || p.waiting != nil {
		return
	}
	done := make(chan struct{})
	p.waiting = done
	go func() {
		tick := time.NewTicker(patience)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				p.showWaiting()
			}
		}
	}()
}

func (p *Progress) showWaiting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == nil {
		return
	}
	p.shown = p.now()
	line := fmt.Sprintf("%s: %d s", p.what, int(p.shown.Sub(p.started).Seconds()))
	fmt.Fprintf(p.io.Err, "\r\x1b[K%s", p.io.fit(line))
}

// Update shows that done of total steps are done.
func (p *Progress) Update(done, total int) { p.UpdateWith(done, total, "") }

// UpdateWith is Update with more words, such as the cost so far. It also shows the speed and the remaining time.
func (p *Progress) UpdateWith(done, total int, more string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	switch {
	case p.io.Live:
		if now.Sub(p.started) < patience || now.Sub(p.shown) < patience/5 {
			return
		}
	case p.pause == 0:
		return
	case now.Sub(p.shown) < p.pause && (p.every == 0 || done-p.lastDone < p.every):
		return
	}
	p.shown, p.lastDone = now, done
	line := fmt.Sprintf("%s: %d of %d", p.what, done, total)
	if more != "" {
		line += pace(done, total, now.Sub(p.started)) + ", " + more
	}
	if p.io.Live {
		fmt.Fprintf(p.io.Err, "\r\x1b[K%s", p.io.fit(line))
	} else {
		p.io.Remarkf("ken: %s", line)
	}
}

// fit shortens a line to the width of the terminal, because a wrapped line cannot be overwritten. It leaves the last
// column free, since some terminals wrap when it is filled.
func (o *IO) fit(line string) string {
	if o.Width == nil {
		return line
	}
	width := o.Width()
	letters := []rune(line)
	if width <= 0 || len(letters) < width {
		return line
	}
	if width < 3 {
		return ""
	}
	return string(letters[:width-2]) + "…"
}

// pace returns the speed of the work and the remaining time.
func pace(done, total int, took time.Duration) string {
	if done == 0 || took <= 0 {
		return ""
	}
	each := took / time.Duration(done)
	rate := fmt.Sprintf("%.1f a second", float64(time.Second)/float64(each))
	if each > time.Second {
		rate = fmt.Sprintf("%.1f a minute", float64(time.Minute)/float64(each))
	}
	left := each * time.Duration(total-done)
	if left < time.Second {
		return ", " + rate
	}
	return fmt.Sprintf(", %s, about %s left", rate, left.Round(time.Second))
}

// Remarkf erases the progress line and prints a remark. The next update draws the progress line again.
func (p *Progress) Remarkf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.io.Live {
		fmt.Fprint(p.io.Err, "\r\x1b[K")
	}
	p.io.Remarkf(format, args...)
}

// Done erases the progress line.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting != nil {
		close(p.waiting)
		p.waiting = nil
	}
	if p.io.Live && !p.shown.IsZero() {
		fmt.Fprint(p.io.Err, "\r\x1b[K")
		p.shown = time.Time{}
	}
}
