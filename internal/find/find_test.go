package find

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/repo"
	"ken/internal/searchindex"
)

func shop() *memoryTree {
	t := &memoryTree{
		files: map[repo.Path]string{
			"go.mod":                 "module shop\n",
			"server/limits.go":       "package server\n\nimport \"time\"\n\n// A Limiter counts the requests of one tenant.\ntype Limiter struct{ last time.Time }\n\n// Allow reports whether a tenant is below its rate limit.\nfunc (l *Limiter) Allow(tenant string) bool { return tenant != \"\" }\n",
			"server/middleware.go":   "package server\n\nfunc withLimits(l *Limiter) bool {\n\treturn l.Allow(\"a\")\n}\n",
			"server/limits_test.go":  "package server\n\nimport \"testing\"\n\nfunc TestAllow(t *testing.T) { new(Limiter).Allow(\"a\") }\n",
			"config/tenant.go":       "package config\n\n// Quota is what a customer may use.\ntype Quota int\n",
			"vendor/x/ratelimit.go":  "package x\n\n// rate limit per tenant, rate limit, rate limit\nfunc RateLimit() {}\n",
			"docs/billing.md":        "# Billing\n\nInvoices are sent each month.\n",
			"scripts/deploy":         "#!/bin/sh\necho deploy to production\n",
			"assets/übergröße.txt":   "größe\n",
			"web/checkout.ts":        "import { total } from './cart'\n\nexport function checkout() {\n  return total()\n}\n",
			"web/cart.ts":            "export function total() {\n  return 1\n}\n",
			"web/index.ts":           "export * from './cart'\n",
			"py/pay/__init__.py":     "\"\"\"Payments.\"\"\"\n",
			"py/pay/card.py":         "from pay import gateway\n\n\ndef charge(amount):\n    return gateway.send(amount)\n",
			"py/pay/gateway.py":      "def send(amount):\n    return amount\n",
			"server/generated.pb.go": "package server\n",
		},
		notes: map[repo.Path]string{},
	}
	t.commit("first version", "server/limits.go", "config/tenant.go")
	t.commit("rate limit per tenant", "server/limits.go", "config/tenant.go")
	t.commit("count requests in a window", "server/limits.go", "config/tenant.go")
	return t
}

func TestSearchRanksTheImplementationFirst(t *testing.T) {
	tree, x := shop(), newIndex(t)
	update(t, x, tree)
	a := search(t, x, tree, "rate limit per tenant")
	if len(a.Places) < 3 || a.Places[0].Path != "server/limits.go" {
		t.Fatalf("expected server/limits.go first, found:\n%s", a)
	}
	first := a.Places[0]
	if first.Line != 9 || len(first.Symbols) == 0 || first.Symbols[0].Name != "Limiter.Allow" {
		t.Errorf("expected line 9 in Limiter.Allow, found line %d in %v", first.Line, first.Symbols)
	}
	if !slices.ContainsFunc(a.Places, func(p Place) bool { return p.Path == "config/tenant.go" }) {
		t.Errorf("expected config/tenant.go, which changes with the first place, found:\n%s", a)
	}
	if last := a.Places[len(a.Places)-1].Path; slices.IndexFunc(a.Places, func(p Place) bool { return p.Path == "vendor/x/ratelimit.go" }) == 0 {
		t.Errorf("expected the vendored file to rank last, found %s last", last)
	}
}

func TestSearch(t *testing.T) {
	tree, x := shop(), newIndex(t)
	tree.notes["config/tenant.go"] = "Says how much each customer has subscribed to."
	update(t, x, tree)
	tests := []struct {
		words   string
		want    repo.Path
		unknown string
	}{
		{"Limiter", "server/limits.go", ""},
		{"limiters", "server/limits.go", ""},
		{"withLimits", "server/middleware.go", ""},
		{"with_limits", "server/middleware.go", ""},
		{"WithLimits", "server/middleware.go", ""},
		{"billing invoices", "docs/billing.md", ""},
		{"deploy production", "scripts/deploy", ""},
		{"who is subscribed", "config/tenant.go", ""},
		{"GRÖSSE größe", "assets/übergröße.txt", "grösse"},
		{"charge zebra", "py/pay/card.py", "zebra"},
		{`charge" OR path : *`, "py/pay/card.py", "path"},
	}
	for _, tt := range tests {
		a := search(t, x, tree, tt.words)
		if len(a.Places) == 0 || a.Places[0].Path != tt.want {
			t.Errorf("%q: expected %s first, found:\n%s", tt.words, tt.want, a)
		}
		if got := strings.Join(a.Unmatched, " "); got != tt.unknown {
			t.Errorf("%q: expected unknown words %q, found %q", tt.words, tt.unknown, got)
		}
	}
	if a := search(t, x, tree, "zebra giraffe"); len(a.Places) != 0 || len(a.Unmatched) != 2 {
		t.Errorf("expected no place and two unknown words, found:\n%s", a)
	}
}

func TestSearchPutsNamedFilesFirst(t *testing.T) {
	tree, x := shop(), newIndex(t)
	tree.files["server/quota.go"] = "package server\n\n// Limits of all kinds: limits, limits, more limits.\nfunc limitsOfLimits() {}\n"
	tree.files["server/limit.go"] = "package server\n\n// A Limit is one of them.\ntype Limit struct{}\n"
	update(t, x, tree)
	tests := []struct {
		words string
		want  repo.Path
		line  int
	}{
		{"Limit", "server/limit.go", 4},
		{"what does Limiter.Allow do", "server/limits.go", 9},
		{"quota.go", "server/quota.go", 0},
		{"server/limits_test.go", "server/limits_test.go", 0},
	}
	for _, tt := range tests {
		a := search(t, x, tree, tt.words)
		if len(a.Places) == 0 || a.Places[0].Path != tt.want || tt.line != 0 && a.Places[0].Line != tt.line {
			t.Errorf("%q: expected %s:%d first, found:\n%s", tt.words, tt.want, tt.line, a)
		}
	}
	if a := search(t, x, tree, "fooBarQuux"); strings.Join(a.Unmatched, " ") != "foo bar quux" {
		t.Errorf("expected the three unknown parts, found %q", a.Unmatched)
	}
}

func TestNameSpellings(t *testing.T) {
	tests := map[string]string{
		"with_limits":  "with_limits withLimits WithLimits",
		"WithLimits":   "WithLimits with_limits withLimits",
		"limits":       "limits",
		"a/with_me":    "a/with_me",
		"größe_ändern": "größe_ändern größeÄndern GrößeÄndern",
	}
	for name, want := range tests {
		if got := strings.Join(nameSpellings(name), " "); got != want {
			t.Errorf("%s: expected %q, found %q", name, want, got)
		}
	}
}

func TestSearchByKind(t *testing.T) {
	tree, x := shop(), newIndex(t)
	update(t, x, tree)
	kinds, err := ParseKinds([]string{"test"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Search(t.Context(), x, tree, Query{Words: []string{"Limiter allow"}, Kinds: kinds})
	if err != nil || len(a.Places) != 1 || a.Places[0].Path != "server/limits_test.go" {
		t.Errorf("expected only server/limits_test.go, found %v, error %v", a, err)
	}
	if _, err := ParseKinds([]string{"pictures"}); err == nil {
		t.Error("expected an error for an unknown kind")
	}
}

func TestUpdateReadsWhatChanged(t *testing.T) {
	tree, x := shop(), newIndex(t)
	update(t, x, tree)
	tree.reads, tree.lists = 0, 0
	update(t, x, tree)
	if tree.reads != 0 || tree.lists != 0 {
		t.Errorf("expected no file to be read or listed again, %d were read, %d lists were made", tree.reads, tree.lists)
	}
	tree.files["web/cart.ts"] = "export function total() {\n  return 2\n}\n"
	update(t, x, tree)
	if tree.reads != 1 {
		t.Errorf("expected 1 file to be read, %d were", tree.reads)
	}
}

func TestEdgesFollowChanges(t *testing.T) {
	tree, x := shop(), newIndex(t)
	update(t, x, tree)
	users := func(p repo.Path) string {
		t.Helper()
		edges, err := x.Users(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, e := range edges {
			if e.Exact && !slices.Contains(list, string(e.From)) {
				list = append(list, string(e.From))
			}
		}
		return strings.Join(list, " ")
	}
	expect := func(p repo.Path, want string) {
		t.Helper()
		if got := users(p); got != want {
			t.Errorf("users of %s: expected %q, found %q", p, want, got)
		}
	}
	expect("server/limits.go", "server/limits_test.go server/middleware.go")
	expect("web/cart.ts", "web/checkout.ts web/index.ts")
	expect("py/pay/gateway.py", "py/pay/card.py")

	delete(tree.files, "py/pay/gateway.py") // becomes a package
	tree.files["py/pay/gateway/__init__.py"] = "def send(amount):\n    return amount\n"
	update(t, x, tree)
	expect("py/pay/gateway/__init__.py", "py/pay/card.py")

	tree.files["server/limits.go"] = "package server\n" // Limiter moves
	tree.files["server/limiter.go"] = "package server\n\ntype Limiter struct{}\n\nfunc (*Limiter) Allow(string) bool { return true }\n"
	update(t, x, tree)
	expect("server/limits.go", "")
	expect("server/limiter.go", "server/limits_test.go server/middleware.go")
}

// A file below the root uses a name that the root's package gets later.
func TestEdgesToTheRoot(t *testing.T) {
	tree, x := &memoryTree{files: map[repo.Path]string{
		"go.mod":   "module shop\n",
		"a.go":     "package shop\n",
		"b.go":     "package shop\n\nfunc Other() {}\n",
		"sub/c.go": "package sub\n\nimport \"shop\"\n\nfunc Gamma() { shop.Alpha(); shop.Other() }\n",
	}}, newIndex(t)
	for i := range 6 {
		tree.files[repo.Path("x/"+string(rune('a'+i))+".go")] = "package x\n"
	}
	update(t, x, tree)
	tree.files["a.go"] = "package shop\n\nfunc Alpha() {}\n"
	update(t, x, tree)
	edges, err := x.Users(t.Context(), "a.go")
	if err != nil || len(edges) != 1 || edges[0].Symbol != "Alpha" {
		t.Errorf("expected sub/c.go to use Alpha of a.go, found %v, error %v", edges, err)
	}
}

// versions are the contents that files have in random trees. The first ones use each other: through star imports, files
// that pass names on, packages, aliases of a tsconfig, workspaces, modules and headers.
var versions = map[repo.Path][]string{
	"go.mod": {"module shop\n", "module other\n", "module shop\n\nrequire example.com/x v1.0.0\n"},
	"a.go": {
		"package a\n\nfunc Alpha() { Beta() }\n", "package a\n\nfunc Beta() {}\n", "package b\n\nfunc Beta() {}\n\nfunc init() {}\n",
	},
	"b.go":      {"package a\n\nfunc Beta() *beta { return nil }\n\ntype beta struct{}\n\nfunc (*beta) Run() {}\n", "package a\n"},
	"side/s.go": {"package side\n\nfunc init() {}\n", "package side\n"},
	"sub/c.go": {
		"package sub\n\nimport (\n\tx \"shop\"\n\t_ \"shop/side\"\n)\n\nfunc Gamma() { x.Beta().Run() }\n",
		"package sub\n\nimport \"shop\"\n\nfunc Gamma() { shop.Alpha() }\n",
	},
	"sub/d_test.go": {"package sub\n\nfunc delta() { Gamma() }\n", "package sub_test\n\nimport \"shop/sub\"\n\nfunc delta() { sub.Gamma() }\n"},

	"tsconfig.json":        {`{"extends": "./base.json"}`, `{}`},
	"base.json":            {`{"compilerOptions": {"paths": {"@deep/*": ["deep/*"], "@": ["lib/index.ts"]}}}`, `{}`},
	"package.json":         {`{"workspaces": ["kit"], "dependencies": {"kit": "*"}}`, `{"workspaces": []}`},
	"kit/package.json":     {`{"name": "kit", "exports": {".": "./dist/main.js"}}`, `{"name": "other"}`},
	"kit/src/main.ts":      {"export * from './parts'\n", "export {}\n"},
	"kit/src/parts.ts":     {"export function tool() {}\n", "function tool() {}\n", "export { Beta as tool } from '../../deep/y'\n"},
	"app/x.ts":             {"import { Beta } from '../lib'\nimport { tool } from 'kit'\nexport const Alpha = Beta() + tool()\n"},
	"app/z.ts":             {"import { Beta } from '@'\nimport * as y from '@deep/y'\nBeta(); y.Beta()\n", "import { Beta } from './x'\nBeta()\n"},
	"app/x.css":            {"a {}\n"},
	"app/style.ts":         {"import './x.css'\n"},
	"kit/svelte.config.js": {"export default { kit: { alias: { $deep: '../deep' } } }\n", "export default { kit: { files: { lib: 'src' } } }\n", "export {}\n"},
	"kit/vite.config.ts":   {"export default { resolve: { alias: { '@d': path.resolve(__dirname, '../deep') } } }\n", "import { Beta } from '../lib'\nexport default Beta()\n"},
	"kit/src/view.svelte":  {"<script>\nimport { Beta } from '$deep/y'\nimport * as y from '@d/y'\n</script>\n{Beta()} {y.Beta()}\n", "<script>import { tool } from '$lib/parts'</script>\n<p>{tool()}</p>\n"},
	"kit/src/lib/parts.ts": {"export function tool() {}\n"},
	"lib/index.ts":         {"export * from '../deep/y'\nexport { Gamma as G } from '../deep/y'\n", "export { Gamma as G } from '../deep/y'\n", "export * from './more'\n"},
	"lib/more.ts":          {"export * from '../deep/y'\n", "export function Beta() {}\n"},
	"deep/y.ts":            {"export function Beta() {}\nexport class Gamma { run() {} }\n", "export class Gamma { go() {} }\n"},
	"deep/y/index.ts":      {"export function Beta() {}\n"},
	"m/m.py":               {"from pkg import n, Beta\nimport pkg.sub.deep\n\ndef Delta():\n    n.Beta(); Beta(); pkg.sub.deep.Beta()\n"},
	"m/pkg/__init__.py":    {"from .n import *\n", "from .n import Beta\n", "\n", "def __getattr__(name):\n    pass\n"},
	"m/pkg/n.py": {
		"from pkg import sub\n__all__ = ['Beta']\n\ndef Beta():\n    sub.tool()\n", "def Beta():\n    pass\n", "def _Beta():\n    pass\n",
	},
	"m/pkg/sub/__init__.py": {"def tool():\n    pass\n", "from .deep import *\n"},
	"m/pkg/sub/deep.py":     {"def Beta():\n    pass\n\ndef tool():\n    pass\n"},
	"m/pkg/user.py":         {"from . import sub, Beta\nfrom pkg import *\nsub.tool(); Beta()\n"},
	"pyproject.toml":        {"[tool.pytest.ini_options]\npythonpath = ['m']\n", "[project]\nname = 'm'\n"},
	"c/main.c":              {"#include \"top.h\"\n\nint main(void) { return beta(); }\n"},
	"c/top.h":               {"#include \"in/low.h\"\n", "int beta(void);\n", "\n"},
	"c/in/low.h":            {"int beta(void);\n"},
	"c/low.c":               {"int beta(void) { return 1; }\n"},
	"r/a.rb":                {"def alpha\n  Beta.new.run_beta\nend\n"},
	"r/lib/b.rb":            {"class Beta\n  def run_beta\n  end\nend\n", "class Gamma\nend\n"},
	"r/run":                 {"#!/usr/bin/env ruby\nBeta.new.run_beta\n", "Beta\n"},
	"Cargo.toml":            {"[package]\nname = \"shop\"\n", "[workspace]\n"},
	"src/lib.rs":            {"mod deep;\npub use deep::*;\n", "mod deep;\npub use deep::Beta;\n", "mod deep;\n"},
	"src/deep.rs":           {"pub struct Beta;\nimpl Beta { pub fn run(&self) {} }\n", "pub use crate::other::Beta;\n"},
	"src/main.rs":           {"use shop::Beta;\nfn main() { Beta.run() }\n"},
	"j/a/Beta.java":         {"package a;\npublic class Beta { void run() {} }\n", "package b;\npublic class Beta {}\n"},
	"j/b/Beta.java":         {"package b;\npublic class Beta { void run() {} }\n"},
	"j/c/Main.java":         {"package c;\nimport a.*;\nclass Main { void m(Beta x) { x.run(); } }\n", "package b;\nclass Main { Beta x; }\n"},
	"s/Beta.cs":             {"namespace A { public class Beta { public void Run() {} } }\n", "namespace C { public class Beta {} }\n"},
	"s/Main.cs":             {"using A;\nnamespace B { class Main { Beta b; } }\n"},
	"p/Beta.php":            {"<?php\nnamespace A;\nclass Beta { function run() {} }\n", "<?php\nclass Beta {}\n"},
	"p/main.php":            {"<?php\nnamespace A;\nrequire 'Beta.php';\nnew Beta();\n"},
	"h/lib.sh":              {"beta_run() {\n  :\n}\n", "other() {\n  :\n}\n"},
	"h/main.sh":             {". ./lib.sh\nbeta_run\n"},
}

// An updated index gives the same answers as a new one.
func TestUpdateIsLikeANewIndex(t *testing.T) {
	names := slices.Sorted(maps.Keys(versions))
	rapid.Check(t, func(r *rapid.T) {
		tree, x := &memoryTree{files: map[repo.Path]string{}, notes: map[repo.Path]string{}}, newIndex(t)
		if rapid.Bool().Draw(r, "whole") {
			for _, p := range names {
				tree.files[p] = versions[p][0]
			}
			update(t, x, tree)
		}
		for range rapid.IntRange(1, 6).Draw(r, "steps") {
			for range rapid.IntRange(1, 3).Draw(r, "edits") {
				p := rapid.SampledFrom(names).Draw(r, "path")
				switch rapid.IntRange(0, 4).Draw(r, "act") {
				case 0:
					delete(tree.files, p)
				case 1:
					tree.notes[p] = rapid.SampledFrom([]string{"", "about alpha", "about beta"}).Draw(r, "note")
				default:
					tree.files[p] = rapid.SampledFrom(versions[p]).Draw(r, "content")
				}
			}
			if rapid.Bool().Draw(r, "commit") {
				tree.commit("alpha "+rapid.StringMatching(`[a-z]{8}`).Draw(r, "subject"), names[:2]...)
			}
			if len(tree.commits) > 1 && rapid.IntRange(0, 3).Draw(r, "reset") == 0 {
				tree.commits = tree.commits[1:]
			}
			tree.unnamed = rapid.IntRange(0, 2).Draw(r, "unnamed") == 0
			update(t, x, tree)
		}
		anew := newIndex(t)
		update(t, anew, tree)
		if got, want := contentsOf(t, x, tree), contentsOf(t, anew, tree); got != want {
			r.Fatalf("the updated index differs from a new one\nupdated:\n%s\nnew:\n%s", got, want)
		}
	})
}

// contentsOf formats the edges of an index and its answers.
func contentsOf(tb testing.TB, x *searchindex.Index, tree *memoryTree) string {
	tb.Helper()
	var b strings.Builder
	if err := x.AllEdges(tb.Context(), func(e searchindex.Edge) error {
		fmt.Fprintln(&b, e.From, e.To, e.Symbol, e.Kind, e.Via, e.Exact, e.Lines, e.More)
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	for _, p := range slices.Sorted(maps.Keys(tree.files)) {
		n, err := x.Ambiguous(tb.Context(), p)
		if err != nil {
			tb.Fatal(err)
		}
		fmt.Fprintln(&b, p, n)
	}
	for _, kind := range []repo.Kind{repo.KindSource, repo.KindTest} {
		used, err := x.MostUsed(tb.Context(), kind)
		if err != nil {
			tb.Fatal(err)
		}
		fmt.Fprintln(&b, kind, used)
	}
	for _, words := range []string{"alpha", "beta gamma", "pkg n"} {
		b.WriteString(search(tb, x, tree, words).String())
	}
	return b.String()
}

// Files that use each other get the same scores every time.
func TestSearchIsRepeatable(t *testing.T) {
	tree, x := &memoryTree{files: map[repo.Path]string{"go.mod": "module shop\n"}}, newIndex(t)
	for i := range 8 {
		text := fmt.Sprintf("package shop\n\n// Lease%d renews a lease.\nfunc Lease%d() {\n", i, i)
		for k := range 8 {
			if k != i && k%(i+2) != 1 {
				text += fmt.Sprintf("\tLease%d()\n", k)
			}
		}
		tree.files[repo.Path(fmt.Sprintf("lease%d.go", i))] = text + "}\n"
	}
	update(t, x, tree)
	want := fmt.Sprint(search(t, x, tree, "renew lease").Places)
	for range 20 {
		if got := fmt.Sprint(search(t, x, tree, "renew lease").Places); got != want {
			t.Fatalf("the same question has two answers\n%s\n%s", got, want)
		}
	}
}

// A question about tests ranks tests up, each with the command that runs the test around its line.
func TestSearchForTests(t *testing.T) {
	tree, x := shop(), newIndex(t)
	update(t, x, tree)
	isTest := func(p Place) bool { return p.Path == "server/limits_test.go" }
	a, plain := search(t, x, tree, "which tests cover the limiter"), search(t, x, tree, "the limiter")
	i, k := slices.IndexFunc(a.Places, isTest), slices.IndexFunc(plain.Places, isTest)
	if i < 0 || k < 0 || a.Places[i].Score <= plain.Places[k].Score {
		t.Fatalf("expected a higher score for server/limits_test.go than without the word tests, found:\n%s\n%s", a, plain)
	}
	if got, want := a.Places[i].Command, "go test ./server -run '^TestAllow$'"; got != want {
		t.Errorf("the command is %q, expected %q", got, want)
	}
	if a := search(t, x, tree, "limiter"); a.Places[0].Path != "server/limits.go" || a.Places[0].Command != "" {
		t.Errorf("expected server/limits.go first, and no command, found:\n%s", a)
	}
	if a := search(t, x, tree, "tests"); len(a.Places) == 0 {
		t.Error("a query of the word tests alone finds nothing, expected the tests")
	}
}

// Symbols have the line of their declaration, with or without a comment above it.
func TestSearchGivesTheLineOfDeclarations(t *testing.T) {
	tree, x := shop(), newIndex(t)
	update(t, x, tree)
	for _, p := range search(t, x, tree, "limiter allow tenant").Places {
		lines := strings.Split(tree.files[p.Path], "\n")
		for _, s := range p.Symbols {
			name := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
			if line := lines[s.Line-1]; !strings.Contains(line, name) || strings.HasPrefix(line, "//") {
				t.Errorf("%s:%d is %q, expected the declaration of %s", p.Path, s.Line, line, s.Name)
			}
		}
	}
}

// A source file of Rust with a module of tests counts as a test, with the command that runs the
// test around its line.
func TestSearchForTestsInsideFiles(t *testing.T) {
	tree, x := &memoryTree{files: map[repo.Path]string{
		"Cargo.toml":   "[package]\nname = \"shop\"\n\n[features]\ndefault = []\nforms = []\n",
		"src/lib.rs":   "pub mod form;\npub mod cart;\n",
		"src/form.rs":  "pub struct Form;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn rejects_empty_boundary() {\n        assert!(true);\n    }\n}\n",
		"src/cart.rs":  "/// Rejects an empty cart.\npub fn check() {}\n",
		"src/other.rs": "pub struct Form;\n\n#[cfg(test)]\nmod tests {\n    use super::Form;\n    #[test]\n    fn makes_form() {\n        let _ = Form;\n    }\n}\n",
	}}, newIndex(t)
	update(t, x, tree)
	a, err := Search(t.Context(), x, tree, Query{Words: []string{"rejects empty boundary"}, Kinds: []repo.Kind{repo.KindTest}})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Places) == 0 || a.Places[0].Path != "src/form.rs" || slices.ContainsFunc(a.Places, func(p Place) bool { return p.Path == "src/cart.rs" }) {
		t.Fatalf("expected src/form.rs and no file without tests, found:\n%s", a)
	}
	if got, want := a.Places[0].Command, "cargo test --all-features --lib form::tests::rejects_empty_boundary"; got != want {
		t.Errorf("the command is %q, expected %q", got, want)
	}
}
