package registry

import (
	"fmt"
	"strings"

	"ken/internal/repo"
)

// An Orientation is what a session needs first: whether the stored summaries are current, and a brief of the
// repository.
type Orientation struct {
	State        State    `json:"state"`
	Reasons      []Reason `json:"reasons"`
	Head         repo.ID  `json:"head"`
	LastVerified repo.ID  `json:"last_verified_sha"`
	Upstream     Upstream `json:"upstream"`
	Counts       Counts   `json:"counts"`
	Brief        string   `json:"brief"`
	Tokens       int      `json:"tokens"`    // estimated size of the brief
	LeftOut      int      `json:"left_out"`  // lines that did not fit
	Truncated    bool     `json:"truncated"` // whether any did not
}

// Headline returns the result in one line.
func (rep *Report) Headline() string {
	c := rep.Counts
	where := "no commit yet"
	if !rep.Head.IsZero() {
		where = "at " + rep.Head.Short()
	}
	line := fmt.Sprintf("%s  %s  files %d, summaries: %d fresh, %d stale, %d none, %d excluded",
		rep.State, where, c.Files, c.Fresh, c.Stale, c.None, c.Excluded)
	if c.Gone > 0 {
		line += fmt.Sprintf(", %d gone", c.Gone)
	}
	if n := c.Unknown + c.Conflicted; n > 0 {
		line += fmt.Sprintf(", %d unknown", n)
	}
	if len(rep.Reasons) > 0 {
		line += fmt.Sprintf(" (%s)", joinReasons(rep.Reasons))
	}
	return line
}

func joinReasons(reasons []Reason) string {
	words := make([]string, len(reasons))
	for i, r := range reasons {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}
