package uses_test

import (
	"testing"

	"ken/internal/repo"
	"ken/internal/uses"
)

func TestCanImport(t *testing.T) {
	tr := newTree(t, `
		-- src/index.ts --
		reexport ./new *
		reexport ./old left
		reexport elsewhere away
		-- src/all.ts --
		reexport elsewhere *
		-- src/gone.ts --
		reexport ./missing *
		-- src/old.ts --
		decl func left
		-- src/new.ts --
		decl func moved
		local func hidden
		-- src/user.ts --
		import ./index moved
		-- pkg/__init__.py --
		import .text indent
		-- pkg/text.py --
		decl func indent
		-- pkg/lazy.py --
		decl func __getattr__
		-- pkg/user.py --
		import pkg indent
		-- main.go --
		package main
	`)
	r, err := uses.NewResolver(tr)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		from, at repo.Path
		name     string
		not      repo.Path
		want     bool
	}{
		{"src/user.ts", "src/index.ts", "moved", "src/old.ts", true},
		{"src/user.ts", "src/index.ts", "moved", "src/new.ts", false},
		{"src/user.ts", "src/index.ts", "left", "src/old.ts", false},
		{"src/user.ts", "src/index.ts", "hidden", "src/old.ts", false},
		{"src/user.ts", "src/index.ts", "away", "src/old.ts", true},
		{"src/user.ts", "src/index.ts", "never", "src/old.ts", false},
		{"src/user.ts", "src/all.ts", "any", "src/old.ts", true},
		{"src/user.ts", "src/gone.ts", "any", "src/old.ts", false},
		{"src/user.ts", "src/absent.ts", "any", "src/old.ts", false},
		{"pkg/user.py", "pkg/__init__.py", "indent", "pkg/old.py", true},
		{"pkg/user.py", "pkg/__init__.py", "dedent", "pkg/old.py", false},
		{"pkg/user.py", "pkg/__init__.py", "text", "pkg/old.py", true},
		{"pkg/user.py", "pkg/lazy.py", "any", "pkg/old.py", true},
		{"main.go", "src/index.ts", "moved", "src/old.ts", false},
	} {
		got, err := r.CanImport(tr.files[test.from], test.at, test.name, test.not)
		if err != nil {
			t.Fatal(err)
		}
		if got != test.want {
			t.Errorf("%s offers %s to %s from a file other than %s: got %t, want %t", test.at, test.name, test.from, test.not, got, test.want)
		}
	}
}
