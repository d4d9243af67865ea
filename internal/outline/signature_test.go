package outline_test

import (
	"slices"
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
)

func TestValueType(t *testing.T) {
	for _, c := range []struct {
		path   repo.Path
		source string
		symbol string
		want   string
	}{
		{"a.go", "package a\nfunc mk(a func() int, b string) *pkg.One { return nil }", "mk", "pkg.One"},
		{"a.go", "package a\nfunc mk() (*One, error) { return nil, nil }", "mk", "One"},
		{"a.go", "package a\nfunc mk() (one, two *One, err error) { return }", "mk", "One"},
		{"a.go", "package a\nfunc mk() Set[int] { return nil }", "mk", "Set"},
		{"a.go", "package a\nfunc mk() []One { return nil }", "mk", ""},
		{"a.go", "package a\nfunc mk() map[string]One { return nil }", "mk", ""},
		{"a.go", "package a\nfunc mk() func() One { return nil }", "mk", ""},
		{"a.go", "package a\nfunc mk() {}", "mk", ""},
		{"a.go", "package a\nfunc mk[Elem any](e Elem) Elem { return e }", "mk", ""},
		{"a.go", "package a\nfunc (s *Set[Elem]) Get() Elem { return s.e }", "Set.Get", ""},
		{"a.go", "package a\nfunc (s *Set) Get() *One { return s.e }", "Set.Get", "One"},
		{"a.go", "package a\ntype I interface { Get(a, b int) (One, bool) }", "I.Get", "One"},
		{"a.go", "package a\nvar one *pkg.One = mk()", "one", "pkg.One"},
		{"a.go", "package a\nvar one = mk()", "one", ""},
		{"a.py", "def mk(a: int = (1)) -> One: pass", "mk", "One"},
		{"a.py", "def mk() -> 'mod.One': pass", "mk", "mod.One"},
		{"a.py", "def mk() -> One | None: pass", "mk", ""},
		{"a.py", "async def mk() -> One: pass", "mk", ""},
		{"a.py", "def mk(): pass", "mk", ""},
		{"a.py", "class A:\n    @cached\n    def mk(self) -> One: pass", "A.mk", ""},
		{"a.py", "class A:\n    @classmethod\n    def mk(cls) -> One: pass", "A.mk", "One"},
		{"a.py", "one: One = mk()", "one", "One"},
		{"a.ts", "export function mk<T>(a: () => void, b = ')'): One<T> {}", "mk", "One"},
		{"a.ts", "export function mk<Elem>(a: Elem): Elem { return a }", "mk", ""},
		{"a.ts", "export const mk = (a: number): ns.One => x", "mk", "ns.One"},
		{"a.ts", "export const mk = (a: One) => x", "mk", ""},
		{"a.ts", "function mk(a: any): a is One {}", "mk", ""},
		{"a.ts", "function mk(a: any): One[] {}", "mk", ""},
		{"a.ts", "function mk(a: any): One | Two {}", "mk", ""},
		{"a.ts", "class A { get(): T { } }", "A.get", ""},
		{"a.ts", "interface A { get?(): One; }", "A.get", "One"},
		{"a.ts", "export const one: One = mk()", "one", "One"},
	} {
		o, err := outline.Parse(c.path, []byte(c.source))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(o.Symbols, func(s outline.Symbol) bool { return s.FullName() == c.symbol })
		if i < 0 {
			t.Errorf("%s has no %s", c.source, c.symbol)
			continue
		}
		if got := o.Symbols[i].ValueType(o.Language); got != c.want {
			t.Errorf("the type of %s in %q is %q, should be %q", c.symbol, c.source, got, c.want)
		}
	}
}
