#!/usr/bin/env node
'use strict'
// Routes requests.

/** Adds two. */
function add(a, b = 1, ...rest) {
  // plain
  const re = /a b\/\/c[/]/g, half = a / b / 2 /* behind */
  let s = `x  ${a /* in it */ + `${b} y`} z
  // text`;
  if (a) return
  else if (b) { return a + b }
  for (let i = 0; i < 10; i++) { s += i; if (!s) continue; }
  outer: for (const [k, { v }] of Object.entries(rest)) { if (k) break outer }
  a
  ++b
  a++
  return a ? -b : +b - -a
}

class C extends (class {}) {
  #x = 1; static y = 2
  static { this.z = 3 }
  get w() { return this.#x } set w(v) { this.#x = v }
  async *gen() { yield; yield* other(); await 1 }
  static async
  get
  'q r'() {}
  async
  m() {}
}

const f = async (x) => { await x }, g = async x => x ** 2, h = (x) =>
  x?.y ?? [x, , ...x]
let o = { a, 'b': 1, [c]: 2, get d() { return 1 }, async e() {}, ...f }
var async, get, let_
async
function later() {}
do x(); while (y) z()
switch (o.a) { case 1: case 'b': f(); break; default: throw new Error('no  way') }
try { f() } catch { g() } finally { }
label: { if (a) b(); else c() }
const t = tag`a ${1} b`
const n = 1..toString() + 0x1F + 1_000n
;[1, 2].forEach(f)
;(function () { return typeof void 0 })()
a = b
(c)
debugger
delete a.b, a in b, a instanceof b
