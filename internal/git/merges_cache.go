package git

import (
	"os"
	"path/filepath"

	"ken/internal/git/history"
)

// mergeVerdicts are the cached verdicts about merged files.
type mergeVerdicts struct {
	key     history.Key
	byGit   map[mergedPath]bool
	changed bool // the file does not have all verdicts
}

const mergesFile = "merges"

// loadMerges reads the cached verdicts for a key. There are none if the file is missing or invalid.
func (r *Repo) loadMerges(key history.Key) *mergeVerdicts {
	k := &mergeVerdicts{key: key, byGit: make(map[mergedPath]bool)}
	data, _, err := readFile(filepath.Join(r.historyDir(), mergesFile), history.MaxSize)
	if err != nil {
		return k
	}
	for _, f := range history.DecodeMerges(data, key, r.format) {
		k.byGit[mergedPath{f.Commit, f.Path}] = f.ByGit
	}
	return k
}

// saveMerges writes the verdicts if there are new ones. If the file cannot be written, the next command
// computes them again.
func (r *Repo) saveMerges(k *mergeVerdicts) {
	if !k.changed {
		return
	}
	var list []history.MergedFile
	for at, byGit := range k.byGit {
		list = append(list, history.MergedFile{Commit: at.commit, Path: at.path, ByGit: byGit})
	}
	data := history.EncodeMerges(k.key, list)
	if os.MkdirAll(r.historyDir(), 0o777) == nil {
		sweep(r.historyDir())
		k.changed = replaceFile(r.historyDir(), mergesFile, data) != nil
	}
}
