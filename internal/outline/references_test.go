package outline_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/outline"
	"ken/internal/repo"
)

// renderRefs writes references as the tests below expect them: an import per line, and a
// use per line with its kind and lines.
func renderRefs(r *outline.References) string {
	var b strings.Builder
	for _, im := range r.Imports {
		word := "import"
		if im.Reexport {
			word = "reexport"
		}
		fmt.Fprintf(&b, "%d %s %s", im.Line, word, im.Module)
		for i, name := range im.Names {
			separator := ":"
			if i > 0 {
				separator = ","
			}
			fmt.Fprintf(&b, "%s %s", separator, name.Name)
			if name.As != "" {
				fmt.Fprintf(&b, "=%s", name.As)
			}
		}
		b.WriteByte('\n')
	}
	for _, u := range r.Uses {
		fmt.Fprint(&b, strings.Trim(strings.ReplaceAll(fmt.Sprint(u.Lines), " ", ","), "[]"))
		if u.More > 0 {
			fmt.Fprintf(&b, "+%d", u.More)
		}
		kind := u.Kind
		if kind == outline.UseMention {
			kind = "-"
		}
		fmt.Fprintf(&b, " %s ", kind)
		if u.Member {
			fmt.Fprintf(&b, "%s.", u.Qualifier)
		}
		fmt.Fprintf(&b, "%s\n", u.Name)
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", r.More)
	}
	if r.Partial != "" {
		fmt.Fprintf(&b, "partial: %s\n", r.Partial)
	}
	return b.String()
}

type refsCase struct {
	name string
	src  string
	want string
}

// testReferences compares the references of small files with the expected lines.
func testReferences(t *testing.T, path repo.Path, cases []refsCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, refs, err := outline.Read(path, []byte(strings.TrimPrefix(c.src, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			got := renderRefs(refs)
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), got); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGoReferences(t *testing.T) {
	testReferences(t, "a.go", []refsCase{
		{"imports", `
package a
import "fmt"
import (
	_ "embed"
	. "strings"
	str "strconv"
	"example.com/go-yaml"
	"example.com/x/v2"
	"gopkg.in/check.v1"
)
var _ = yaml.Parse(x.A, check.B, str.C)
`, `
2 import fmt: =fmt
4 import embed
5 import strings: *
6 import strconv: =str
7 import example.com/go-yaml: =yaml
8 import example.com/x/v2: =x
9 import gopkg.in/check.v1: =check
11 call yaml.Parse
11 - x.A
11 - check.B
11 - str.C
`},
		{"names of other files of the package", `
package a
func f() { helper(limit, own) }
const own = 1
`, `
2 call helper
2 - limit
`},
		{"kinds", `
package a
type T struct{ a Base; *pkg.Embedded }
func f(x Param) (Result, error) {
	switch y := x.(type) {
	case *Case, pkg.Case:
		use(y)
	}
	switch x {
	case Red:
	}
	return Lit{Field: 1}, new(New)
}
`, `
2 type Base
2 type pkg.Embedded
3 type Param
3 type Result
5 match Case
5 match pkg.Case
6 call use
9 match Red
11 literal Lit
11 - Lit.Field
11 literal New
`},
		{"locals are no uses", `
package a
func f(p int, q ...string) (res int) {
	a, b := p, q
	var c = a
	for i := range b {
		_ = i
	}
	func(inner int) { _ = inner + c }(res)
L:
	for {
		break L
	}
	type local struct{}
	_ = local{}
	return
}
func g[K comparable, V any](m map[K]V) (k K) { return k }
`, `
17 type any
`},
		{"a local hides an import from its declaration on", `
package a
import "net/url"
func f() {
	url := url.Parse()
	url.Escape()
}
func g() { url.Escape() }
`, `
2 import net/url: =url
4 call url.Parse
5 call .Escape
7 call url.Escape
`},
		{"a variable in one block hides nothing in another", `
package a
func f() {
	if x := g(); x { _ = x }
	_ = x
}
func g() bool { return true }
`, `
4 - x
`},
		{"a member has the type of its variable", `
package a
import "net/http"
func (s *Server) run(c *http.Client, d Dir[int]) {
	s.start()
	c.Do()
	d.Read()
	x := &Job{}
	x.Done()
	var y Queue
	y.Push()
	z := make()
	z.Any()
	s.field.Deep()
	f().Any()
	v, ok := z.(Thing)
	v.Name()
	log.Info()
}
`, `
2 import net/http: =http
3 type Server
3 type http.Client
3 type Dir
4 call Server.start
5 call http.Client.Do
6 call Dir.Read
7 literal Job
8 call Job.Done
9 type Queue
10 call Queue.Push
12,14 call .Any
13 - Server.field
13 call .Deep
14 call f
15 type Thing
16 call Thing.Name
17 call log.Info
`},
		{"members that the file declares are no uses", `
package a
type S struct{ n int }
func (s S) run() { s.n++; s.run(); s.other() }
`, `
3 call S.other
`},
		{"keys of literals", `
package a
var a = map[string]int{Key: 1}
var b = []T{{Name: Value}, {Name: 2}}
var c = [...]string{Index: "x"}
var d = pkg.T{Name: 1}
var e = map[K]*T{{Part: 1}: {Name: 3}}
`, `
2 - Key
3 literal T
3,6 - T.Name
3 - Value
4 - Index
5 literal pkg.T
5 - pkg.T.Name
6 type K
6 type T
6 - K.Part
`},
		{"lines", `
package a
func f() {
	g(); g()
	g()
	g()
	g()
	g()
	g()
	g()
}
`, `
3,4,5,6,7+2 call g
`},
	})
}

func TestScriptReferences(t *testing.T) {
	testReferences(t, "a.tsx", []refsCase{
		{"imports", `
import 'side'
import React, { useState as state, type FC } from "react"
import * as ns from './ns'
import type { T } from '../types'
import fs = require('fs')
const { a, b: c } = require('./cjs')
const part = require('./whole').part
async function load() {
  const lazy = await import('./lazy')
  import('./later')
  return lazy.x(a, c, part, fs.read, state, ns.y)
}
jest.mock('./mocked')
`, `
1 import side
2 import react: default=React, useState=state, FC
3 import ./ns: =ns
4 import ../types: T
5 import fs: =fs
6 import ./cjs: a, b=c
7 import ./whole: part
9 import ./lazy: =lazy
10 import ./later
13 import ./mocked
11 call lazy.x
11 - a
11 - c
11 - part
11 - fs.read
11 - state
11 - ns.y
13 call jest.mock
`},
		{"exports of other modules", `
export * from './all'
export * as ns from './ns'
export { a, b as c, default as d } from './some'
import { x, y } from './x'
import D from './d'
export { x, y as z }
export default D
export const own = 1
export { own as other }
`, `
1 reexport ./all: *
2 reexport ./ns: =ns
3 reexport ./some: a, b=c, default=d
4 import ./x: x, y
5 import ./d: default=D
6 reexport ./x: x
6 reexport ./x: y=z
7 reexport ./d: default
6 - x
6 - y
7 - D
`},
		{"kinds", `
class A extends Base implements Face { m(p: Param): Result { return new Made(call(p)) } }
type U = Other | ns.Inner<Arg>
switch (v) { case Color.Red: break }
const e = <Comp prop={value}><ns.Part/><div/></Comp>
@decorate class B {}
@made() class C {}
let f = thing as Cast
`, `
1 type Base
1 type Face
1 type Param
1 type Result
1 literal Made
1 call call
2 type Other
2 type ns.Inner
2 type Arg
3 - v
3 match Color.Red
4 call Comp
4 - value
4 call ns.Part
5 call decorate
6 call made
7 - thing
7 type Cast
`},
		{"locals are no uses", `
function f(a, { b, c: d, ...e }, [g = dflt], ...h) {
  const i = a, [j, { k }] = b
  for (const l of d) { l(e, g, h, i, j, k) }
  try {} catch (m) { m() }
  const n = (o) => o + p => p
  function q() { return r }
  var r = 1
  class S {}
  label: for (;;) { break label }
  return [n, q, S, ({ key: a, b })]
}
const fn = function self() { self() }
type G<P> = { [Q in keyof P]: P[Q] } & (P extends Array<infer R> ? R : never)
interface H<P> { (x: P): P; new (y: P): P; [index: string]: P }
function is(x: unknown): x is string { return true }
`, `
1 - dflt
`},
		{"a declaration hides an import in its block only", `
import { a, b } from './x'
function f() { a(); let b = 1; { let a = b } }
{ b() ; const a = 1 ; a }
function g(b) { b() }
`, `
1 import ./x: a, b
2 call a
3 call b
`},
		{"a block sees its declarations before they stand", `
import { a } from './x'
function f() { return () => a(); function a() {} }
`, `
1 import ./x: a
`},
		{"a member has the type of its variable", `
import { T, ns } from './x'
function f(x: T, y: ns.U<string>, z) {
  x.run(); y.run(); z.run()
  const w = new T()
  w.stop()
  make().other().last
}
`, `
1 import ./x: T, ns
2 type T
2 type ns.U
3 call T.run
3 call ns.U.run
3 call .run
4 literal T
5 call T.stop
6 call make
6 call .other
6 - .last
`},
		{"members of the class itself", `
class A extends B {
  constructor(private field: F) { super(); this.set = 1 }
  own() { this.own(); this.set; this.field; this.inherited(); this.#secret }
  #secret = 1
}
`, `
1 type B
2 type F
3 call A.inherited
`},
		{"names of the language are no uses", `
console.log(JSON.stringify(new Map()), undefined, Promise.resolve(window.x))
list.map(x => x).forEach(own)
`, `
2 call list.map
2 - own
`},
		{"a name of the language that an import binds is one", `
import { Map } from 'immutable'
new Map()
`, `
1 import immutable: Map
2 literal Map
`},
		{"templates", "const s = `a ${b(c.d)}`\n", `
1 call b
1 - c.d
`},
	})
}

func TestPythonReferences(t *testing.T) {
	testReferences(t, "a.py", []refsCase{
		{"imports", `
from __future__ import annotations
import os, a.b.c
import numpy as np
from . import sibling
from .mod import x as y, z
from ..up import *
from pkg import (one,
    two)
def f():
    from late import thing
    return thing(np.array, a.b.c.call(), sibling.q, y, one)
importlib.import_module("by.name")
`, `
1 import __future__
2 import os: =os
2 import a.b.c: =a.b.c
3 import numpy: =np
4 import .: sibling
5 import .mod: x=y, z
6 import ..up: *
7 import pkg: one, two
10 import late: thing
12 import by.name
11 call thing
11 - np.array
11 - a.b
11 - a.b.c
11 call a.b.c.call
11 - sibling.q
11 - y
11 - one
12 call importlib.import_module
`},
		{"kinds", `
@decorated
@app.route("/")
class A(Base, metaclass=Meta):
    field: Kind = default()
def f(x: Param, y: "Quoted", z: list[Inner | None] = fallback) -> Result:
    try:
        pass
    except (Broken, pkg.Worse) as e:
        raise Other from e
    match x:
        case Point(x=0, y=name) | pkg.CONST:
            return name
`, `
1 call decorated
2 call app.route
3 type Base
3 - Meta
4 type Kind
4 call default
5 type Param
5 type Quoted
5 type Inner
5 - fallback
5 type Result
8 match Broken
8 match pkg.Worse
9 - Other
11 match Point
11 match pkg.CONST
`},
		{"locals are no uses", `
def f(a, b=1, *c, d: int, **e):
    g, (h, *i) = a, b
    for j in c: print(j)
    with d as k: k()
    l = [m for m in e if (n := m)]
    o = lambda p: p + g + h + i
    def q(): return later
    later = 1
    class R: pass
    return l, o, q, R, {s: t for s, t in l}
u = 1
def v():
    global w
    w = u
def x(): return w
`, `
`},
		{"an assignment hides an import in the whole function", `
import a
def f():
    a.b()
    a = 1
def g():
    a.c()
class C:
    a = 2
    def m(self):
        a.d()
`, `
1 import a: =a
3 call .b
6 call a.c
10 call a.d
`},
		{"a member has the type of its variable", `
from m import T
def f(x: T, y: "T", z):
    x.run(); y.stop(); z.any()
    w = T()
    w.go()
    v: T = make()
    v.last
`, `
1 import m: T
2,6 type T
3 call T.run
3 call T.stop
3 call .any
4 call T
5 call T.go
6 call make
7 - T.last
`},
		{"members of the class itself", `
class A:
    def __init__(self):
        self.x = 1
    def m(self):
        self.x; self.m(); self.inherited()
    @classmethod
    def c(cls):
        cls.m(); cls.other
`, `
5 call A.inherited
8 - A.other
`},
		{"a name that is imported or declared stays a use", `
try:
    import json
except ImportError:
    json = None
json.dumps()
`, `
2 import json: =json
5 call json.dumps
`},
		{"strings", `
x = f"{call(name.part)!r:>{width}} {{no}}"
`, `
1 call call
1 - name.part
1 - width
`},
		{"keywords of calls are no uses", `
f(key=value)
`, `
1 call f
1 - value
`},
	})
}

// The binary form reads back the same, and no part of it reads as a whole.
func TestReferencesBinary(t *testing.T) {
	refs := &outline.References{
		Imports: []outline.Import{
			{Module: "a", Line: 3, Names: []outline.Binding{{Name: "x", As: "y"}, {Name: "*"}}},
			{Module: "b", Line: 1, Reexport: true},
		},
		Uses: []outline.Use{
			{Name: "f", Kind: outline.UseCall, Lines: []int{1, 5, 70000}, More: 3},
			{Qualifier: "x", Member: true, Name: "f", Kind: outline.UseMatch, Lines: []int{2}},
			{Member: true, Name: "g", Lines: []int{2, 3, 4, 5, 6}},
		},
		More: 7, Partial: "cut",
	}
	for _, want := range []*outline.References{refs, {}} {
		b, err := want.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got outline.References
		if err := got.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(&got, want) {
			t.Errorf("read back %+v, %v; want %+v", got, err, want)
		}
		for n := range b {
			if err := got.UnmarshalBinary(b[:n]); err == nil {
				t.Errorf("the first %d of %d bytes read as %+v; want an error", n, len(b), got)
			}
		}
		if err := got.UnmarshalBinary(append(b, 0)); err == nil {
			t.Error("a byte more is no error")
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var back outline.References
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(&back, want) {
			t.Errorf("%s reads back as %+v, %v", text, back, err)
		}
	}
}
