package uses_test

import (
	"slices"
	"testing"

	"ken/internal/outline"
	"ken/internal/uses"
)

func TestGo(t *testing.T) {
	runCases(t, []resolveCase{
		{
			name: "names of an imported package, in the files that declare them",
			archive: `
				-- go.mod --
				module example.com/m // the root
				-- a/one.go --
				package a
				decl func One
				-- a/two.go --
				package a
				decl func Two
				decl type T
				decl method T.Run
				-- b/b.go --
				package b
				import example.com/m/a >a
				call a.One
				use a.T
				call a.T.Run
			`,
			from: "b/b.go",
			want: `
				a/one.go#One
				a/two.go#T
				a/two.go#T.Run
			`,
		},
		{
			name: "names of the own package in other files",
			archive: `
				-- go.mod --
				module m
				-- a/a.go --
				package a
				use helper
				call server.run
				-- a/b.go --
				package a
				decl func helper
				decl var server
				-- a/c_test.go --
				package a
				decl func helper
				-- a/main.go --
				package main
				decl func helper
			`,
			from: "a/a.go",
			want: `
				a/b.go#helper
				a/b.go#server
			`,
		},
		{
			name: "a test sees its package, tests included",
			archive: `
				-- go.mod --
				module m
				-- a/a.go --
				package a
				decl func F
				-- a/h_test.go --
				package a
				decl func help
				-- a/a_test.go --
				package a
				use F
				use help
			`,
			from: "a/a_test.go",
			want: `
				a/a.go#F
				a/h_test.go#help
			`,
		},
		{
			name: "an external test sees what its package exports to it",
			archive: `
				-- go.mod --
				module m
				-- a/a.go --
				package a
				decl func F
				decl func private
				-- a/export_test.go --
				package a
				decl var Private
				-- a/x_test.go --
				package a_test
				import m/a >a
				use a.F
				use a.Private
				use a.private
				use help
				-- a/y_test.go --
				package a_test
				decl func help
			`,
			from: "a/x_test.go",
			want: `
				a/a.go#F
				a/export_test.go#Private
				a/y_test.go#help
			`,
		},
		{
			name: "another package does not see declarations of tests",
			archive: `
				-- go.mod --
				module m
				-- a/a.go --
				package a
				-- a/export_test.go --
				package a
				decl var Private
				-- b/b_test.go --
				package b
				import m/a >a
				use a.Private
			`,
			from: "b/b_test.go",
		},
		{
			name: "files for other systems are left out, variants are all used",
			archive: `
				-- go.mod --
				module m
				-- a/a_linux.go --
				package a
				use open
				use lock
				-- a/open_linux.go --
				package a
				decl func open
				-- a/open_windows.go --
				package a
				decl func open
				-- a/lock_unix.go --
				package a
				decl func lock
				-- a/lock_other.go --
				package a
				decl func lock
			`,
			from: "a/a_linux.go",
			want: `
				a/lock_other.go#lock
				a/lock_unix.go#lock
				a/open_linux.go#open
			`,
		},
		{
			name: "the package clause names an import, not its path",
			archive: `
				-- go.mod --
				module m
				-- go-yaml/y.go --
				package yaml
				decl func Parse
				-- b/b.go --
				package b
				import m/go-yaml >yaml
				use yaml.Parse
				-- c/c.go --
				package c
				import m/go-yaml
				use yaml.Parse
			`,
			from: "b/b.go",
			want: `go-yaml/y.go#Parse`,
		},
		{
			name: "an alias comes before a package clause",
			archive: `
				-- go.mod --
				module m
				-- meta/v1/meta.go --
				package v1
				decl type List
				decl type Meta
				-- core/v1/core.go --
				package v1
				decl type List
				-- b/b.go --
				package b
				import m/meta/v1 >meta
				import m/core/v1 >v1
				use v1.List
				use meta.Meta
			`,
			from: "b/b.go",
			want: `
				core/v1/core.go#List
				meta/v1/meta.go#Meta
			`,
		},
		{
			name: "an import from outside hides a local namesake",
			archive: `
				-- go.mod --
				module m
				-- errors/errors.go --
				package errors
				decl func New
				-- b/b.go --
				package b
				import errors >errors
				call errors.New
				-- b/c.go --
				package b
				decl type errors
				decl method errors.New
			`,
			from: "b/b.go",
		},
		{
			name: "a replaced module and one of the same workspace are exact, another one is likely",
			archive: `
				-- go.mod --
				module example.com/m
				replace (
					example.com/lib v1.0.0 => ./lib
					example.com/far => ../far
					example.com/fork => example.com/other v1.2.3
				)
				-- go.work --
				use .
				use ./tool
				-- lib/go.mod --
				module example.com/lib
				-- lib/l.go --
				package lib
				decl func L
				-- tool/go.mod --
				module example.com/tool
				-- tool/t.go --
				package tool
				decl func T
				-- side/go.mod --
				module example.com/side
				-- side/s.go --
				package side
				decl func S
				-- fork/go.mod --
				module example.com/fork
				-- fork/f.go --
				package fork
				decl func F
				-- root.go --
				package m
				decl func F
				decl func X
				-- m.go --
				package m
				import example.com/lib >lib
				import example.com/tool >tool
				import example.com/side >side
				import example.com/far >far
				import example.com/fork >fork
				use lib.L
				use tool.T
				use side.S
				use far.X
				use fork.F
			`,
			from: "m.go",
			want: `
				lib/l.go#L
				likely side/s.go#S
				tool/t.go#T
			`,
		},
		{
			name: "a module inside of another is not part of it",
			archive: `
				-- go.mod --
				module m
				-- sub/go.mod --
				module other
				-- sub/s.go --
				package sub
				decl func S
				-- m.go --
				package m
				import m/sub >sub
				use sub.S
			`,
			from: "m.go",
		},
		{
			name: "two modules with one path are ambiguous, the own one is not",
			archive: `
				-- a/go.mod --
				module same
				-- a/x/x.go --
				package x
				decl func X
				-- a/a.go --
				package a
				import same/x >x
				use x.X
				-- b/go.mod --
				module same
				-- b/x/x.go --
				package x
				decl func X
				-- c/go.mod --
				module c
				-- c/c.go --
				package c
				import same/x >x
				use x.X
			`,
			from: "c/c.go",
			want: `ambiguous 1`,
		},
		{
			name: "vendored packages are not the repository's own",
			archive: `
				-- go.mod --
				module m
				-- vendor/example.com/x/x.go --
				package x
				decl func X
				-- m.go --
				package m
				import example.com/x >x
				import m/vendor/example.com/x >y
				use x.X
				use y.X
			`,
			from: "m.go",
		},
		{
			name: "a broken go.mod leaves the names of the own package",
			archive: `
				-- go.mod --
				modul m (
				-- a.go --
				package a
				import m/b >b
				use b.B
				use X
				-- x.go --
				package a
				decl func X
				-- b/b.go --
				package b
				decl func B
			`,
			from: "a.go",
			want: `x.go#X`,
		},
		{
			name: "a member with one declaration in reach is likely, with two it is ambiguous",
			archive: `
				-- go.mod --
				module m
				-- a/a.go --
				package a
				decl type T
				decl method T.Transmit
				decl method T.Drain
				-- b/b.go --
				package b
				import m/a >a
				call .Transmit
				call .Drain
				call .Elsewhere
				-- b/c.go --
				package b
				decl type U
				decl method U.Drain
				-- c/c.go --
				package c
				decl type V
				decl method V.Elsewhere
			`,
			from: "b/b.go",
			want: `
				likely a/a.go#T.Transmit
				ambiguous 1
			`,
		},
		{
			name: "a dot import and an import for side effects",
			archive: `
				-- go.mod --
				module m
				-- a/a.go --
				package a
				decl func A
				-- d/d.go --
				package d
				local func init
				-- d/e.go --
				package d
				decl func E
				-- b/b.go --
				package b
				import m/a *
				import m/d
				use A
			`,
			from: "b/b.go",
			want: `
				a/a.go#A
				d/d.go#init
			`,
		},
		{
			name: "a generator beside a library is no part of the package",
			archive: `
				-- go.mod --
				module m
				-- a/gen.go --
				package main
				decl func Gen
				-- a/gen2.go --
				package main
				decl func A
				-- a/a.go --
				package a
				decl func A
				-- b/b.go --
				package b
				import m/a >a
				use a.A
				use a.Gen
			`,
			from: "b/b.go",
			want: `a/a.go#A`,
		},
	})
}

func TestGoOwnModuleWinsOverItsNamesake(t *testing.T) {
	runCases(t, []resolveCase{{
		name: "two modules with one path",
		archive: `
			-- a/go.mod --
			module same
			-- a/x/x.go --
			package x
			decl func X
			-- a/a.go --
			package a
			import same/x >x
			use x.X
			-- b/go.mod --
			module same
			-- b/x/x.go --
			package x
			decl func X
		`,
		from: "a/a.go",
		want: `a/x/x.go#X`,
	}})
}

func TestEdgeKeepsKindsAndLines(t *testing.T) {
	tr := newTree(t, `
		-- go.mod --
		module m
		-- a/a.go --
		package a
		decl func F
		-- b/b.go --
		package b
	`)
	refs := &outline.References{
		Imports: []outline.Import{{Module: "m/a", Names: []outline.Binding{{As: "a"}}, Line: 1}},
		Uses: []outline.Use{
			{Qualifier: "a", Member: true, Name: "F", Kind: "call", Lines: []int{3, 5, 7, 9, 11}, More: 2},
			{Qualifier: "a", Member: true, Name: "F", Lines: []int{4}},
		},
	}
	r, err := uses.NewResolver(tr)
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.Edges(tr.files["b/b.go"], refs)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Edges) != 2 {
		t.Fatalf("got %d edges, want one for each kind of use: %+v", len(found.Edges), found.Edges)
	}
	if e := found.Edges[0]; e.Kind != "" || !slices.Equal(e.Lines, []int{4}) || e.More != 0 {
		t.Errorf("the mention is %+v, want line 4", e)
	}
	if e := found.Edges[1]; e.Kind != "call" || !slices.Equal(e.Lines, []int{3, 5, 7, 9, 11}) || e.More != 2 {
		t.Errorf("the call is %+v, want five lines and 2 more", e)
	}
}
