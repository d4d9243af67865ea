package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"ken/internal/contract"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/state"
)

// A Finding is a problem of the directory that ken doctor reports.
type Finding struct {
	Code    string `json:"code"`
	Problem string `json:"what"`
	Fix     string `json:"mend"`
	// Info is true for information, which does not fail a check.
	Info bool `json:"info,omitempty"`
}

// IsProblem reports whether the finding fails a check.
func (f Finding) IsProblem() bool { return !f.Info }

// Findings lists the problems of the directory for ken doctor.
func (m *Manager) Findings(ctx context.Context) ([]Finding, error) {
	var out []Finding
	err := m.reading(ctx, "doctor", func() (err error) {
		out, err = m.findings(ctx)
		return err
	})
	return out, err
}

func (m *Manager) findings(ctx context.Context) ([]Finding, error) {
	entries, err := m.dir.Entries(ctx)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, e := range entries {
		if f, known := m.c.File(e.Name); known && f.Role != "" {
			out = append(out, m.misplaced(e, f)...)
		}
	}
	if _, err := m.load(); err != nil && len(out) == 0 {
		out = append(out, Finding{Code: "WORKFLOW_UNREADABLE", Problem: err.Error(), Fix: fault.HintOf(err)})
	}
	if _, err := m.journal(); err != nil && len(out) == 0 {
		mend := "move it aside: " + m.path(contract.Journal)
		out = append(out, Finding{Code: "JOURNAL_UNREADABLE", Problem: err.Error(), Fix: mend})
	}
	probes, err := m.recentProbes()
	return append(out, probes...), err
}

// misplaced reports a file of ken's own that has the wrong type.
func (m *Manager) misplaced(e state.Entry, f contract.Entry) []Finding {
	want := state.Regular
	if f.Dir {
		want = state.Directory
	}
	if e.Kind == want {
		return nil
	}
	what := fmt.Sprintf("%s is a %s", m.path(f.Role), kindWord(e.Kind))
	if e.Err != nil {
		what = fmt.Sprintf("%s cannot be inspected: %s", m.path(f.Role), reason(e.Err))
	}
	mend := "move it away: " + fault.Quote(m.path(f.Role))
	return []Finding{{Code: "STATE_FILE_MISPLACED", Problem: what, Fix: mend}}
}

// path returns the path of the file with a role.
func (m *Manager) path(r contract.Role) string { return m.dir.Path() + "/" + m.name(r) }

// recent is the age up to which failed probes are reported.
const recent = 24 * time.Hour

// recentProbes reports probes that failed recently, and records without a time, which
// may be recent.
func (m *Manager) recentProbes() ([]Finding, error) {
	m = m.shared()
	b, err := m.dir.Read(m.name(contract.Probes))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		mend := "move it aside: " + fault.Quote(m.path(contract.Probes))
		return []Finding{{Code: "PROBES_UNREADABLE", Problem: err.Error(), Fix: mend}}, nil
	}
	since := m.opts.Now().Add(-recent)
	categories, failed, undated := make(map[string]bool), 0, 0
	for line := range bytes.Lines(b) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r map[string]any
		_ = json.Unmarshal(line, &r) // a line that is not an object has no time
		ts, _ := r["ts"].(string)
		at := parseStamp(ts)
		switch {
		case at.IsZero():
			undated++
		case !at.Before(since):
			failed++
			if c, ok := r["category"].(string); ok && c != "" {
				categories[oneLine(c)] = true
			}
		}
	}
	mend := "read " + fault.Quote(m.path(contract.Probes))
	var out []Finding
	if failed > 0 {
		what := english.Count(failed, "probe") + " failed within the last 24 hours"
		if words := slices.Sorted(maps.Keys(categories)); len(words) > 0 {
			what += ": " + strings.Join(words, ", ")
		}
		out = append(out, Finding{Code: "PROBE_FAILURES_RECENT", Problem: what, Fix: mend, Info: true})
	}
	if undated > 0 {
		what := english.Count(undated, "record") + " of failed probes without a readable time"
		out = append(out, Finding{Code: "PROBE_FAILURES_UNDATED", Problem: what, Fix: mend, Info: true})
	}
	return out, nil
}
