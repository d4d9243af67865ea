package outline_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/outline"
	"ken/internal/repo"
)

// renderRefs formats references as the tests expect them: one import per line, and one use per line with its
// kind and lines.
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
			_, refs, err := outline.ParseWithReferences(path, []byte(strings.TrimPrefix(c.src, "\n")))
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
	top.Run()
}
var top = &Top{}
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
12 call .Any
13 - Server.field
13 call .Deep
14 call f
14 call f().Any
15 type Thing
16 call Thing.Name
17 call log.Info
18 call Top.Run
20 literal Top
`},
		{"a field and a result have the types that the file declares", `
package a
type Server struct { store *Store; pkg.Base; log Logger[int]; n int }
type G[T any] struct { t T }
func open() (*File, error) { return nil, nil }
func (s *Server) run(g G[int]) {
	s.store.Get()
	s.store.index.Find()
	s.Base.Init()
	s.log.Warn()
	f, err := open()
	f.Read()
	err.Any()
	open().Close()
	g.t.Unknown()
	other.store.Put()
}
`, `
2 type Store
2 type pkg.Base
2 type Logger
3 type any
4 type File
6 call Store.Get
7 - Store.index
7 call Store.index.Find
8 call pkg.Base.Init
9 call Logger.Warn
11 call File.Read
13 call File.Close
14 call .Unknown
15 - other.store
15 call other.store.Put
`},
		{"fields of types without a name", `
package a
func f() {
	for _, tt := range []struct{ name, want string }{{name: "a", want: B}} {
		use(tt.name, tt.want, tt.other)
	}
}
`, `
3 - B
4 call use
4 - .other
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
9 reexport : own=other
6 - x
6 - y
7 - D
`},
		{"exports of own names under others", `
import { imported } from './x'
function own() {}
class Other {}
export { own as better, own, unknown as z }
export default Other
export default function create() {}
export default class Foo {}
export default () => 1
module.exports = own
exports.part = Other
module.exports = { a: own, own, imported, b: 1, c: imported }
`, `
1 import ./x: imported
4 reexport : own=better
5 reexport : Other=default
6 reexport : create=default
7 reexport : Foo=default
9 reexport : own=default
10 reexport : Other=part
11 reexport : own=a
11 reexport ./x: imported
11 reexport ./x: imported=c
4 - unknown
11 - imported
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
type T = [named: string, more?: number]
type U<P> = P extends { f: (x: infer R) => infer Q } ? [R, Q] : bigint
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
const top = new T()
top.late()
`, `
1 import ./x: T, ns
2 type T
2 type ns.U
3 call T.run
3 call ns.U.run
3 call .run
4,8 literal T
5 call T.stop
6 call make
6 call make().other
6 - make().other().last
9 call T.late
`},
		{"a value of a call has the path of the function", `
import { mk, ns } from './x'
const o = mk(1), p = ns.mk().next()
o.run(); p.run()
class A { m(a: Other) { this.get().run(); a.get().run(); const b = this.get(); b.stop() } }
function f(mk) { const o = mk(); o.run(); mk().run() }
const n = structuredClone(o); n.run()
`, `
1 import ./x: mk, ns
2 call mk
2 call ns.mk
2 call ns.mk().next
3 call mk().run
3 call ns.mk().next().run
4 type Other
4 call A.get
4 call A.get().run
4 call Other.get
4 call Other.get().run
4 call A.get().stop
5,6 call .run
`},
		{"a field has the type that the file declares", `
interface Opt<P> { part: Part; p: P }
class A {
  private client: Client
  made = new Made()
  constructor(private store: Store) {}
  m(a: A, o: Opt) { this.client.send(); this.made.go(); this.store.get().x; a.client.close(); o.part.run(); o.p.any() }
}
`, `
1 type Part
3 type Client
4 literal Made
5 type Store
6 call Client.send
6 call Made.go
6 call Store.get
6 - Store.get().x
6 call Client.close
6 call Part.run
6 call .any
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
names = ["shop.orders:Order", 'shop.orders.Order', "shop.run", "main:app", "a word", "one", "1.2", "a..b", f"x.{0}", "Shop.x"]
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
13 import text:shop.orders
13 import text:shop.orders
13 import text:shop.run
13 import text:main:app
13 import text:Shop.x
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
class Y:
    a = 1
    b = a + len([c for c in range(3)])
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
		{"a value of a call has the path of the function", `
from m import mk, ns
o = mk(1)
o.run()
class A:
    def m(self, a: Other):
        self.get().run(); a.get().run()
        b = ns.mk().next(); b.stop()
def f(mk, it):
    o = mk(); o.run(); mk().run()
    n = next(it); n.run()
`, `
1 import m: mk, ns
2 call mk
3 call mk().run
5 type Other
6 call A.get
6 call A.get().run
6 call Other.get
6 call Other.get().run
7 call ns.mk
7 call ns.mk().next
7 call ns.mk().next().stop
9,10 call .run
`},
		{"a field has the type that the file declares", `
class A:
    kind: Kind
    def __init__(self, p: Pool):
        self.pool = Pool()
        self.store: Store = make()
        self.both = One()
        self.both = Two()
    def m(self):
        self.pool.get(); self.store.put(); self.kind.show(); self.both.any()
`, `
2 type Kind
3 type Pool
4 call Pool
5 type Store
5 call make
6 call One
7 call Two
9 call Pool.get
9 call Store.put
9 call Kind.show
9 call .any
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

func TestRustReferences(t *testing.T) {
	testReferences(t, "a.rs", []refsCase{
		{"imports", `
use std::fmt;
use a::{b, c::{self, d as e}, f::*};
pub use crate::x::Y;
use z::Trait as _;
extern crate foo as bar;
mod m;
mod n { mod o; }
fn f() { use late::Thing; Thing::new(b::q(), e, c::r, fmt::s, bar::t); }
`, `
1 import std::fmt: =fmt
2 import a::b: =b
2 import a::c: =c
2 import a::c::d: =e
2 import a::f: *
3 reexport crate::x::Y: =Y
4 import z::Trait
5 import foo: =bar
6 import self::m
7 import self::n::o
8 import late::Thing: =Thing
8 call Thing.new
8 call b.q
8 - e
8 - c.r
8 - fmt.s
8 - bar.t
`},
		{"kinds", `
#[derive(Debug, my::Derived)]
struct S<T: Bound> where T: Other { f: Vec<Field<T>>, g: path::Ty }
impl my::Trait for S<u8> {
    fn run(x: &Param) -> Option<ns::R> {
        let v = Config { field: 1, ..base() };
        match x {
            Color::Red => 1,
            Some(Kind { part, other: Deep(q) }) if cond(q, part) => 2,
            LIMIT => 3,
            n => n,
        };
        mac!(helper(Inner::new(), v.d, skipped), CONST);
        Wrapper(v as Cast)
    }
}
`, `
1 - my.Derived
2 type Bound
2 type Other
2 type Field
2 type path.Ty
3 type my.Trait
4 type Param
4 type ns.R
5 literal Config
5 - Config.field
5 call base
7 match Color.Red
8 match Kind
8 match Deep
8 call cond
9 match LIMIT
12 call mac
12 call helper
12 call Inner.new
12 - .d
12 - CONST
13 literal Wrapper
13 type Cast
`},
		{"locals are no uses", `
fn f<T>(a: T, (b, mut c): (u8, u8)) {
    let d = a;
    let Some(e) = b else { return };
    if let Ok(g) = c { g; }
    for h in d { h; }
    let k = |i, j: u8| i + j + e;
    fn inner() {}
    inner();
    while let Some(l) = k() { l; }
    loop { break 'x; }
}
const K: u8 = 1;
fn g() -> u8 { K + later }
`, `
13 - later
`},
		{"paths and members", `
struct S { x: u8, y: &Y }
impl S {
    fn own(&self) { self.x; self.own(); self.other(); Self::own(); Self::make(); self.y.part.run(); }
}
fn f(s: &Server, t: net::Conn) {
    s.run(); t.close(); crate::a::b(); super::up::C::d();
    let j = Job::new(); j.start();
    unknown().thing();
}
`, `
1 type Y
3 call S.other
3 call S.make
3 - Y.part
3 call .run
5 type Server
5 type net.Conn
6 call Server.run
6 call net::Conn.close
6 - crate.a
6 call crate::a.b
6 - super.up
6 - super::up.C
6 call super::up::C.d
7 call Job.new
7 call Job.start
8 call unknown
8 call .thing
`},
	})
}

func TestJavaReferences(t *testing.T) {
	testReferences(t, "A.java", []refsCase{
		{"imports", `
package p;
import a.b.C;
import static a.b.D.f;
import static a.b.E.*;
import a.b.*;
class A { C c = f(); }
`, `
2 import a.b.C: =C
3 import a.b.D: f
4 import a.b.E: *
5 import a.b: *
6 type C
6 call f
`},
		{"kinds", `
@Anno(value = K.X)
class A<T extends Bound> extends Base<T> implements Face {
  Ret run(Param p) throws Err {
    try { x(); } catch (Bad | pk.Worse e) { throw new Other(e); }
    switch (p) { case RED: break; }
    Object o = switch (p) { case Sub s -> s.v(); default -> Kind.BLUE; };
    return (Cast) Util.help(Cls::method, Made::new);
  }
}
`, `
1 call Anno
1 - K.X
2 type Bound
2 type Base
2 type Face
3 type Ret
3 type Param
3 type Err
4 call x
4 match Bad
4 match pk.Worse
4 literal Other
5 match RED
6 match Sub
6 call Sub.v
6 - Kind.BLUE
7 type Cast
7 call Util.help
7 - Cls.method
7 literal Made
`},
		{"locals and members are no uses", `
class A<T> {
  int n; final Job job = null;
  <U> A(T t, int... more) { this.n = more.length; n = helper(t); missing(n); super.up(); }
  int helper(T t) {
    for (Item i : items()) { i.use(); }
    for (int j = 0; j < n; j++) {}
    Fn f = (a, b) -> a + b; Fn g = z -> z;
    if (f instanceof Pat p) { p.m(); }
    lbl: while (true) { break lbl; }
    job.start(); this.job.stop();
    var v = new Thing(); v.go();
    return Inner.X;
  }
  static class Inner { static int X; }
}
`, `
2 type Job
3 call missing
3 call .up
5 type Item
5 call items
5 call Item.use
7 type Fn
8 type Pat
8 call Pat.m
10 call Job.start
10 call Job.stop
11 literal Thing
11 call Thing.go
`},
	})
}

func TestCReferences(t *testing.T) {
	testReferences(t, "a.c", []refsCase{
		{"names", `
#include <stdio.h>
#include "a/b.h"
#define LIMIT 10
#define CALL(x) wrapped(x, EXTRA)
enum color { RED, BLUE = BASE };
typedef struct node { struct node *next; kind_t k; } node_t;
static struct other *table[SIZE] = { first };
static int own(int a) { return a; }
int run(node_t *n, const struct thing *t) {
	int i = LIMIT, *p = &shared;
	for (i = 0; i < RED; i++) { own(i); helper(n->next, t->field); }
	switch (i) { case BLUE: case GREEN: goto out; }
	struct point q = { .x = sizeof(width_t) };
	if (q.x) printf("%d", (cast_t)p);
out:
	return CALL(i);
}
#ifdef FLAG
#endif
`, `
1 import stdio.h
2 import a/b.h
4 call wrapped
4 - EXTRA
5 - BASE
6 type kind_t
7 type other
7 - SIZE
7 - first
9 type thing
10 - shared
11 call helper
11 - thing.field
12 match GREEN
13 type point
13 - .x
13 - width_t
14 - point.x
14 type cast_t
18 - FLAG
`},
	})
	testReferences(t, "a.cc", []refsCase{
		{"classes", `
#include "a.h"
using ns::Thing;
namespace q {
template <typename T> class C : public Base<T>, ns::B2 {
 public:
  C(Param p) : Base<T>(p), m_(p) { helper(); own(); kMax; }
  Ret run(int a, Foo* f) const;
  void own() { other(); }
  static const int kMax = 3;
  Field m_;
};
Ret C::run(int a, Foo* f) const {
  auto v = new Thing(f); v->go(); f->go(); ns::fn(a, m_); this->own(); this->base(); m_.call();
  for (auto& i : list) { i.use(); }
  try {} catch (const Bad& e) { throw Other(e); }
  switch (a) { case E::A: break; }
  auto lam = [&](int z) { return z + cap; };
  C<int>::make(); std::vector<Elem> ve; static_cast<Cast>(a);
}
}
`, `
1 import a.h
2 - ns.Thing
4 type Base
4 type ns.B2
6 type Param
6 call helper
7,12 type Ret
7,12 type Foo
8 call other
10 type Field
13 literal Thing
13 call Thing.go
13 call Foo.go
13 call ns.fn
13 call C.base
13 call .call
14 - list
14 call .use
15 match Bad
15 call Other
16 match E.A
17 - cap
18 call C.make
18 type Elem
18 type Cast
`},
	})
}

func TestCSharpReferences(t *testing.T) {
	testReferences(t, "A.cs", []refsCase{
		{"names", `
using A.B; using static A.C; using X = A.D;
namespace N {
[Attr(K.X)]
public class Q<T> : Base<T>, IFace where T : Bound {
  readonly Store _store = new();
  Prop P { get; set; } = Make();
  Q(Param p, int n = DEF) : base(p) { this.P = null; _store.Save(p); Own(); this.Other(); }
  Ret Own<U>(U u, out Foo f) {
    var l = new Local(u) { Key = val }; l.Go(); l.Field.Deep();
    foreach (Item i in l.Items) { i.Use(); }
    try { } catch (Bad e) when (e.Hard) { throw new Other(e); }
    switch (u) { case Color.Red: break; case Sub s: s.V(); break; }
    Fn g = z => z; Func<int> h = (a, b) => a + b; if (u is Pat p2) { p2.M(); }
    var w = (Cast)typeof(Typ); w?.Safe(); Gen<Arg>.Stat(); var t = $"{interp(x)}"; call(name: 1);
    A.B.Full.Stat(); int Loc(int q) => q; Loc(1);
  }
  enum E { One = Val, Two }
}}
`, `
1 import A.B: *
1 import A.C: *
1 import A.D: =X
3 call Attr
3 - K.X
4 type Base
4 type IFace
4 type Bound
5 type Store
6 type Prop
6 call Make
7 type Param
7 - DEF
7 call Store.Save
7 call Q.Other
8 type Ret
8 type Foo
9 literal Local
9 - Local.Key
9 - val
9 call Local.Go
9 - Local.Field
9 call .Deep
10 type Item
10 - Local.Items
10 call Item.Use
11 match Bad
11 - Bad.Hard
11 literal Other
12 match Color.Red
12 match Sub
12 call Sub.V
13 type Fn
13 match Pat
13 call Pat.M
14 type Cast
14 type Typ
14 call .Safe
14 type Arg
14 call Gen.Stat
14 call interp
14 - x
14 call call
15 - A.B
15 - A.B.Full
15 call A.B.Full.Stat
17 - Val
`},
	})
}

func TestRubyReferences(t *testing.T) {
	testReferences(t, "a.rb", []refsCase{
		{"names", `
require 'json'
require_relative "lib/x"
autoload :Foo, 'foo'
module M
  class A < Base::Klass
    include Mixin
    CONST = Other.new(1)
    def run(a, b = dflt, *c, k: 1, &blk)
      y = helper(a)
      y.go(b); @iv = Thing::Deep.build; own; self.own; self.missing; bare
      c.each { |i, (j, q)| i.use(j, CONST); other(q, k, blk) }
      begin; rescue Err::Bad, Worse => ex; ex.m; end
      case a when Red then 1 end
      p, r = pair; "#{interp(y)}"; ->(l) { l + free }
      h = { key: v }
      Foo.bar(h, p, r)
    end
    def own; end
  end
end
`, `
1 import json
2 import ./lib/x
3 import foo: Foo
5 type Base.Klass
6 - Mixin
7 literal Other
8 call dflt
9 call helper
10 call .go
10 - Thing.Deep
10 call Thing::Deep.build
10 call M::A.missing
10 call bare
11 call .use
11 call other
12 match Err.Bad
12 match Worse
12 call .m
13 match Red
14 call pair
14 call interp
14 call free
15 call v
16 call Foo.bar
`},
	})
}

func TestPHPReferences(t *testing.T) {
	testReferences(t, "a.php", []refsCase{
		{"names", `
<?php
namespace App\M;
use A\B\C; use A\{D, E as F}; use function A\fn1;
require_once __DIR__ . '/x.php';
include 'y.php';
#[Attr]
class Q extends Base implements \Glob\I2 {
  use Tr1;
  const K1 = Other::VAL;
  private ?Typ $f = null;
  public function __construct(private Dep $d, int|Union $u = DEF) {}
  public function run(Param $p): Ret {
    $l = new Local($p); $l->go()->more(); helper(fn1()); Ns\fn2(); Util::stat($p->part);
    self::missing(); $this->d->deep(); $this->run(); $this->other();
    try {} catch (Bad | \Worse $e) { throw new C($e); }
    switch ($p) { case Color::RED: break; }
    $g = fn(T3 $x) => $x instanceof Inst; return F::class;
  }
}
function own() { own(); }
`, `
3 import A\B\C: =C
3 import A\D: =D
3 import A\E: =F
3 import A: fn1
4 import ./x.php
5 import y.php
6 call Attr
7 type Base
7 type \Glob.I2
8 type Tr1
9 - Other.VAL
10 type Typ
11 type Dep
11 type Union
11 - DEF
12 type Param
12 type Ret
13 literal Local
13 call Local.go
13 call .more
13 call helper
13 call fn1
13 call Ns.fn2
13 call Util.stat
13 - Param.part
14 call Q.missing
14 call Dep.deep
14 call Q.other
15 match Bad
15 match Worse
15 literal C
16 match Color.RED
17 type T3
17 type Inst
17 - F
`},
	})
}

func TestBashReferences(t *testing.T) {
	testReferences(t, "a.sh", []refsCase{
		{"names", `
#!/bin/bash
source ./lib.sh
. "$DIR/util.sh"
DIR=x
own() { local x=1; helper "$x" "$GLOBAL" | other -a; own; }
if check_it && ! test -f "${CONFIG}"; then ./scripts/run.sh arg; fi
out=$(compute "$HOME") || die "msg"
bash tools/x.sh
trap cleanup EXIT
`, `
2 import ./lib.sh
3 import $DIR/util.sh
6 import ./scripts/run.sh
8 import tools/x.sh
5 call helper
5 - GLOBAL
5 call other
6 call check_it
6 - CONFIG
7 call compute
7 call die
9 call cleanup
`},
	})
}

// A document has no references.
func TestMarkdownReferences(t *testing.T) {
	testReferences(t, "a.md", []refsCase{{"names", "# Title\n\n[a](b.md)\n", ""}})
}

// References lists every use of an imported name, unqualified or as a qualifier.
func TestImportedNamesAreUses(t *testing.T) {
	for _, lang := range []struct {
		path   repo.Path
		file   string // with placeholders for the import and the use
		binds  map[string]string
		places []string
	}{
		{
			"a.go", "package a\n\nimport %s\n\n%s\n",
			map[string]string{"name": "\"example.com/name\"", "other": "other \"example.com/x\""},
			[]string{
				"var x = NAME.A", "var x NAME.T", "func f(p NAME.T) {}", "func f() NAME.T { panic(0) }", "func (r R) m() { NAME.F() }",
				"type T struct{ f NAME.T }", "type T struct{ NAME.T }", "type I interface{ NAME.I }", "func f() { go func() { NAME.F() }() }",
				"func f() { switch x := y.(type) { case NAME.T: _ = x } }", "func f() { for i := range NAME.A { _ = i } }",
				"func f() { if v := NAME.F(); v {} }", "var x = []NAME.T{{A: 1}}", "var x = map[NAME.K]int{NAME.A: 1}", "const c = NAME.C + 1",
				"type G[T NAME.C] struct{}", "func f() { defer NAME.F() }", "func f() { ch <- NAME.A }", "var x = f[NAME.T]()", "type A = NAME.T",
			},
		},
		{
			"a.tsx", "%s\n%s\n",
			map[string]string{
				"name": "import name from './m'", "other": "import { x as other } from './m'", "ns": "import * as ns from './m'",
				"req": "const req = require('./m')", "part": "const { part } = require('./m')",
			},
			[]string{
				"NAME()", "NAME.f()", "x = NAME", "export default NAME", "f(NAME)", "const x = { NAME }", "const x = { k: NAME }", "const x = [NAME]",
				"class A { m() { return NAME } }", "class A extends NAME {}", "class A { f = NAME }", "const f = () => NAME", "const f = (x = NAME) => x",
				"if (NAME) {}", "for (const x of NAME) {}", "throw NAME", "x = y ? NAME : 0", "export { NAME }", "new NAME()", "let x: typeof NAME",
				"async function f() { await NAME }", "x = <div p={NAME}/>", "x = a?.[NAME]", "x ??= NAME", "switch (x) { case NAME: }",
				"x = `${NAME}`", "NAME++", "delete NAME.x", "function f({ a = NAME }) {}", "@NAME class B {}", "type T = NAME.U",
			},
		},
		{
			"a.py", "%s\n%s\n",
			map[string]string{"name": "import name", "other": "from m import other", "third": "from . import x as third", "dotted": "import dotted.sub"},
			[]string{
				"NAME()", "NAME.f()", "x = NAME.a", "def f(): return NAME.a", "def f(p=NAME.a): pass", "def f(p: NAME.T): pass", "class A(NAME.B): pass",
				"@NAME.d\ndef f(): pass", "class A:\n    x = NAME.f()", "class A:\n    def m(self): return NAME.a", "[NAME.f(x) for x in y]",
				"with NAME.f() as g: pass", "try: pass\nexcept NAME.E: pass", "raise NAME.E", "assert NAME.a", "lambda: NAME.a", "f'{NAME.a}'",
				"if NAME.a: pass", "x[NAME.a]", "f(k=NAME.a)", "print(*NAME.a)", "del NAME.a", "def f():\n    yield NAME.a", "x: NAME.T = 1",
				"match x:\n    case NAME.C: pass", "def f():\n    def g():\n        return NAME.a", "async def f(): await NAME.f()",
			},
		},
		{
			"a.rs", "%s\n%s\n",
			map[string]string{"Name": "use m::Name;", "other": "use m::x as other;", "third": "use m::{self, third};"},
			[]string{
				"fn f() { NAME::g(); }", "fn f() -> NAME::T { x }", "struct S { f: NAME::T }", "impl NAME::T for X {}", "fn f() { mac!(NAME::g()); }",
				"fn f() { let x = NAME::A; }", "fn f(x: &NAME::T) {}", "fn f() { match x { NAME::A => 1 } }", "static X: NAME::T = NAME::A;",
				"fn f() { NAME::S { a: 1 } }", "fn f() { || NAME::g() }", "fn f<T: NAME::B>() {}", "type T = Vec<NAME::U>;", "trait T: NAME::U {}",
				"fn f() { x.y(NAME::A) }", "enum E { V(NAME::T) }", "#[derive(NAME::D)]\nstruct S;", "fn f() { if let NAME::A(b) = x {} }",
			},
		},
		{
			"A.java", "%s\n%s\n",
			map[string]string{"Name": "import a.Name;", "other": "import static a.B.other;"},
			[]string{
				"class A { int x = NAME.a; }", "class A extends NAME {}", "class A { NAME f; }", "class A { void m() { NAME.f(); } }", "class A { void m(NAME p) {} }",
				"class A { NAME m() { return null; } }", "@NAME class A {}", "class A { Object o = new NAME(); }", "class A implements I<NAME> {}",
				"class A { void m() { f(NAME.a); } }", "class A { void m() { for (NAME n : list) {} } }", "class A { void m() { Fn f = () -> NAME.f(); } }",
				"class A { void m() { Fn f = NAME::g; } }", "class A { void m() throws NAME {} }", "class A { Object o = (NAME) x; }",
				"class A { void m() { try {} catch (NAME e) {} } }", "enum E { ONE(NAME.a); }", "record R(NAME n) {}", "interface I extends NAME {}",
			},
		},
		{
			"a.php", "<?php\n%s\n%s\n",
			map[string]string{"Name": "use A\\Name;", "Other": "use A\\B as Other;"},
			[]string{
				"NAME::f();", "new NAME();", "class A extends NAME {}", "class A implements NAME {}", "class A { use NAME; }", "function f(NAME $x) {}",
				"function f(): NAME {}", "$x = NAME::A;", "$x = NAME::class;", "class A { private NAME $f; }", "class A { function m() { return NAME::f(); } }",
				"try {} catch (NAME $e) {}", "$f = fn(NAME $x) => 1;", "#[NAME]\nclass A {}", "if ($x instanceof NAME) {}", "NAME\\g();",
			},
		},
	} {
		for name, bind := range lang.binds {
			for _, place := range lang.places {
				src := fmt.Sprintf(lang.file, bind, strings.ReplaceAll(place, "NAME", name))
				o, refs, err := outline.ParseWithReferences(lang.path, []byte(src))
				if err != nil || o.Partial != "" {
					t.Errorf("%s does not parse: %v, %+v", src, err, o)
					continue
				}
				bound := slices.ContainsFunc(refs.Imports, func(im outline.Import) bool {
					return slices.ContainsFunc(im.Names, func(b outline.Binding) bool { return b.Local() == name || b.Local() == name+".sub" })
				})
				used := slices.ContainsFunc(refs.Uses, func(u outline.Use) bool {
					return u.Qualifier == name || strings.HasPrefix(u.Qualifier, name+".") || u.Qualifier == "" && !u.Member && u.Name == name
				})
				if !bound || !used {
					t.Errorf("bound %v, used %v:\n%s%s", bound, used, src, renderRefs(refs))
				}
			}
		}
	}
}

// A name that the parser inserts at the end of a truncated file is not a use.
func TestBrokenReferences(t *testing.T) {
	testReferences(t, "a.go", []refsCase{{"cut off", "package a\n\nvar x = pkg.", ""}})
	testReferences(t, "A.cs", []refsCase{{"no alias", "using = System.Text;\nclass A {}\n", "1 import System.Text\n"}})
}

// The binary form decodes to equal references. A truncated form gives an error.
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
