package uses_test

import "testing"

func TestValuesOfCallsGo(t *testing.T) {
	const pkg = `
-- go.mod --
module m
-- g/g.go --
package g

import "m/other"

type One struct{ Base }

func (One) Frob() {}

func (o *One) Next() *One { return o }

type Two struct{}

func (Two) Frob() {}

func (Two) Deep() {}

type Base struct{}

func (Base) Deep() {}

func Mk() (*One, error) { return nil, nil }

func Far() other.Far { return other.Far{} }

func Any[One any](o One) One { return o }

var Ready One

var Made = Far()
-- other/other.go --
package other

type Far struct{}

func (Far) Frob() {}
-- gm/own.go --
package gm

import "m/g"

func start() *g.One { return nil }

var made, _ = g.Mk()
`
	for _, c := range []struct{ name, code, want string }{
		{"a package-level variable", "var o = g.Far()\nfunc F() { o.Frob() }", "g/g.go#Far\nother/other.go#Far.Frob"},
		{"a local variable", "func F() { o, err := g.Mk(); o.Frob(); o.Deep() }", "g/g.go#Base.Deep\ng/g.go#Mk\ng/g.go#One.Frob"},
		{"a chain", "func F() { start().Next().Next().Frob() }", "g/g.go#One.Frob\ng/g.go#One.Next\ngm/own.go#start"},
		{"the second result", "func F() { _, o := g.Mk(); o.Frob() }", "g/g.go#Mk\nambiguous 1"},
		{"a type parameter", "func F() { g.Any(1).Frob() }", "g/g.go#Any\nambiguous 1"},
		{"a stated type of a variable", "func F() { g.Ready.Frob() }", "g/g.go#One.Frob\ng/g.go#Ready"},
		{"a variable without a stated type", "func F() { g.Made.Frob(); made.Frob() }", "g/g.go#Made\ngm/own.go#made\nambiguous 2"},
		{"a local function", "func F(start func() g.Two) { start().Frob() }", "g/g.go#Two\nambiguous 1"},
		{"a conversion", "func F() { g.One(x).Frob() }", "g/g.go#One\ng/g.go#One.Frob"},
	} {
		archive := pkg + "-- gm/main.go --\npackage gm\n\nimport \"m/g\"\n\n" + c.code + "\n"
		readEdges(t, resolveCase{name: c.name, archive: archive, from: "gm/main.go", want: c.want})
	}
}

func TestValuesOfCallsScript(t *testing.T) {
	const pkg = `
-- far.ts --
export class Far { frob() {} }
-- util.ts --
import { Far } from './far'
export class Base { deep() {} }
export class One extends Base { frob() {} next(): One { return this } }
export class Two { frob() {} deep() {} }
export function mk(): One { return new One() }
export function far(): Far { return new Far() }
export function both(a: string): One
export function both(a: number): Two
export function both(a: any) {}
export function generic<One>(a: One): One { return a }
export const ready: One = mk()
`
	for _, c := range []struct{ name, code, want string }{
		{"a variable of the module", "{ mk } from './util'\nconst o = mk()\no.frob()\no.deep()", "util.ts#Base.deep\nutil.ts#One.frob\nutil.ts#mk"},
		{"a local variable", "{ far } from './util'\nfunction f() { const o = far(); o.frob() }", "far.ts#Far.frob\nutil.ts#far"},
		{"a chain", "{ mk } from './util'\nmk().next().next().frob()", "util.ts#One.frob\nutil.ts#One.next\nutil.ts#mk"},
		{"the whole module", "* as util from './util'\nutil.mk().frob()", "util.ts#One.frob\nutil.ts#mk"},
		{"overloads that differ", "{ both } from './util'\nboth(1).frob()", "util.ts#both\nambiguous 1"},
		{"a type parameter", "{ generic } from './util'\ngeneric(1).frob()", "util.ts#generic\nambiguous 1"},
		{"a stated type", "{ ready } from './util'\nready.frob()", "util.ts#One.frob\nutil.ts#ready"},
		{"a parameter of that name", "* as util from './util'\nfunction f(mk) { const o = mk(); o.frob() }", "util.ts\nambiguous 1"},
	} {
		archive := pkg + "-- main.ts --\nimport " + c.code + "\n"
		readEdges(t, resolveCase{name: c.name, archive: archive, from: "main.ts", want: c.want})
	}
}

func TestValuesOfCallsPython(t *testing.T) {
	const pkg = `
-- util.py --
class One:
    def frob(self): pass
    def next(self) -> "One": pass

class Two:
    def frob(self): pass

def mk() -> One: return One()

def unknown(): return One()

async def later() -> One: return One()

@wrapped
def other() -> One: return One()
`
	for _, c := range []struct{ name, code, want string }{
		{"a variable of the module", "from util import mk\no = mk()\no.frob()", "util.py#One.frob\nutil.py#mk"},
		{"a local variable", "import util\ndef f():\n    o = util.mk()\n    o.frob()", "util.py#One.frob\nutil.py#mk"},
		{"a chain", "from util import mk\nmk().next().frob()", "util.py#One.frob\nutil.py#One.next\nutil.py#mk"},
		{"no stated type", "from util import unknown\no = unknown()\no.frob()", "util.py#unknown\nambiguous 1"},
		{"a coroutine", "from util import later\nlater().frob()", "util.py#later\nambiguous 1"},
		{"a decorator", "from util import other\nother().frob()", "util.py#other\nambiguous 1"},
	} {
		readEdges(t, resolveCase{name: c.name, archive: pkg + "-- main.py --\n" + c.code + "\n", from: "main.py", want: c.want})
	}
}
