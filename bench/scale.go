package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"ken/bench/scale"
)

// The parts of docs/scale.md. They are no rows of the table, and run only when they are
// asked for by name: -run scale, or one of them, as in -run 'scale, simulated'.
const (
	scaleMeasured = "scale, measured"
	scaleComputed = "scale, computed"
	scalePlayed   = "scale, simulated"
)

// scaleWorks writes the tables of docs/scale.md.
func (b *bench) scaleWorks(ctx context.Context, w io.Writer) error {
	a, m := scale.Defaults(), scale.Last
	if b.assume != "" {
		if err := a.Set(b.assume); err != nil {
			return err
		}
	}
	if b.anyOf(scaleMeasured) {
		var err error
		if m, err = b.measureScale(ctx, w); err != nil {
			return err
		}
	}
	if b.anyOf(scaleComputed) {
		printAssumptions(w, a)
		printNumbers(w, a, m)
		printSensitivity(w, a, m)
	}
	if b.anyOf(scalePlayed) {
		printPlayed(w, a, m)
	}
	return nil
}

// A grid is a table that is both aligned and Markdown.
type grid struct{ *tabwriter.Writer }

func newGrid(w io.Writer, title string, head ...string) grid {
	fmt.Fprintf(w, "\n%s\n\n", title)
	g := grid{tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)}
	g.line(head...)
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---"
	}
	g.line(rule...)
	return g
}

func (g grid) line(cells ...string) { fmt.Fprintf(g, "| %s\t|\n", strings.Join(cells, "\t| ")) }

func (g grid) end() { _ = g.Flush() } // what is printed to a screen that is gone is nobody's

func printAssumptions(w io.Writer, a scale.Assumptions) {
	g := newGrid(w, "Assumed", "key", "what", "value", "could be", "from")
	for _, f := range a.Fields() {
		could := ""
		if f.Low < f.High {
			could = number(f.Low) + " to " + number(f.High)
		}
		g.line("`"+f.Key+"`", f.What, number(*f.Value), could, f.Source)
	}
	g.end()
}

// figures are what is printed of the numbers.
var figures = []struct {
	what string
	of   func(scale.Numbers) float64
	as   func(float64) string
}{
	{"files of the middle repository", func(n scale.Numbers) float64 { return n.Median }, number},
	{"files of the largest", func(n scale.Numbers) float64 { return n.Largest }, number},
	{"directories", func(n scale.Numbers) float64 { return n.Directories }, number},
	{"rows of a work tree, mean", func(n scale.Numbers) float64 { return n.CloneFiles }, number},
	{"**rows**", func(n scale.Numbers) float64 { return n.Rows }, number},
	{"bytes of rows", func(n scale.Numbers) float64 { return n.RowBytes }, bulk},
	{"**records** after the first survey", func(n scale.Numbers) float64 { return n.Records }, number},
	{"bytes of records", func(n scale.Numbers) float64 { return n.RecordBytes }, bulk},
	{"new records a day", func(n scale.Numbers) float64 { return n.NewRecords }, number},
	{"growth a day", func(n scale.Numbers) float64 { return n.NewBytes }, bulk},
	{"growth a year of 250 days", func(n scale.Numbers) float64 { return 250 * n.NewBytes }, bulk},
	{"rows rewritten a day", func(n scale.Numbers) float64 { return n.RowWrites }, number},
	{"**WAL a day**", func(n scale.Numbers) float64 { return n.WAL }, bulk},
	{"**syncs a second, peak**, each with a connection", func(n scale.Numbers) float64 { return n.SyncPeak }, number},
	{"of these at a time", func(n scale.Numbers) float64 { return n.Connections }, number},
	{"connections that workers keep", func(n scale.Numbers) float64 { return n.Kept }, number},
	{"directories a day", func(n scale.Numbers) float64 { return n.Jobs }, number},
	{"of these asked about", func(n scale.Numbers) float64 { return n.Calls }, number},
	{"asked a second, mean", func(n scale.Numbers) float64 { return n.Calls / 86400 }, number},
	{"asked a second, peak", func(n scale.Numbers) float64 { return n.CallPeak }, number},
	{"**workers' slots**", func(n scale.Numbers) float64 { return n.Slots }, number},
	{"tokens a day", func(n scale.Numbers) float64 { return n.Tokens }, number},
	{"**dollars a day**", func(n scale.Numbers) float64 { return n.Dollars }, dollars},
	{"tokens of the first survey", func(n scale.Numbers) float64 { return n.SurveyTokens }, number},
	{"**dollars of the first survey**", func(n scale.Numbers) float64 { return n.SurveyDollars }, dollars},
	{"asked a second, in it", func(n scale.Numbers) float64 { return n.SurveyCalls }, number},
	{"slots for it", func(n scale.Numbers) float64 { return n.SurveySlots }, number},
	{"WAL of it, in all", func(n scale.Numbers) float64 { return n.SurveyWAL }, bulk},
	{"ref of the middle repository", func(n scale.Numbers) float64 { return n.RefMedian }, bulk},
	{"ref of the largest", func(n scale.Numbers) float64 { return n.RefLargest }, bulk},
}

func printNumbers(w io.Writer, a scale.Assumptions, m scale.Measured) {
	list := scale.Scenarios(a)
	head := []string{"what"}
	var numbers []scale.Numbers
	for _, s := range list {
		head = append(head, s.Name)
		numbers = append(numbers, scale.Compute(s.Assumptions, m))
	}
	g := newGrid(w, "Computed", head...)
	for _, f := range figures {
		cells := []string{f.what}
		for _, n := range numbers {
			cells = append(cells, f.as(f.of(n)))
		}
		g.line(cells...)
	}
	g.end()
}

func printSensitivity(w io.Writer, a scale.Assumptions, m scale.Measured) {
	g := newGrid(w, "If one assumption is off", "figure", "assumption", "low", "high", "figure becomes")
	for _, f := range []struct {
		what string
		of   func(scale.Numbers) float64
	}{
		{"bytes in the base", func(n scale.Numbers) float64 { return n.RowBytes + n.RecordBytes }},
		{"WAL a day", func(n scale.Numbers) float64 { return n.WAL }},
		{"slots", func(n scale.Numbers) float64 { return n.Slots }},
		{"dollars a day", func(n scale.Numbers) float64 { return n.Dollars }},
		{"dollars of the first survey", func(n scale.Numbers) float64 { return n.SurveyDollars }},
	} {
		for _, s := range scale.Sensitivity(a, m, f.of)[:3] {
			g.line(f.what, "`"+s.Key+"`", number(s.Low), number(s.High), fmt.Sprintf("%.2f to %.2f times", s.AtLow, s.AtHigh))
		}
	}
	g.end()
}

// What is played in docs/scale.md: five days, or as many as have so many commits.
const (
	playedDays    = 5
	playedCommits = 50_000
	playedSeed    = 1
)

func printPlayed(w io.Writer, a scale.Assumptions, m scale.Measured) {
	g := newGrid(w, "Simulated, from the commit until everything is fresh",
		"scenario", "days", "slots", "commits", "asked", "computed", "busiest hour", "computed", "p50", "p95", "p99", "worst repository, p95", "quiet ones, p95", "most waiting")
	for _, s := range scale.Scenarios(a)[1:] {
		n := scale.Compute(s.Assumptions, m)
		days := max(1, min(playedDays, int(playedCommits/(s.Developers*s.Commits))))
		for _, share := range []float64{1, 0.6, 0.35} {
			slots := max(1, int(math.Round(share*n.Slots)))
			start := time.Now()
			p := scale.Simulate(s.Assumptions, scale.Days{Days: days, Slots: slots, Seed: playedSeed})
			progress("%s, %s, %d slots: %s", scalePlayed, s.Name, slots, time.Since(start).Round(time.Millisecond))
			g.line(s.Name, fmt.Sprint(days), fmt.Sprint(slots), number(float64(p.Commits)), number(float64(p.Calls)), number(float64(days)*n.Calls),
				percent(p.PeakBusy), percent(min(1, n.CallPeak*s.Latency/float64(slots))),
				span(p.P50), span(p.P95), span(p.P99), span(p.WorstP95), span(p.QuietP95), number(float64(p.Backlog)))
		}
	}
	g.end()
}

func percent(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }

func span(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

func dollars(v float64) string { return "$" + number(v) }

// number writes three digits, and thousands for people.
func number(v float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}} {
		if v >= unit.of {
			return three(v/unit.of) + unit.name
		}
	}
	return three(v)
}

func three(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 100:
		digits := max(0, 2-int(math.Floor(math.Log10(v))))
		s := fmt.Sprintf("%.*f", min(digits, 4), v)
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	case v < 1000:
		return fmt.Sprintf("%.0f", v)
	}
	p := math.Pow(10, math.Floor(math.Log10(v))-2)
	s := fmt.Sprintf("%.0f", math.Round(v/p)*p)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func bulk(v float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e12, " TB"}, {1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}} {
		if v >= unit.of {
			return three(v/unit.of) + unit.name
		}
	}
	return three(v) + " B"
}
