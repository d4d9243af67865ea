package git

import (
	"os"
	"path/filepath"
)

// maxMemo is more than any answer worth keeping.
const maxMemo = 64 << 20

// memoDir lies in the work tree's own git directory, and goes with it.
func (r *Repo) memoDir() string { return filepath.Join(r.gitDir, "ken", "cache", "answers") }

// tablesDir is that of all work trees.
func (r *Repo) tablesDir() string { return filepath.Join(r.CommonDir(), "ken", "cache", "grammars") }

// LoadTables returns the tables of a grammar that were last saved under a name, nil for
// none. What a crash left of them is for the caller to recognise.
func (r *Repo) LoadTables(name string) []byte {
	data, _, err := readFile(filepath.Join(r.tablesDir(), name), maxMemo)
	if err != nil {
		return nil
	}
	return data
}

// SaveTables keeps the tables of a grammar under a name, in place of those before. Where
// they cannot be kept they are made again.
func (r *Repo) SaveTables(name string, tables []byte) {
	if os.MkdirAll(r.tablesDir(), 0o777) == nil {
		sweep(r.tablesDir())
		_ = replaceFile(r.tablesDir(), name, tables)
	}
}

// LoadMemo returns what was last saved under a name for this work tree, nil for
// nothing. What a crash left of it is for the caller to recognise.
func (r *Repo) LoadMemo(name string) []byte {
	data, _, err := readFile(filepath.Join(r.memoDir(), name), maxMemo)
	if err != nil {
		return nil
	}
	return data
}

// SaveMemo keeps an answer under a name, in place of the one before.
func (r *Repo) SaveMemo(name string, answer []byte) error {
	if err := os.MkdirAll(r.memoDir(), 0o777); err != nil {
		return err
	}
	sweep(r.memoDir())
	return replaceFile(r.memoDir(), name, answer)
}
