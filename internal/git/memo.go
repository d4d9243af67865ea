package git

import (
	"os"
	"path/filepath"
)

// maxMemo is the largest size of a saved answer in bytes.
const maxMemo = 64 << 20

// memoDir is in the git directory of the work tree, and git removes both together.
func (r *Repo) memoDir() string { return filepath.Join(r.gitDir, "ken", "cache", "answers") }

// tablesDir is shared by all work trees.
func (r *Repo) tablesDir() string { return filepath.Join(r.CommonDir(), "ken", "cache", "grammars") }

// LoadTables returns the tables of a grammar that were last saved under a name, nil if there are none.
// A crash can leave damaged data; the caller has to detect that.
func (r *Repo) LoadTables(name string) []byte {
	data, _, err := readFile(filepath.Join(r.tablesDir(), name), maxMemo)
	if err != nil {
		return nil
	}
	return data
}

// SaveTables saves the tables of a grammar under a name and replaces earlier ones. If it fails, the next
// command builds the tables again.
func (r *Repo) SaveTables(name string, tables []byte) {
	if os.MkdirAll(r.tablesDir(), 0o777) == nil {
		sweep(r.tablesDir())
		_ = replaceFile(r.tablesDir(), name, tables)
	}
}

// LoadMemo returns the answer that was last saved under a name for this work tree, nil if there is none.
// A crash can leave damaged data; the caller has to detect that.
func (r *Repo) LoadMemo(name string) []byte {
	data, _, err := readFile(filepath.Join(r.memoDir(), name), maxMemo)
	if err != nil {
		return nil
	}
	return data
}

// SaveMemo saves an answer under a name and replaces the earlier one.
func (r *Repo) SaveMemo(name string, answer []byte) error {
	if err := os.MkdirAll(r.memoDir(), 0o777); err != nil {
		return err
	}
	sweep(r.memoDir())
	return replaceFile(r.memoDir(), name, answer)
}
