package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// A row is one line of the table: the time of ken, the time of the other side, and the limit.
type row struct {
	work    string
	files   int    // 0 when the work does not depend on them
	unit    string // what files counts, when it is not files
	ken     time.Duration
	against string
	other   time.Duration // 0 when the limit is absolute
	atMost  float64       // ratio; 0 for no limit
	budget  time.Duration // absolute limit, where there is no other side
	// Memory in bytes, for a row about memory.
	memory, memoryBudget int64
	// count must be 0 in a row that is counted.
	counted bool
	count   int
}

func (r row) ratio() float64 { return float64(r.ken) / float64(r.other) }

// promised reports whether the row has a limit.
func (r row) promised() bool {
	return r.atMost > 0 || r.budget > 0 || r.memoryBudget > 0 || r.counted
}

func (r row) missed() bool {
	return r.atMost > 0 && r.ratio() > r.atMost ||
		r.budget > 0 && r.ken > r.budget ||
		r.memoryBudget > 0 && r.memory > r.memoryBudget ||
		r.counted && r.count > 0
}

func (r row) cells() []string {
	work, files, ken := r.work, "", ms(r.ken)
	other, ratio, atMost, verdict := "", "", "", ""
	if r.files > 0 {
		files = fmt.Sprint(r.files, " ", cmp.Or(r.unit, "files"))
	}
	if r.other > 0 {
		other, ratio = ms(r.other), fmt.Sprintf("%.2f", r.ratio())
	}
	switch {
	case r.atMost >= 1:
		atMost = fmt.Sprintf("%.1f", r.atMost)
	case r.atMost > 0:
		atMost = fmt.Sprintf("%.2f", r.atMost)
	case r.budget > 0:
		atMost = ms(r.budget) + " ms"
	case r.memoryBudget > 0:
		ken, atMost = mb(r.memory), mb(r.memoryBudget)
	case r.counted:
		ken, atMost = fmt.Sprint(r.count), "0"
	}
	switch {
	case r.missed():
		verdict = "MISS"
	case r.promised():
		verdict = "ok"
	}
	return []string{work, files, ken, r.against, other, ratio, atMost, verdict}
}

// printTable writes the rows as an aligned Markdown table, for docs/performance.md.
func printTable(w io.Writer, rows []row) error {
	lines := [][]string{{"work", "of", "ken ms", "against", "ms", "ratio", "at most", ""}}
	for _, r := range rows {
		lines = append(lines, r.cells())
	}
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	for i, cells := range lines {
		fmt.Fprintf(t, "| %s\t|\n", strings.Join(cells, "\t| "))
		if i == 0 {
			fmt.Fprintln(t, strings.Repeat("| ---\t", len(cells))+"|")
		}
	}
	return t.Flush()
}

// The table of a page is between these two comments.
const (
	tableBegins = "<!-- bench -->\n"
	tableEnds   = "<!-- /bench -->\n"
)

// updatePage replaces the table of a page, and adds the machine and the Go version.
func updatePage(name string, rows []row) error {
	var table strings.Builder
	fmt.Fprintf(&table, "%d cores, %s %s/%s.\n\n", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if err := printTable(&table, rows); err != nil {
		return err
	}
	page, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(page), tableBegins)
	_, after, closed := strings.Cut(rest, tableEnds)
	if !found || !closed {
		return fmt.Errorf("%s has no %q and %q", name, tableBegins, tableEnds)
	}
	return os.WriteFile(name, []byte(before+tableBegins+table.String()+tableEnds+after), 0o644)
}

func ms(d time.Duration) string {
	v := float64(d) / float64(time.Millisecond)
	if v < 100 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func mb(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }
