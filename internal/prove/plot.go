package prove

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"unicode"
)

// Plot writes the history of a report as SVG: the changes of each commit, and the summaries that it made stale.
// The image suits light and dark pages.
func Plot(w io.Writer, r *Report) error {
	p := &plot{Writer: bufio.NewWriter(w), report: r, bars: bars(r.History)}
	p.frame()
	if len(p.bars) > 0 {
		p.commits()
	} else {
		p.text(plotWidth/2, plotHeight/2, "middle", "", "no commits to draw")
	}
	p.printf("</svg>\n")
	return p.Flush()
}

// The dimensions of the image.
const (
	plotWidth, plotHeight = 960, 370
	plotLeft, plotRight   = 80, 940
	barsTop, barsBottom   = 108, 300
	mostBars              = 240
)

// A bar is one commit, or several if there are too many.
type bar struct {
	commits int
	unknown int // the number of unknown ones
	label   string
	parts   [6]int64 // in the order of barParts
}

var barParts = [6]struct{ class, name string }{
	{"format", "format"},
	{"body", "body"},
	{"interface", "interface"},
	{"content", "content"},
	{"self", "directories whose files changed"},
	{"below", "directories above them, at most"},
}

func (b *bar) height() int64 {
	var n int64
	for _, part := range b.parts {
		n += part
	}
	return n
}

// bars combines commits into at most mostBars bars.
func bars(history []Outcome) []bar {
	each := max(1, (len(history)+mostBars-1)/mostBars)
	var list []bar
	for group := range slices.Chunk(history, each) {
		b := bar{commits: len(group)}
		for i := range group {
			o := &group[i]
			if o.Unknown {
				b.unknown++
				continue
			}
			for k, n := range []int{o.Grades.Format, o.Grades.Body, o.Grades.Interface, o.Grades.Content, o.StaleSelf, o.StaleBelow} {
				b.parts[k] += int64(n)
			}
		}
		b.label = group[0].Commit.Short() + " " + group[0].Subject
		if each > 1 {
			b.label = group[0].Commit.Short() + " to " + group[len(group)-1].Commit.Short()
		}
		list = append(list, b)
	}
	return list
}

type plot struct {
	*bufio.Writer
	report *Report
	bars   []bar
}

func (p *plot) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) } // Flush returns the error

const plotStyle = `text{font:12px system-ui,sans-serif;fill:#333}
.title{font-size:16px;font-weight:600}.head{font-weight:600}.note{fill:#666}
.grid{stroke:#ddd}.axis{stroke:#888}.page{fill:#fff}
.format{fill:#bbb}.body{fill:#56b4e9}.interface{fill:#e69f00}.content{fill:#d55e00}.self{fill:#009e73}.below{fill:#9fd8c6}.unknown{fill:#f3e0f0}
@media(prefers-color-scheme:dark){text{fill:#ddd}.note{fill:#aaa}.grid{stroke:#3a3a3a}.axis{stroke:#888}.page{fill:#161616}
.format{fill:#777}.below{fill:#2f6b59}.unknown{fill:#3b2a38}}
`

// frame draws everything that does not depend on the figures.
func (p *plot) frame() {
	c := p.report.Commits
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		plotWidth, plotHeight, plotWidth, plotHeight)
	title := fmt.Sprintf("What %d commits made stale", c.Replayed)
	if c.Replayed == 1 {
		title = "What one commit made stale"
	}
	p.printf("<title>%s</title>\n<style>%s</style>\n", escape(title), plotStyle)
	p.printf(`<rect class="page" width="%d" height="%d"/>`+"\n", plotWidth, plotHeight)
	p.text(plotLeft, 28, "start", "title", title)
	note := fmt.Sprintf("%d of them made nothing stale", c.Valid)
	if c.Unknown > 0 {
		note += fmt.Sprintf("; %d more are unknown: git lacks contents", c.Unknown)
	}
	if c.Cut {
		note += "; a shallow clone has no older commits"
	}
	p.text(plotLeft, 48, "start", "note", note)
}

// commits draws the bars of the commits.
func (p *plot) commits() {
	each := p.bars[0].commits
	head := "Changed files by grade, and stale directories, for each commit"
	if each > 1 {
		head = fmt.Sprintf("Changed files by grade, and stale directories, for every %d commits", each)
	}
	p.text(plotLeft, barsTop-26, "start", "head", head)
	heights := make([]int64, len(p.bars))
	for i := range p.bars {
		heights[i] = p.bars[i].height()
	}
	top := ceiling(heights)
	y := p.axis(barsTop, barsBottom, top)
	wide := float64(plotRight-plotLeft) / float64(len(p.bars))
	lastCut := -1000.0
	for i := range p.bars {
		b := &p.bars[i]
		x := plotLeft + float64(i)*wide
		if b.height() == 0 && b.unknown == 0 {
			continue
		}
		p.printf("<g><title>%s</title>", escape(b.label))
		if b.unknown > 0 {
			p.printf(`<rect class="unknown" x="%.1f" y="%d" width="%.2f" height="%d"/>`, x, barsTop, wide, barsBottom-barsTop)
		}
		var below int64
		for k, part := range b.parts {
			from, to := min(below, top), min(below+part, top)
			below += part
			if to > from {
				p.printf(`<rect class="%s" x="%.1f" y="%.1f" width="%.2f" height="%.1f"/>`, barParts[k].class, x, y(to), max(wide*0.85, 0.5), y(from)-y(to))
			}
		}
		p.printf("</g>\n")
		if below > top && x-lastCut > 30 {
			p.text(x+wide/2, barsTop-4, "middle", "note", "↑"+short(below))
			lastCut = x
		}
	}
	x := plotLeft
	for _, part := range barParts {
		p.printf(`<rect class="%s" x="%d" y="%d" width="10" height="10"/>`, part.class, x, barsBottom+16)
		p.text(float64(x+15), barsBottom+25, "start", "", part.name)
		x += 40 + 7*len(part.name)
	}
	p.ends(barsBottom + 48)
}

// ends draws labels for the first and the last commit.
func (p *plot) ends(y int) {
	c := p.report.Commits
	p.text(plotLeft, float64(y), "start", "note", "oldest: "+c.First.Short())
	p.text(plotRight, float64(y), "end", "note", "newest: "+c.Last.Short())
}

// axis draws the grid lines from 0 to top, and returns the position of a figure.
func (p *plot) axis(high, low int, top int64) func(int64) float64 {
	y := func(n int64) float64 { return float64(low) - float64(n)/float64(top)*float64(low-high) }
	step := tick(top)
	for n := int64(0); n <= top; n += step {
		class := "grid"
		if n == 0 {
			class = "axis"
		}
		p.printf(`<path class="%s" d="M%d %.1fH%d"/>`, class, plotLeft, y(n), plotRight)
		p.text(plotLeft-8, y(n)+4, "end", "", short(n))
	}
	return y
}

func (p *plot) text(x, y float64, anchor, class, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	p.printf(`<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, class, escape(text))
}

// tick returns a round number that fits a few times into top.
func tick(top int64) int64 {
	step := int64(1)
	for {
		for _, by := range []int64{1, 2, 5} {
			if top/(step*by) <= 5 {
				return step * by
			}
		}
		step *= 10
	}
}

// ceiling returns the height of the chart: the highest bar, unless a few bars are so high that the others would
// not be visible.
func ceiling(heights []int64) int64 {
	sorted := slices.SortedFunc(slices.Values(heights), cmp.Compare[int64])
	most := max(1, sorted[len(sorted)-1])
	usual := max(1, sorted[(len(sorted)*95+99)/100-1])
	if most <= 2*usual {
		return most
	}
	return usual + usual/4 + 1
}

// short returns a number, rounded to a few characters.
func short(n int64) string {
	for _, unit := range []struct {
		of   int64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		switch {
		case n >= 10*unit.of:
			return fmt.Sprintf("%d%s", (n+unit.of/2)/unit.of, unit.name)
		case n >= unit.of && unit.of > 1e3:
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.of)), ".0") + unit.name
		}
	}
	return fmt.Sprint(n)
}

// escape returns a text that is valid in XML, for any commit subject.
func escape(s string) string {
	return html.EscapeString(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == 0xFFFE || c == 0xFFFF {
			return '\uFFFD'
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD")))
}
