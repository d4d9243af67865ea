package term

import (
	"fmt"
	"sync"
	"time"
)

// patience is how long work may take before a person wants to know how far it is.
const patience = 500 * time.Millisecond

// A Progress shows on Err how far some work is, once it takes long enough to be
// felt: on a terminal in one line that is written over, elsewhere, if that was asked
// for, in a plain line now and then. It is safe for concurrent use.
type Progress struct {
	io    *IO
	what  string
	mu    sync.Mutex
	begun time.Time
	shown time.Time
	now   func() time.Time

	waiting chan struct{} // closed by Done; nil without Wait

	every int           // see Lines
	pause time.Duration // 0 for no lines
	told  int           // of how many the last line spoke
}

// Progress begins to watch work, described as in "reading files".
func (o *IO) Progress(what string) *Progress {
	p := &Progress{io: o, what: what, now: time.Now}
	p.begun = p.now()
	return p
}

// Lines prints plain lines if the output is no terminal: one after every so many more are done, unless every is 0, and one
// after each pause.
func (p *Progress) Lines(every int, pause time.Duration) {
	p.every, p.pause, p.shown = every, pause, p.begun
}

// Wait shows the work with the seconds that it has taken, once it takes long enough to be felt:
// for work that does not count its steps. Done ends it.
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
	line := fmt.Sprintf("%s: %d s", p.what, int(p.shown.Sub(p.begun).Seconds()))
	fmt.Fprintf(p.io.Err, "\r\x1b[K%s", p.io.fit(line))
}

// Update says that done of total are done.
func (p *Progress) Update(done, total int) { p.Tell(done, total, "") }

// Tell is Update with a few words more, such as what it has cost, and says how fast it
// goes and how long it will take.
func (p *Progress) Tell(done, total int, more string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	switch {
	case p.io.Live:
		if now.Sub(p.begun) < patience || now.Sub(p.shown) < patience/5 {
			return
		}
	case p.pause == 0:
		return
	case now.Sub(p.shown) < p.pause && (p.every == 0 || done-p.told < p.every):
		return
	}
	p.shown, p.told = now, done
	line := fmt.Sprintf("%s: %d of %d", p.what, done, total)
	if more != "" {
		line += pace(done, total, now.Sub(p.begun)) + ", " + more
	}
	if p.io.Live {
		fmt.Fprintf(p.io.Err, "\r\x1b[K%s", p.io.fit(line))
	} else {
		p.io.Remarkf("ken: %s", line)
	}
}

// fit shortens a line so that it stays on one: a line that goes on below is not written
// over, and one that fills the last column makes some terminals begin another.
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

// pace says how fast work goes, and how long it will go on.
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

// Remarkf erases the progress line and prints a remark. The next step draws the progress line
// again.
func (p *Progress) Remarkf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.io.Live {
		fmt.Fprint(p.io.Err, "\r\x1b[K")
	}
	p.io.Remarkf(format, args...)
}

// Done wipes the line, if one was shown.
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
