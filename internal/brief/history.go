package brief

import (
	"fmt"
	"path"
	"strings"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// A History has the facts about a place from the indexed commits.
type History struct {
	Searched   int    // commits that the index has
	Since      string // date of the oldest of them
	Shallow    bool   // the clone is shallow
	IndexBusy  bool   // another process is updating the index, which may be of an older tree
	Large      int    // commits with too many files to be listed
	LargeFiles int    // a commit with more files than this is large
	Commits    int    // small commits that touched the place
	Last       []searchindex.Commit
	Companions []Companion
}

// A Companion is a file that changes together with the place.
type Companion struct {
	Path     repo.Path
	Together int
}

// unknown returns the limits of the history: a shallow clone, an index that is being updated.
func (h *History) unknown() []fault.Unknown {
	var list []fault.Unknown
	if h.Shallow {
		list = append(list, fault.Unknown{
			What: "commits", Why: "the clone is shallow: its history is cut, so older commits do not count", Command: "git fetch --unshallow",
		})
	}
	if h.IndexBusy {
		list = append(list, find.IndexBusy)
	}
	return list
}

// blocks returns the files that change with a place, and its last commits.
func (h *History) blocks(place string) []*block {
	if h.Searched == 0 {
		return nil
	}
	list := []*block{h.together()}
	if len(h.Last) == 0 {
		return append(list, lineBlock("last commits", fmt.Sprintf("none of %s touched %s%s", h.covers(), place, h.without())))
	}
	var items []Item
	for _, c := range h.Last {
		day, _, _ := strings.Cut(c.Date, "T")
		subject := cut(c.Subject, subjectBytes)
		id := c.ID.String()
		items = append(items, Item{Commit: id, Date: c.Date, Text: c.Subject, show: fmt.Sprintf("%s %s %s", day, id[:min(len(id), 7)], subject)})
	}
	return append(list, factBlock("last commits"+h.without(), len(items), items...))
}

// without returns how many large commits are not counted; "" if there are none.
func (h *History) without() string {
	if h.Large == 0 {
		return ""
	}
	return fmt.Sprintf(" (without %s of more than %d files)", english.Count(h.Large, "commit"), h.LargeFiles)
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
	return factBlock(fmt.Sprintf("changes with (%s, of at most %d files)", h.covers(), find.MaxTogether), fileTogether, items...)
}

// covers describes the commits that count.
func (h *History) covers() string {
	day, _, _ := strings.Cut(h.Since, "T")
	return fmt.Sprintf("the last %s, since %s", english.Count(h.Searched, "commit"), day)
}

// IsCompanion reports whether a file may count as a companion of another. Generated, vendored, lock and snapshot files,
// change logs and manifests do not: they change with everything.
func IsCompanion(p repo.Path, k repo.Kind) bool {
	switch k {
	case repo.KindGenerated, repo.KindVendored, repo.KindLockfile, repo.KindBinary, repo.KindData, repo.KindLFS, repo.KindSymlink, repo.KindGitlink:
		return false
	default:
		return !isSnapshot(p) && !isChangeLog(p) && !isDependencyList(p)
	}
}

// isChangeLog reports whether a file is a change log.
func isChangeLog(p repo.Path) bool {
	stem, _, _ := strings.Cut(strings.ToLower(p.Base()), ".")
	switch strings.NewReplacer("-", "", "_", "").Replace(stem) {
	case "changelog", "changes", "history", "news", "releasenotes", "releases", "unreleased":
		return path.Ext(p.Base()) != ".go" && !strings.HasSuffix(p.Base(), ".js") && !strings.HasSuffix(p.Base(), ".ts")
	}
	for part := range strings.SplitSeq(strings.ToLower(string(p.Dir())), "/") {
		switch part {
		case "changelog", "changelogs", ".changeset", ".changes", "changelog.d", "newsfragments", "releasenotes":
			return true
		}
	}
	return false
}

// isDependencyList reports whether a file is a manifest or a lock file: these change with every release.
func isDependencyList(p repo.Path) bool {
	switch p.Base() {
	case "package.json", "go.mod", "go.sum", "go.work", "go.work.sum", "Cargo.toml", "Cargo.lock", "pyproject.toml", "setup.py", "setup.cfg",
		"pom.xml", "composer.json", "Gemfile", "Gemfile.lock", "uv.lock", "poetry.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock":
		return true
	}
	return strings.HasPrefix(p.Base(), "requirements") && strings.HasSuffix(p.Base(), ".txt")
}

func isSnapshot(p repo.Path) bool {
	s := string(p)
	return strings.HasSuffix(s, ".snap") || strings.HasSuffix(s, ".golden") || strings.Contains("/"+s, "/__snapshots__/") || strings.Contains("/"+s, "/testdata/")
}

// PartRank orders directories: 0 for the product of the repository, 1 for tools and scripts, 2 for tests, examples and
// documents.
func PartRank(dir repo.Path) int {
	if !IsProduct(dir + "/x") {
		return 2
	}
	for part := range strings.SplitSeq(strings.ToLower(string(dir)), "/") {
		switch part {
		case "script", "scripts", "hack", "contrib", "tools", "tool", "build", "ci", "fuzz", "fuzzing", "fuzzers", "benchsuite", "website", "site", "www",
			"packaging", "pkg-config", "docker", "deploy", "e2e", "integration", "security", "changelog", "third_party", "misc", "etc", "assets":
			return 1
		}
	}
	return 0
}

// IsProduct reports whether a file belongs to the product of the repository, not to examples, benchmarks, tests or
// documents.
func IsProduct(p repo.Path) bool {
	for part := range strings.SplitSeq(strings.ToLower(string(p.Dir())), "/") {
		switch part {
		case "example", "examples", "sample", "samples", "demo", "demos", "bench", "benches", "benchmark", "benchmarks",
			"test", "tests", "testing", "testdata", "fixtures", "testutil", "testutils", "fixture", "__fixtures__", "__tests__", "e2e", "docs", "documentation", "doc", "playground", "playgrounds":
			return false
		}
	}
	return true
}
