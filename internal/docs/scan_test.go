package docs

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"ken/internal/docs/mention"
	"ken/internal/repo"
	"ken/internal/testcost"
)

// A name counts in code and not in a comment; a member counts where its owner is, or where the owner may inherit
// it from.
func TestSymbolScan(t *testing.T) {
	files := map[string]string{
		"src/app.py":      "class Context(Base):\n    def enter(self):\n        pass\n\n# Commented is gone\nx = 1  # Trailing too\n",
		"src/base.py":     "class Base:\n    def close(self):\n        pass\n",
		"src/other.py":    "class Other:\n    def invoke(self):\n        pass\n",
		"pkg/tool/run.go": "package tool\n\n// Doc speaks of Spoken.\nfunc Run() {}\n",
		"data/list.txt":   "# Listed\n",
	}
	names := map[string]bool{
		"Context.enter": true, "Context.close": true, "Context.invoke": false, "Other.invoke": true,
		"Commented": false, "Trailing": false, "Spoken": false, "Listed": true,
		"tool.Run": true, "tool.invoke": false, "ctx.invoke": true, "Vanished.invoke": false,
	}
	asked := make(map[string]bool)
	for name := range names {
		namesToLearn(&mention.Mention{Kind: mention.Symbol, Name: name}, asked)
	}
	j := judge{declare: make(map[symbolName]bool)}
	x := &j.record.Names
	x.Names = slices.Sorted(maps.Keys(asked))
	x.number()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := indexedFile{Path: repo.Path(name), Mode: repo.Regular}
		f.Has, f.Uses = newLexer(x.Names).scan(f.Path, []byte(files[name]))
		x.Files = append(x.Files, f)
	}
	x.index()
	j.declare[split("Context.close")] = true // inherited from Base
	for name, want := range names {
		if got := j.holds(split(name)); got != want {
			t.Errorf("%s holds: %v, want %v", name, got, want)
		}
	}
}

// A long line costs no more than many short ones.
func TestSymbolScanOfLongLine(t *testing.T) {
	testcost.Linear(t, "one long line", 20_000, func(n int) {
		newLexer([]string{memberMark + "enter", ownerMark + "Context"}).scan("a.js", []byte(strings.Repeat("x = Context.enter ; ", n/20)))
	})
}
