package brief

import (
	"fmt"
	"strings"

	"ken/internal/repo"
	"ken/internal/searchindex"
)

// A History is what the indexed commits say about a place.
type History struct {
	Searched   int    // commits that the index has
	Since      string // date of the oldest of them
	Cut        bool   // the clone is shallow
	Behind     bool   // another process is updating the index, which may be of an older tree
	Commits    int    // that touched the place, small ones only
	Last       []searchindex.Entry
	Companions []Companion
}

// A Companion is a file that changes together with the place.
type Companion struct {
	Path     repo.Path
	Together int
}

// remarks says how far back the history goes if the clone hides some of it.
func (h *History) remarks() []string {
	var list []string
	if h.Cut {
		list = append(list, "the clone is shallow: its history is cut, so older commits do not count (git fetch --unshallow)")
	}
	if h.Behind {
		list = append(list, "another process is updating the search index; this answer is from the index as it was before")
	}
	return list
}

// blocks tells what changes with a place, and its last commits.
func (h *History) blocks(place string) []*block {
	if h.Searched == 0 {
		return nil
	}
	list := []*block{h.together()}
	if len(h.Last) == 0 {
		return append(list, line("last commits", fmt.Sprintf("none of %s touched %s", h.covers(), place)))
	}
	var items []Item
	for _, c := range h.Last {
		day, _, _ := strings.Cut(c.Date, "T")
		subject := cut(c.Subject, subjectBytes)
		id := c.ID.String()
		items = append(items, Item{Commit: id, Date: c.Date, Text: c.Subject, show: fmt.Sprintf("%s %s %s", day, id[:min(len(id), 7)], subject)})
	}
	return append(list, facts("last commits", len(items), items...))
}

const subjectBytes = 120

// together lists the files that often change with a place, nil if there are none.
func (h *History) together() *block {
	var items []Item
	for i, c := range h.Companions {
		if often := c.Together*10 >= h.Commits || i < 2 && c.Together > 2; !often || c.Together < 2 {
			continue
		}
		items = append(items, Item{Together: c.Together, Of: h.Commits, show: fmt.Sprintf("%s (%d of %d commits)", name(c.Path), c.Together, h.Commits)}.at(c.Path))
	}
	if len(items) == 0 {
		return nil
	}
	return facts(fmt.Sprintf("changes with (%s)", h.covers()), fileTogether, items...)
}

// covers says which commits count.
func (h *History) covers() string {
	day, _, _ := strings.Cut(h.Since, "T")
	return fmt.Sprintf("the last %s, since %s", count(h.Searched, "commit"), day)
}

// IsCompanion reports whether a file may count as one that changes with another: generated,
// vendored, lock and snapshot files change with everything.
func IsCompanion(p repo.Path, k repo.Kind) bool {
	switch k {
	case repo.KindGenerated, repo.KindVendored, repo.KindLockfile, repo.KindBinary, repo.KindData, repo.KindLFS, repo.KindSymlink, repo.KindGitlink:
		return false
	default:
		return !isSnapshot(p)
	}
}

func isSnapshot(p repo.Path) bool {
	s := string(p)
	return strings.HasSuffix(s, ".snap") || strings.HasSuffix(s, ".golden") || strings.Contains("/"+s, "/__snapshots__/") || strings.Contains("/"+s, "/testdata/")
}

// IsProduct reports whether a file belongs to what the repository is for, not to examples,
// benchmarks or tests.
func IsProduct(p repo.Path) bool {
	for part := range strings.SplitSeq(strings.ToLower(string(p.Dir())), "/") {
		switch part {
		case "example", "examples", "sample", "samples", "demo", "demos", "bench", "benches", "benchmark", "benchmarks",
			"test", "tests", "testing", "testdata", "fixtures", "testutil", "testutils", "docs", "doc", "playground", "playgrounds":
			return false
		}
	}
	return true
}
