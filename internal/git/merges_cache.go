package git

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"

	"ken/internal/repo"
)

// keptMerges are the verdicts on merges that were found before, as one view of the
// history has them. They can be deleted at any time.
type keptMerges struct {
	key     historyKey
	byGit   map[mergedPath]bool
	changed bool // more are known than the file holds
}

const (
	mergesFile = "merges"
	// mergesMagic changes with the layout, and with what makes a verdict.
	mergesMagic = "kenmerg\x01"
)

// loadMerges reads the verdicts for a key. Whatever is wrong with the file, it holds
// nothing.
//
//	magic, key, checksum of the rest; then for each verdict the id of the commit,
//	1 for git and 0 for a person, and the path with its length before it
func (r *Repo) loadMerges(key historyKey) *keptMerges {
	k := &keptMerges{key: key, byGit: make(map[mergedPath]bool)}
	data, _, err := readFile(filepath.Join(r.historyDir(), mergesFile), maxHistory)
	start := len(mergesMagic) + len(key) + 4
	if err != nil || len(data) < start || string(data[:start-4]) != mergesMagic+string(key[:]) {
		return k
	}
	rest := reader(data[start:])
	if crc32.Checksum(rest, crcTable()) != binary.LittleEndian.Uint32(data[start-4:]) {
		return k
	}
	size := r.format.Size()
	for len(rest) > size {
		id, byGit := repo.IDFromBytes(rest[:size]), rest[size] == 1
		rest = rest[size+1:]
		k.byGit[mergedPath{id, repo.Path(rest.text())}] = byGit
	}
	return k
}

// saveMerges writes the verdicts, if there are new ones. A file that cannot be written
// costs time alone: they are found again.
func (r *Repo) saveMerges(k *keptMerges) {
	if !k.changed {
		return
	}
	var body []byte
	for at, byGit := range k.byGit {
		body = append(body, at.commit.Bytes()...)
		mark := byte(0)
		if byGit {
			mark = 1
		}
		body = append(body, mark)
		body = appendText(body, string(at.path))
	}
	data := append([]byte(mergesMagic), k.key[:]...)
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(body, crcTable()))
	data = append(data, body...)
	if os.MkdirAll(r.historyDir(), 0o777) == nil {
		sweep(r.historyDir())
		k.changed = replaceFile(r.historyDir(), mergesFile, data) != nil
	}
}
