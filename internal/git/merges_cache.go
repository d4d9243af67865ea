package git

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ken/internal/cache"
	"ken/internal/git/history"
	"ken/internal/repo"
)

// mergesVersion is the version of the rules for verdicts and of their format in the cache.
const mergesVersion = 3

// mergeVerdicts are the verdicts about merged files that are known for a key.
type mergeVerdicts struct {
	key   history.Key
	byGit map[repo.CommitPath]bool
}

// mergesCache returns the cache and the key of the verdicts. They depend on the commits and on mergesVersion, not on
// the build of ken, so a new build does not repeat old merges.
func (r *Repo) mergesCache(key history.Key) (*cache.Cache, *cache.Key) {
	c := cache.Open(r.common, "")
	k := c.Key("merges")
	fmt.Fprintf(k, "%d %x\n", mergesVersion, key)
	return c, k
}

// loadMerges returns the cached verdicts for a key.
func (r *Repo) loadMerges(key history.Key) *mergeVerdicts {
	m := &mergeVerdicts{key: key, byGit: make(map[repo.CommitPath]bool)}
	c, k := r.mergesCache(key)
	answer, ok := c.Load(k)
	if !ok {
		return m
	}
	for line := range strings.Lines(string(answer)) {
		commit, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		byGit, path, _ := strings.Cut(rest, " ")
		id, err := repo.ParseID(commit)
		if err != nil {
			continue
		}
		name, err := strconv.Unquote(path)
		if err != nil {
			continue
		}
		m.byGit[repo.CommitPath{Commit: id, Path: repo.Path(name)}] = byGit == "true"
	}
	return m
}

// saveMerges caches the verdicts, one on each line: the commit, whether git made the content, and the quoted path.
func (r *Repo) saveMerges(m *mergeVerdicts) {
	var lines []string
	for at, byGit := range m.byGit {
		lines = append(lines, fmt.Sprintf("%s %t %q\n", at.Commit, byGit, at.Path))
	}
	slices.Sort(lines)
	c, k := r.mergesCache(m.key)
	c.Save(k, []byte(strings.Join(lines, "")))
}
