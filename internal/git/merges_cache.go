package git

import (
	"os"
	"path/filepath"

	"ken/internal/git/history"
)

// keptMerges are the verdicts on merges that were found before, as one view of the
// history has them. They can be deleted at any time.
type keptMerges struct {
	key     history.Key
	byGit   map[mergedPath]bool
	changed bool // more are known than the file holds
}

const mergesFile = "merges"

// loadMerges reads the verdicts for a key. Whatever is wrong with the file, it holds
// nothing.
func (r *Repo) loadMerges(key history.Key) *keptMerges {
	k := &keptMerges{key: key, byGit: make(map[mergedPath]bool)}
	data, _, err := readFile(filepath.Join(r.historyDir(), mergesFile), history.MaxSize)
	if err != nil {
		return k
	}
	for _, f := range history.DecodeMerges(data, key, r.format) {
		k.byGit[mergedPath{f.Commit, f.Path}] = f.ByGit
	}
	return k
}

// saveMerges writes the verdicts, if there are new ones. A file that cannot be written
// costs time alone: they are found again.
func (r *Repo) saveMerges(k *keptMerges) {
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
