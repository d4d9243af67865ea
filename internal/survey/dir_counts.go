package survey

import (
	"context"
	"fmt"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// DirCounts counts the summaries of directories. Fresh, Stale and Unknown are texts that people, agents or models
// wrote. The other directories have an outline, which is never stale, or no text yet.
type DirCounts struct {
	Directories int `json:"directories"` // directories that are not excluded
	Fresh       int `json:"fresh"`
	Stale       int `json:"stale"`
	Unknown     int `json:"unknown"`
	Outlines    int `json:"outlines"`
	None        int `json:"none"`
	// NeedAttention are the directories whose texts are stale or unknown, by path.
	NeedAttention []StaleDirectory `json:"needs_attention"`
	// Failed are the directories that could not be described, by path, with the reason.
	// Each is also counted above, by the state of its text.
	Failed []StaleDirectory `json:"failed,omitempty"`
}

// String returns the counts in words. Every command that counts directories prints this.
func (c *DirCounts) String() string { return fmt.Sprintf("%d; %s", c.Directories, c.Summaries()) }

// Summaries returns the counts in words, without the number of directories.
func (c *DirCounts) Summaries() string {
	line := SummaryCounts(c.Fresh, c.Stale, c.Unknown)
	if n := c.Outlines + c.None; n > 0 {
		line += fmt.Sprintf(" (%d outline only)", n)
	}
	return line
}

// SummaryCounts counts summaries that people, agents and models wrote, in words.
func SummaryCounts(current, stale, unknown int) string {
	if current+stale+unknown == 0 {
		return "no summaries"
	}
	line := fmt.Sprintf("summaries: %d fresh, %d stale", current, stale)
	if unknown > 0 {
		line += fmt.Sprintf(", %d unknown", unknown)
	}
	return line
}

// State returns the worst state of the summaries. Outlines count as fresh.
func (c *DirCounts) State() fresh.State {
	switch {
	case c.Unknown > 0:
		return fresh.Unknown
	case c.Stale > 0:
		return fresh.Stale
	case c.Fresh+c.Outlines > 0:
		return fresh.Fresh
	default:
		return fresh.None
	}
}

// A StaleDirectory is a directory whose text is stale or unknown.
type StaleDirectory struct {
	repo.PathJSON
	Verdict fresh.Verdict `json:"verdict"`
	Reasons []string      `json:"reasons"`
}

// DirCounts counts the summaries of the directories within some paths, or of all directories if there are none.
func (s *Survey) DirCounts(ctx context.Context, within []repo.Path) (*DirCounts, error) {
	question := fmt.Sprintf("counts within %q", within)
	return cached(ctx, s, question, s.judge, func(ts *treeStatus) *DirCounts { return ts.counts(within) })
}

// counts counts the directories within some paths, or all of them.
func (ts *treeStatus) counts(within []repo.Path) *DirCounts {
	c := &DirCounts{NeedAttention: []StaleDirectory{}}
	for _, d := range ts.order {
		if len(within) == 0 || slices.ContainsFunc(within, d.Path.Under) {
			st := ts.status[d]
			c.add(repo.DirLabel(d.Path).JSON(), st.Verdict, st.Reasons, st.Record != nil, st.Record != nil && st.Record.IsOutline())
		}
	}
	byPath := func(a, b StaleDirectory) int { return slices.Compare([]byte(a.Path), []byte(b.Path)) }
	slices.SortFunc(c.NeedAttention, byPath)
	slices.SortFunc(c.Failed, byPath)
	return c
}

// add counts a directory.
func (c *DirCounts) add(p repo.PathJSON, v fresh.Verdict, reasons []string, described, outlined bool) {
	if v.State == fresh.Excluded {
		return
	}
	c.Directories++
	if v.Reason == fresh.Failed {
		c.Failed = append(c.Failed, StaleDirectory{p, v, append([]string{}, reasons...)})
	}
	state := v.State
	switch {
	case !described:
		c.None++
		return
	case outlined:
		c.Outlines++
		return
	case state == fresh.Fresh:
		c.Fresh++
		return
	case state == fresh.Unknown:
		c.Unknown++
	default:
		c.Stale++
	}
	c.NeedAttention = append(c.NeedAttention, StaleDirectory{p, v, append([]string{}, reasons...)})
}
