package docs

import (
	"fmt"
	"strings"
	"testing"
)

// Older versions are searched up to the budget, even if one version has more mentions than it allows.
func TestVersionBudget(t *testing.T) {
	const mentions = 1000
	j := &judge{list: make([]CheckedMention, mentions)}
	open := make([]int, mentions)
	for i := range open {
		open[i] = i
		j.list[i].Text = fmt.Sprintf("name%d", i)
	}
	content := []byte(strings.Repeat("x", 1000))
	budget := versionBudget{bytes: 1 << 20, searched: 10_000}
	tr := &docTrail{open: open}
	j.compareOne(&version{trail: tr}, content, nil, map[int]origin{}, &budget)
	if budget.searched < -1000 {
		t.Errorf("%d bytes were searched beyond the budget; want one version's at most", -budget.searched)
	}
	if tr.vague != whyTooMuch || len(tr.open) != mentions-10 {
		t.Errorf("%d mentions are open, because %q; want all that were not searched for, because %q", len(tr.open), tr.vague, whyTooMuch)
	}
}
