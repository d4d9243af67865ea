package docs

import (
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
	scan := newSymbolScan()
	for name := range names {
		scan.add(&mention.Mention{Kind: mention.Symbol, Name: name})
	}
	for name, text := range files {
		f := repo.File{Path: repo.Path(name), Mode: repo.Regular}
		scan.path(f.Path)
		scan.text(f, []byte(text))
	}
	named := map[string]bool{"Base": true}
	scan.inheritedFrom(map[string]map[string]bool{"Context": named}, map[repo.Path]map[string]bool{"src/base.py": named})
	for name, want := range names {
		if got := scan.holds(split(name)); got != want {
			t.Errorf("%s holds: %v, want %v", name, got, want)
		}
	}
}

// A long line costs no more than many short ones.
func TestSymbolScanOfLongLine(t *testing.T) {
	testcost.Linear(t, "one long line", 20_000, func(n int) {
		scan := newSymbolScan()
		scan.add(&mention.Mention{Kind: mention.Symbol, Name: "Context.enter"})
		scan.text(repo.File{Path: "a.js"}, []byte(strings.Repeat("x = Context.enter ; ", n/20)))
	})
}
