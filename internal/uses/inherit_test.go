package uses_test

import "testing"

func TestInheritedPython(t *testing.T) {
	const pkg = `
-- util.py --
from abc import ABC

class Top(ABC):
    def top(self): pass
    def frob(self): pass

class One(Top):
    def frob(self): pass
    field = 1

class Two:
    def frob(self): pass
    def other(self): pass
-- sub.py --
import util
from util import One as Uno, Two
from outside import Base

class Sub(Uno):
    def go(self):
        self.frob()

class Diamond(Uno, Two):
    pass

class Hidden(Base, Two):
    pass

class Alias(util.One): pass
`
	readEdges(t, resolveCase{name: "self", archive: pkg, from: "sub.py", want: `
		util.py#One
		util.py#One.frob
		util.py#Two
	`})
	for _, c := range []struct{ name, code, want string }{
		{"a new value", "from sub import Sub\nSub().frob()", "sub.py#Sub\nutil.py#One.frob"},
		{"a variable", "from sub import Sub\ns = Sub()\ns.frob()", "sub.py#Sub\nutil.py#One.frob"},
		{"a variable of a function", "import sub\ndef f():\n    s = sub.Sub()\n    s.frob()\n    s.top()", "sub.py#Sub\nutil.py#One.frob\nutil.py#Top.top"},
		{"a parameter", "import sub\ndef f(s: sub.Alias):\n    s.frob()", "sub.py#Alias\nutil.py#One.frob"},
		{"several bases", "from sub import Diamond\nDiamond().other()", "sub.py#Diamond\nutil.py#Two.other"},
		{"several bases that have it", "from sub import Diamond\nDiamond().frob()", "sub.py#Diamond\nambiguous 1"},
		{"behind a base from outside", "from sub import Hidden\nHidden().other()", "sub.py#Hidden\nlikely util.py#Two.other"},
		{"super", "from sub import Sub\nclass S(Sub):\n    def frob(self):\n        super().frob()", "sub.py#Sub\nutil.py#One.frob"},
		{"a member of the own class", "from sub import Sub\nclass S(Sub):\n    def frob(self): pass\nS().frob()", "sub.py#Sub"},
		{"a base in the same file", "from sub import Sub\nclass S(Sub): pass\nclass R(S): pass\nR().frob()", "sub.py#Sub\nutil.py#One.frob"},
		{"a class that is a parameter", "from sub import Sub\ndef f(Sub):\n    Sub().frob()", "sub.py#Sub"},
	} {
		readEdges(t, resolveCase{name: c.name, archive: pkg + "-- main.py --\n" + c.code + "\n", from: "main.py", want: c.want})
	}
}

func TestInheritedScript(t *testing.T) {
	const pkg = `
-- util.ts --
export class One { frob() {} }
export class Two { frob() {} }
export interface Top { top(): void }
export interface Mid extends Top { mid(): void }
-- index.ts --
export { One as Uno } from './util'
-- sub.ts --
import { Uno } from './index'
import * as util from './util'
import { Base } from 'outside'
export class Sub<T extends Base> extends Uno { go() { this.frob() } up() { super.frob() } }
export class Name extends util.One {}
export class Hidden extends Base {}
`
	readEdges(t, resolveCase{name: "this and super", archive: pkg, from: "sub.ts", want: `
		index.ts
		util.ts#One
		util.ts#One via index.ts
		util.ts#One.frob
		util.ts#One.frob via index.ts
	`})
	for _, c := range []struct{ name, code, want string }{
		{"a new value", "import { Sub } from './sub'\nnew Sub().frob()", "sub.ts#Sub\nutil.ts#One.frob"},
		{"a variable", "import { Name } from './sub'\nfunction f() { const s = new Name(); s.frob() }", "sub.ts#Name\nutil.ts#One.frob"},
		{"a parameter", "import { Mid } from './util'\nfunction f(m: Mid) { m.top(); m.mid() }", "util.ts#Mid\nutil.ts#Mid.mid\nutil.ts#Top.top"},
		{"a field", "import { Sub } from './sub'\nclass H { private s: Sub<any>; go() { this.s.frob() } }", "sub.ts#Sub\nutil.ts#One.frob"},
		{"a base from outside", "import { Hidden } from './sub'\nnew Hidden().frob()", "sub.ts#Hidden\nambiguous 1"},
	} {
		readEdges(t, resolveCase{name: c.name, archive: pkg + "-- main.ts --\n" + c.code + "\n", from: "main.ts", want: c.want})
	}
}

func TestPromotedGo(t *testing.T) {
	const pkg = `
-- go.mod --
module ex.com/m
-- base/base.go --
package base

type A struct{ Named }
type Named struct{}
type Closer interface { Close() }
type Both interface { Closer; Open() }

func (A) Close() {}
func (Named) Name() {}
-- pkg/pkg.go --
package pkg

import (
	"io"
	foo "ex.com/m/base"
)

type C struct{}
func (C) Close() {}
func (C) Name() {}
type B struct{ foo.A }
type P struct{ *foo.A; io.Reader }
type Alias = B
type Field struct{ foo.Closer }
`
	for _, c := range []struct{ name, code, want string }{
		{"embedded", "func F(b pkg.B) { b.Close() }", "base/base.go#A.Close\npkg/pkg.go#B"},
		{"two levels", "func F(b *pkg.B) { b.Name() }", "base/base.go#Named.Name\npkg/pkg.go#B"},
		{"beside a type from outside", "func F(b *pkg.P) { b.Close() }", "base/base.go#A.Close\npkg/pkg.go#P"},
		{"below a type from outside", "func F(b *pkg.P) { b.Name() }", "likely base/base.go#Named.Name\npkg/pkg.go#P"},
		{"an alias", "func F(b *pkg.Alias) { b.Close() }", "base/base.go#A.Close\npkg/pkg.go#Alias"},
		{"an embedded interface", "func F(b *pkg.Field) { b.Close() }", "base/base.go#Closer.Close\npkg/pkg.go#Field"},
		{"a type of its own", "type T struct{ pkg.B }\nfunc (t T) F() { t.Close() }", "base/base.go#A.Close\npkg/pkg.go#B"},
	} {
		archive := pkg + "-- main.go --\npackage main\n\nimport \"ex.com/m/pkg\"\n\n" + c.code + "\n"
		readEdges(t, resolveCase{name: c.name, archive: archive, from: "main.go", want: c.want})
	}
}
