package outline_test

import (
	"strings"
	"testing"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
)

const (
	format = fresh.GradeFormat
	body   = fresh.GradeBody
	iface  = fresh.GradeInterface
	whole  = fresh.GradeContent
)

// An edit replaces one text of a file by another.
type edit struct {
	old, now string
	want     fresh.Grade
}

var grades = []struct {
	path  repo.Path
	src   string
	edits []edit
}{
	{"a.go", `//go:build linux

// Package a is one.
package a

import "fmt"

// F does it.
func F(n int) string {
	// plain
	s := "a  b" // behind
	return fmt.Sprint(s,
		n)
}

// Max is most.
const Max = 3

var v = []int{1, 2} //nolint:unused // kept

type T struct {
	A int // first
	b string
}
`, []edit{
		{"\t// plain\n", "", format},
		{"// behind", "// elsewhere", format},
		{"s :=", "s  :=", format},
		{"Sprint(s,\n\t\tn)", "Sprint(s, n)", format},
		{"{1, 2}", "{\n\t1,\n\t2,\n}", format},
		{"func F(n int) string", "func F(\n\tn int,\n) string", format},
		{`"a  b"`, `"a b"`, body},
		{"F does it", "F does that", body},
		{"// first", "// second", body},
		{"Package a is one", "Package a is two", body},
		{"//go:build linux", "//go:build windows", body},
		{"//nolint:unused // kept", "// kept", body},
		{"fmt.Sprint", "fmt.Sprintln", body},
		{"{1, 2}", "{1, 3}", body},
		{"n int", "n int64", iface},
		{"Max = 3", "Max = 4", iface},
		{"b string", "b []string", iface},
		{"func F", "func G", iface},
		{"var v", "var w", iface},
		{"package a", "package a; }", whole},
	}},
	{"a.py", `"""A module."""
import os

# plain
def f(a, b=1):
    """Does it."""
    if a:
        x = """a
  b"""
        y = 2  # behind
    return [a,
            b]

class C:
    z = 1

    @property
    def g(self): return f'{self.z} x'
`, []edit{
		{"# plain\n", "\n", body}, // it documents f
		{"# behind", "# elsewhere", format},
		{"[a,\n            b]", "[a, b]", format},
		{"def f(a, b=1)", "def f(\n    a,\n    b=1,\n)", body}, // one comma more
		{"y = 2", "y  =  2", format},
		{"    if a:", "    if  a :", format},
		{"        y = 2", "    y = 2", body},
		{"\n  b\"\"\"", "\n   b\"\"\"", body},
		{"Does it", "Does that", body},
		{"# behind", "# type: ignore", body},
		{"z} x", "z}  x", body},
		{"    z = 1\n", "    z = 1 # so\n", body}, // it documents z
		{"class C:\n", "class C:\n    # zed\n", body},
		{"b=1", "b=2", iface},
		{"@property\n", "@cached\n", iface},
		{"class C:", "class C(D):", iface},
		{"def f(a", "def f(a):\n  pass\ndef g(a", iface},
		{"if a:", "if a", whole},
	}},
	{"a.js", `// Says hello.

/**
 * Adds.
 */
export function add(a, b) {
  // plain
  const re = /a b\/\/c/g; /* behind */
  const s = ` + "`x  ${a // in it\n  } y`" + `;
  return a + b
}

class C { #x = 1; get y() { return this.#x } }
`, []edit{
		{"  // plain\n", "", format},
		{"/* behind */", "", format},
		{"a + b\n", "a  +\n b\n", format},
		{"{ #x", "{\n  #x", format},
		{"return a", "return\na", body},
		{"a b\\/", "a  b\\/", body},
		{"x  ${", "x ${", body},
		{"in it", "in that", body},
		{"Adds.", "Sums.", body},
		{"Says hello", "Says goodbye", body},
		{"// plain", "// eslint-disable-next-line", body},
		{"(a, b)", "(a, b = 1)", iface},
		{"export ", "", iface},
		{"get y", "get z", iface},
		{"class C {", "class C {{", whole},
	}},
	{"a.tsx", `export const A = (p: Props) => {
  return <p title="a  b">{p.x} {p.y} text</p>
}
`, []edit{
		{"return <p", "return  <p", format},
		{"} {", "}{", body},
		{"a  b", "a b", body},
		{" text", "  text", body},
		{"p: Props", "p: Others", iface},
	}},
	{"a.rs", `//! A crate.
/// Does it.
#[inline]
pub fn f<'a>(x: &'a str) -> u8 {
    // plain
    let s = r#"a  b"#; let c = 'x'; /* behind /* nested */ */
    s.len() as u8
}
`, []edit{
		{"    // plain\n", "", format},
		{"/* behind /* nested */ */", "", format},
		{"-> u8 {", "-> u8\n{", format},
		{"Does it", "Does that", body},
		{"A crate", "The crate", body},
		{"#[inline]", "#[cold]", body},
		{"a  b", "a b", body},
		{"pub fn", "fn", iface},
		{"'a str", "'a [u8]", iface},
	}},
	{"A.java", `package a;
/** Counts. */
class A {
  @Override
  public int f(int n) { // plain
    String s = "a  b", t = """
        x
      """;
    return n;
  }
}
`, []edit{
		{"// plain", "", format},
		{"{ // plain\n", "\n  {\n", format},
		{"Counts.", "Adds.", body},
		{"        x", "       x", body},
		{"@Override", "@Deprecated", body},
		{"int n)", "long n)", iface},
		{"public ", "", iface},
	}},
	{"a.c", `#include <stdio.h>
#define MAX 3
#define SQ(x) ((x) * (x))
/* Runs. */
int main(int argc, char **argv)
{
	puts("a  b"); // plain
	return 0;
}
`, []edit{
		{"// plain", "/* other */", format},
		{"argc, char", "argc,\n\tchar", format},
		{"\tputs", "\n    puts", format},
		{"a  b", "a b", body},
		{"Runs.", "Goes.", body},
		{"<stdio.h>", "<stdlib.h>", body},
		{"((x) * (x))", "((x) * (x) * 1)", body},
		{"MAX 3", "MAX 4", iface},
		{"char **argv", "char *argv[]", iface},
	}},
	{"a.hpp", "class A {\n public:\n  int f() const { return 1; } // plain\n};\n", []edit{
		{"// plain", "", format},
		{"return 1", "return 2", body},
		{"f() const", "f()", iface},
		{"public", "private", iface},
	}},
	{"b.h", "class LIB_EXPORT A {\n  void f() LOCKS(mu_); // plain\n  int g() { return 1; }\n};\n", []edit{
		{"// plain", "", format},
		{"LIB_EXPORT", "LIB_HIDDEN", body},
		{"LOCKS(mu_)", "LOCKS(nu_)", body},
		{"return 1", "return 2", body},
		{"void f()", "void f(int)", iface},
	}},
	{"A.cs", "class A\n{\n    int F(int n) { return n; } // plain\n    string S => $\"{{a}}  {n} // b\";\n}\n", []edit{
		{"// plain", "/* x */", format},
		{"\n{\n", " {\n", format},
		{"}}  {", "}} {", body},
		{"// b", "// c", body},
		{"int n)", "long n)", iface},
		{"string S", "object S", iface},
	}},
	{"a.rb", "# frozen_string_literal: true\n\nclass A\n  # Does it.\n  def f(x)\n    y = <<~T\n\n      a # b\n    T\n    x + 1 # plain\n  end\nend\n", []edit{
		{"# plain", "# other", format},
		{"x + 1", "x  +  1", body}, // x +1 may call x
		{"  x + 1", "  x +\n 1", body},
		{"    x + 1", "\tx + 1  ", format},
		{"a # b", "a # c", body},
		{"<<~T\n\n", "<<~T\n", body},
		{"Does it", "Does that", body},
		{": true", ": false", body},
		{"f(x)", "f(x = 1)", iface},
	}},
	{"a.php", "<?php\n/** Adds. */\nfunction add(int $a): int {\n  // plain\n  return $a . \"x  {$a} // y\";\n}\n?>\n<p>  text</p>\n", []edit{
		{"  // plain\n", "", format},
		{"int {", "int\n{", format},
		{"x  {", "x {", body},
		{"<p>  ", "<p> ", body},
		{"Adds.", "Sums.", body},
		{"int $a", "float $a", iface},
	}},
	{"a.sh", "#!/bin/sh\n# Deploys.\n\nf() {\n  echo \"a  b\" c # plain\n  cat <<EOF\n\n  # text\nEOF\n}\nf | g\n", []edit{
		{"# plain", "# other", format},
		{"f() {", "f()  {", body},
		{"f | g", "f |\n  g", body},
		{"f | g", "  f | g  ", format},
		{"\nf | g", "\n\n\nf | g", format},
		{"  echo", "\techo", format},
		{"#!/bin/sh", "\n#!/bin/sh", body},
		{"EOF\n}", "EOF \n}", body},
		{"\nEOF\n}", "\n EOF\n}", body},
		{"a  b", "a b", body},
		{"# text", "# words", body},
		{"<<EOF\n\n", "<<EOF\n", body},
		{"c # plain", "c d # plain", body},
		{"# plain", "# shellcheck disable=SC2086", body},
		{"#!/bin/sh", "#!/bin/bash", body},
		{"f() {", "h() {", iface},
	}},
	{"a.md", "# Title\n\nSome text that\ngoes on `a  b`.\n\n- one\n- two\n\n```sh\na  b\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", []edit{
		{"that\ngoes", "that goes", format},
		{"Some text that\n", "Some text\nthat ", format},
		{"\n\n- one", "\n\n\n- one", format},
		{"`a  b`", "`a b`", body},
		{"sh\na  b", "sh\na b", body},
		{"that\n", "that  \n", body},
		{"- two", "  - two", body},
		{"- two\n", "- two\n\n", format},
		{"| 2 |", "| 3 |", body},
		{"# Title", "# Titles", iface},
		{"# Title", "## Title", iface},
	}},
	// Significant white space.
	{"crlf.sh", "f() {\r\n  a=b c\r\n  echo 1\r\n}\r\n", []edit{
		{"  echo 1", "  # note\r\n  echo 1", format},
		{"  echo 1", "  # note\r echo 2\r\n  echo 1", body},
		{"c\r\n", "c\n", body},
	}},
	{"b.sh", "x=$a\n[ -n \"$x\" ] && A=1 cmd\nexport P=q R\necho ${x:-def} $(( 1+2 )) \\\n  more\n[[ $x =~ a ]]\ny=${x:-\n  b}\n", []edit{
		{"x=$a", "x= $a", body},
		{"x=$a\n", "x=$a\r\n", body},
		{`"$x" ]`, `"$x"]`, body},
		{"[ -n", "[-n", body},
		{"A=1 cmd", "A= 1 cmd", body},
		{"P=q R", "P= q R", body},
		{"${x:-def}", "${x:- def}", body},
		{"${x:-def}", "${x:-\ndef}", body},
		{"x=$a", "x=\n$a", body},
		{"\n  b}", "\n b}", body},
		{"\\\n  more", "\\\n more", body},
		{"[ -n", "  [ -n", format},
	}},
	{"b.go", "// +build linux\n\n// Package b is one.\n//\n//go:generate a\npackage b\n\n// #define A\n// int x;\nimport \"C\"\n\n//export F\nfunc F() {}\n\n" +
		"func ExampleF() {\n\tF()\n\t// Output:\n\t// a  b\n\t// c\n}\n", []edit{
		{"linux\n\n", "linux\n", body},
		{"linux\n\n// Package b is one.\n//\n", "linux\n", body},
		{"generate a\n", "generate a\n// More.\n", body},
		{"//go:generate a", "// go:generate a", body},
		{"A\n// int", "A int", body},
		{"int x;\n", "int x;\n\n", body},
		{"//export F\n", "//export F\n\n", body},
		{"a  b", "a b", body},
		{"// c", "// d", body},
		{"// c", "//c", body},
	}},
	{"b.js", "#!/usr/bin/env node\nvar async\nasync function f() {}\nclass A { static x() {} get y() { return 1 } }\na <!--b\n// c\nd\n", []edit{
		{"#!/", "\n#!/", body},
		{"async function", "async\nfunction", iface},
		{"static x", "static\nx", iface},
		{"get y", "get\ny", iface},
		{"<!--b", "<!--c", body},
		{"<!--b", "<! --b", body},
		{"// c", "// c\u2028e()", body},
		{"// c", "// c\re()", body},
		{"// c", "// d", format},
	}},
	{"b.ts", "type A = B\ninterface I {\n  a: X\n  [k: string]: Y\n}\ndeclare\nmodule.x\nabstract class Z { readonly a = 1 }\n", []edit{
		{"type A", "type\nA", iface},
		{"X\n  [k", "X [k", whole},
		{"declare\nmodule", "declare module", whole},
		{"abstract class", "abstract\nclass", body},
		{"readonly a", "readonly\na", iface},
	}},
	{"B.java", "class B {\n  void f() {\n    // c\n  }\n  int a; // \\u0041\n}\n", []edit{
		{"// c", "// c \\u000a int b;", body},
		{"u0041", "u0042", body},
		{"// c", "// d", format},
	}},
	{"b.c", "#define F(x) x\n#if A  && B\nint a; // c\n#endif\n#pragma  once\n#define G a \\\n  b\n", []edit{
		{"F(x)", "F (x)", iface},
		{"A  && B", "A && B", body},
		{"a; // c", "a; // c \\", whole},
		{"pragma  once", "pragma once", body},
		{"\\\n  b", "\\\n b", iface},
		{"int a;", "int  a;", format},
		{"int a;", "int a; /* ??/ */", body},
	}},
	{"B.cs", "#if A && B\n#region x  y\nclass B { } // c\n#endregion\n#endif\n", []edit{
		{"A && B", "A  && B", body},
		{"x  y", "x y", body},
		{"class B", "class  B", format},
		{"// c", "// c\u0085int a;", body},
	}},
	{"b.rb", "#!/usr/bin/ruby\nfoo [1]\nbar -1\nx = a ? b : c\ny = %w( a  b )\nputs <<E\n  t\nE\n", []edit{
		{"#!/", "\n#!/", body},
		{"foo [1]", "foo[1]", body},
		{"bar -1", "bar - 1", body},
		{"a ? b", "a ?b", whole},
		{"a  b", "a b", body},
		{"  t\n", " t\n", body},
		{"\nbar", "\n\n  bar", format},
	}},
	{"b.py", "#!/usr/bin/python\n# -*- coding: utf-8 -*-\nif a:\n    b\n    c = (1,\n  2)\nd\n", []edit{
		{"#!/", "\n#!/", body},
		{"# -*- coding", "\n\n# -*- coding", body},
		{"    b\n    c", "  b\n  c", format},
		{"    b\n    c", "\tb\n\tc", format},
		{"    b\n", "     b\n", whole},
		{"    b\n    c", "\tb\n        c", whole},
		{"  2)", "2)", format},
		{"\nd", "\n    d", body},
		{"\nd", "\n d", whole},
	}},
	{"b.php", "<?php\n$a = 1;\n// c\n$b = 1; # d\n?>\n<p>\n<?php f() ?>\n<?php g() ?>\n", []edit{
		{"<?php", "\n<?php", body},
		{"<?php", " <?php", body},
		{"?>\n", "?>\n\n", body},
		{"?>\n", "?> \n", body},
		{"f() ?>\n", "f() ?>\n\n", body},
		{"f() ?>\n", "f() ?> ", body},
		{"g() ?>\n", "g() ?>\n\n", body},
		{"// c", "// c ?> x <?php", body},
		{"<p>", "  <p>", body},
		{"<p>\n", "<p>\n\n", body},
		{"// c", "// d", format},
		{"$a = 1", "$a  =  1", format},
	}},
	{"b.rs", "macro_rules! m {\n    (a >> b) => { a > > b };\n}\nm!(x >> y);\nlet s = \"a \\\n   b\";\n", []edit{
		{"(a >> b)", "(a > > b)", body},
		{"x >> y", "x > > y", body},
		{"\\\n   b", "\\\n  b", body},
		{"m!(x", "m!( x", format},
	}},
	{"b.md", "a b\n\n> q\n\n1. x\n\n   y\n\nc\n\n<div>\n a\n</div>\n\n| a |\n|---|\n| b |\n", []edit{
		{"a b", "a\n- b", body},
		{"a b", "    a b", body},
		{"   y", " y", body},
		{"> q", ">     q", body},
		{" a\n<", "  a\n<", body},
		{"c\n", "c\n===\n", iface},
		{"\n\n| a", "\n| a", body},
	}},
	{"b.jsx", "const a = <p>\n  x {b}\n  y\n</p>\n", []edit{
		{"x {b}", "x  {b}", body},
		{"x {b}", "x\n{b}", body},
		{"{b}", "{ b }", format},
	}},
	{"a.unknown", "x\n", []edit{{"x", "y", whole}, {"x\n", "x", whole}}},
}

func TestGrade(t *testing.T) {
	for _, g := range grades {
		was, _ := outline.Parse(g.path, []byte(g.src))
		for _, e := range g.edits {
			if !strings.Contains(g.src, e.old) {
				t.Errorf("%s: no %q in it", g.path, e.old)
				continue
			}
			now, err := outline.Parse(g.path, []byte(strings.Replace(g.src, e.old, e.now, 1)))
			if got := outline.Grade(was, now); got != e.want {
				t.Errorf("%s: %q for %q is a change of %s, want %s (%v)", g.path, e.now, e.old, got, e.want, err)
				if now != nil && now.Partial != "" {
					t.Logf("partial: %s", now.Partial)
				}
			}
			if back := outline.Grade(now, was); back != outline.Grade(was, now) {
				t.Errorf("%s: %q for %q is %s the other way round", g.path, e.now, e.old, back)
			}
		}
	}
}

// A file without an outline never grades better than content.
func TestGradeWithoutOutline(t *testing.T) {
	o, err := outline.Parse("a.go", []byte("package a\n"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := outline.Parse("a.c", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]*outline.Outline{{nil, nil}, {o, nil}, {nil, o}, {o, other}, {{}, {}}} {
		if g := outline.Grade(pair[0], pair[1]); g != whole && pair[0] != nil && pair[0].Language != "" {
			t.Errorf("%+v against %+v is %s", pair[0], pair[1], g)
		}
		if g, _ := outline.GradeSymbol(pair[0], pair[1], "F"); g == "" || g == format {
			t.Errorf("a symbol of %+v against %+v is %q", pair[0], pair[1], g)
		}
	}
}

func TestGradeSymbol(t *testing.T) {
	const src = "package a\n\n// F is one.\nfunc F() int {\n\treturn 1 // so\n}\n\ntype T struct{}\n\nfunc (T) M() {}\nfunc (T) N() {}\nfunc N() {}\n"
	was, err := outline.Parse("a.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		old, now, symbol string
		want             fresh.Grade
	}{
		{"return 1", "return 2", "F", body},
		{"return 1", "return 2", "T.M", ""},
		{"// so", "// then", "F", format},
		{"F is one", "F is two", "F", body},
		{"F() int", "F() int64", "F", iface},
		{"F() int", "G() int", "F", iface},
		{"F() int", "G() int", "T", ""},
		{"M() {}", "M() { F() }", "T.M", body},
		{"M() {}", "M() { F() }", "T::M", body},
		{"M() {}", "M() { F() }", "M", body},
		{"(T) N() {}", "(T) N() { F() }", "N", ""},
		{"(T) N() {}", "(T) N() { F() }", "a.T.N", body},
		{"F() int", "F( int", "T.M", whole}, // the symbol is lost in the syntax error
		{"F() int", "F( int", "F", whole},
		{"return 1", "return 2", "Z", body}, // unknown: graded as the file
	} {
		now, err := outline.Parse("a.go", []byte(strings.Replace(src, c.old, c.now, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := outline.GradeSymbol(was, now, c.symbol); got != c.want {
			t.Errorf("%q for %q: %s moved by %q, want %q", c.now, c.old, c.symbol, got, c.want)
		}
	}
}
