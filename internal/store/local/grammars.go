package local

import (
	"os"
	"path/filepath"

	"ken/internal/atomicfile"
)

// GrammarTables stores the parse tables of grammars, one file for each, for all worktrees of a clone. Building the
// tables takes longer than parsing a file. They belong to a build of ken; the reader detects tables of another build
// and damaged ones.
type GrammarTables struct{ dir string }

// OpenGrammarTables returns the tables of the clone whose git directories share commonDir. It touches no file.
func OpenGrammarTables(commonDir string) GrammarTables {
	return GrammarTables{dir: filepath.Join(commonDir, "ken", "cache", "grammars")}
}

// LoadTables returns the tables that were last saved under a name, nil if there are none.
func (g GrammarTables) LoadTables(name string) []byte {
	data, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		return nil
	}
	return data
}

// SaveTables saves tables under a name and replaces earlier ones. If it fails, the next command builds the tables
// again.
func (g GrammarTables) SaveTables(name string, tables []byte) {
	if os.MkdirAll(g.dir, 0o777) != nil {
		return
	}
	atomicfile.RemoveAbandoned(g.dir)
	_ = atomicfile.WriteCache(filepath.Join(g.dir, name), tables) // see above
}
