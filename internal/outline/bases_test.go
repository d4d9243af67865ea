package outline_test

import (
	"slices"
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
)

func TestBases(t *testing.T) {
	for _, c := range []struct {
		path   repo.Path
		source string
		symbol string
		want   []string
	}{
		{"a.py", "class A(Base, mod.Mixin[T], metaclass=Meta): pass", "A", []string{"Base", "mod.Mixin"}},
		{"a.py", "class A(namedtuple('A', 'x y'), *more): pass", "A", []string{"?", "?"}},
		{"a.py", "class A: pass", "A", nil},
		{"a.py", "class A(): pass", "A", nil},
		{"a.ts", "export class A extends ns.Base<T, U> implements I, J {}", "A", []string{"ns.Base"}},
		{"a.ts", "class A<T extends B = C<D>> extends E {}", "A", []string{"E"}},
		{"a.ts", "class A<T extends B> {}", "A", nil},
		{"a.ts", "class A extends mixin(B, C) {}", "A", []string{"?"}},
		{"a.ts", "interface A extends B, C<D> { m(): void }", "A", []string{"B", "C"}},
		{"a.js", "export default class extendsA extends $B {}", "extendsA", []string{"$B"}},
		{"a.go", "package a\ntype A struct { *B; pkg.C `tag`; D[int]; e F; g, h int }", "A", nil},
		{"a.go", "package a\ntype A struct { *B `json:\"b c\"` }", "A.B", []string{"B"}},
		{"a.go", "package a\ntype A struct { pkg.C }", "A.C", []string{"pkg.C"}},
		{"a.go", "package a\ntype A struct { List[map[string]int] }", "A.List", []string{"List"}},
		{"a.go", "package a\ntype A struct { e F }", "A.e", nil},
		{"a.go", "package a\ntype A interface { io.Writer; Close() }", "A.Writer", []string{"io.Writer"}},
		{"a.go", "package a\ntype A = pkg.B", "A", []string{"pkg.B"}},
		{"a.go", "package a\ntype A pkg.B", "A", nil},
		{"a.go", "package a\ntype A = func(int) pkg.B", "A", []string{"?"}},
		{"a.rs", "struct A;\nimpl crate::m::Shape<T> for A {}", "crate::m::Shape<T> for A", []string{"crate::m::Shape"}},
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
		if got := o.Symbols[i].Bases(o.Language); !slices.Equal(got, c.want) {
			t.Errorf("bases of %s in %q are %q, should be %q", c.symbol, c.source, got, c.want)
		}
	}
}

func TestContracts(t *testing.T) {
	for source, want := range map[string][]string{
		"class A extends B<T> implements I, ns.J<K, L> {}": {"B", "I", "ns.J"},
		"class A implements I {}":                          {"I"},
		"interface A extends B {}":                         {"B"},
	} {
		o, err := outline.Parse("a.ts", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Symbols[0].Contracts(o.Language); !slices.Equal(got, want) {
			t.Errorf("contracts of A in %q are %q, should be %q", source, got, want)
		}
	}
}
