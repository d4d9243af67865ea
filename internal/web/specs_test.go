package web

import (
	"testing"

	"ken/internal/survey"
)

func TestSummariesText(t *testing.T) {
	for want, counts := range map[string]survey.DirCounts{
		"":                        {Directories: 3, Fresh: 3},
		"1 stale":                 {Directories: 3, Fresh: 2, Stale: 1},
		"2 unknown":               {Directories: 3, Fresh: 1, Unknown: 2},
		"1 stale; 1 unknown":      {Directories: 3, Fresh: 1, Stale: 1, Unknown: 1},
		"3 outline only":          {Directories: 3, Outlines: 2, None: 1},
		"1 stale; 1 outline only": {Directories: 3, Fresh: 1, Stale: 1, Outlines: 1},
	} {
		if got := summariesText(counts); got != want {
			t.Errorf("summariesText(%+v) = %q; want %q", counts, got, want)
		}
	}
}
