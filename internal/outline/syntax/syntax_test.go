package syntax

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var all = map[string]func() (*Grammar, error){
	"bash": Bash, "c": C, "cpp": CPP, "c_sharp": CSharp, "java": Java, "javascript": JavaScript, "markdown": Markdown,
	"php": PHP, "python": Python, "ruby": Ruby, "rust": Rust, "tsx": TSX, "typescript": TypeScript,
}

func parse(t *testing.T, lang, src string) *Tree {
	t.Helper()
	g, err := all[lang]()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := g.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// The build tags name exactly the grammars that are used.
func TestTags(t *testing.T) {
	b, err := os.ReadFile("tags")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"grammar_subset"}
	for name, load := range all {
		if g, err := load(); err != nil || g.name != name {
			t.Errorf("loading the grammar %s returned %v, %v", name, g, err)
		}
		want = append(want, "grammar_subset_"+name)
	}
	got := strings.Split(strings.TrimSpace(string(b)), ",")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("tags are %q, want %q", got, want)
	}
}

// externalLexer has the same layout as the library's type.
func TestExternalLexer(t *testing.T) {
	if err := checkExternalLexer(); err != nil {
		t.Fatal(err)
	}
}

// Valid source text parses without errors.
func TestWhole(t *testing.T) {
	for lang, texts := range map[string][]string{
		"typescript": {
			"export function f(amount = 1) {\n  return new Promise<{ data: number }>((r) => r)\n}\n",
			"const x = <T,>(a: T): a is NonNullable<T> => a != null\n",
			"class A<T> { declare x?: number; static { } }\n",
		},
		"tsx": {"const a = <T extends {}>(p: T) => <A.B x={<b/>} {...p}>{/* c */} t</A.B>\n"},
		"javascript": {
			"a\n++b\nlet c = a / b / 2, d = /[/]/.test(`${`x`}`)\n",
			"for await (const x of y) ; label: while (0) break label\n",
		},
		"bash": {
			`N="$(a "${N}" | b "s/^${I}-//" | c -e '^v' | d -c2- | e -d . -f 1,2 | f | g -1)"` + "\n",
			"cat <<A | b\n$x\nA\n", "case $x in a|b) ;; *) y=$((1+2)) ;; esac\n",
		},
		"python": {
			"class A:\n    @p\n# less indented\n    def f(self): pass\n",
			"match x:\n    case [1, *_] if y: pass\n", "print(f'{x!r:>{w}} {{}}', *a, **b)\n",
			"def f[T: int](x, /, y: T = 1, *, z): ...\nasync with a as b, c: pass\n",
		},
		"c_sharp": {
			"class A { string S => $\"{{\\\"k\\\":{v,3:X}}}\" + $@\"{{\"\"{a}\" + $$\"\"\"{ {{b}} \"\" }\"\"\"; }\n",
			"class A { int[] X = []; int[] Y => [1, 2]; }\n",
		},
		"rust":     {"fn f<'a, const N: usize>(x: &'a [u8; N]) -> impl Fn() + 'a { move || { r#\"\"#; 'l: loop { break 'l } } }\n"},
		"java":     {"sealed interface S permits A {} record A(int... x) implements S { A { } }\nclass B { Object o = switch (1) { case 1 -> \"\"\"\n  x\"\"\"; default -> { yield 2; } }; }\n"},
		"c":        {"#define F(x) \\\n  (x)\nint (*f(void))(int), *a[3] = { [1] = 0 };\n"},
		"cpp":      {"template <class... T> requires C<T...> auto f(T&&... t) -> decltype(auto) { return [=]<class U>(U u) mutable { return (t + ...); }; }\n"},
		"ruby":     {"x = <<~A + <<-'B'\n  #{1}\nA\n  b\n  B\nputs %w[a b], ?a, :\"s\", /x/i, a ? b : c, ->(y) { y }\ndef self.m(...) = n(...)\n"},
		"php":      {"<p><?= $x ?></p><?php fn(int ...$a): ?int => match(true) { default => new class {} };\necho <<<\"A\"\n {$x['a']}\n A;\n"},
		"markdown": {"a\n=\n\n1. b\n   - c\n\n     ```\n     # d\n     ```\n> e\n"},
	} {
		for _, src := range texts {
			if tree := parse(t, lang, src); !tree.Whole() {
				t.Errorf("%s does not parse:\n%s", lang, src)
			}
		}
	}
}

// The parser finds declarations after a syntax error.
func TestRepair(t *testing.T) {
	for lang, c := range map[string]struct{ src, kind, name string }{
		"javascript": {"function a( { x = ) }\n\nfunction b() {}\n", "function_declaration", "b"},
		"java":       {"class A { int x = ; void f( { } }\n\nclass B { }\n", "class_declaration", "B"},
		"python":     {"def a(x):\n    y = = 1\n    return }\n\ndef b():\n    pass\n", "function_definition", "b"},
		"cpp":        {"TEST(a, template) {\n  x<y>(;\n}\n\nint b() { return 1; }\n", "function_definition", "int b() { return 1; }"},
		"rust":       {"fn a() { let x = ; if { }\n\nfn b() {}\n", "function_item", "b"},
	} {
		tree := parse(t, lang, c.src)
		if tree.Whole() {
			t.Errorf("%s: parses whole:\n%s", lang, c.src)
		}
		found := false
		var walk func(n Node)
		walk = func(n Node) {
			if n.Type() == c.kind && (n.Child("name").Text([]byte(c.src)) == c.name || n.Text([]byte(c.src)) == c.name) {
				found = true
			}
			for _, m := range n.Children() {
				walk(m)
			}
		}
		walk(tree.Root())
		if !found {
			t.Errorf("%s: no %s %s found in\n%s", lang, c.kind, c.name, c.src)
		}
	}
}

// The linear parser makes the same tree in the same number of steps, for valid samples and for samples with
// pieces deleted.
func TestLinear(t *testing.T) {
	files, err := filepath.Glob("../testdata/*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range files {
		load := all[map[string]string{"shell": "bash", "csharp": "c_sharp"}[filepath.Base(filepath.Dir(name))]]
		if load == nil {
			load = all[filepath.Base(filepath.Dir(name))]
		}
		if load == nil || strings.HasSuffix(name, ".outline") {
			continue
		}
		g, err := load()
		if err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			linear, general := newParser(g), newParser(g)
			general.linearOff = true
			a, errA := linear.parse(src)
			b, errB := general.parse(src)
			if errA != nil || errB != nil {
				t.Fatalf("%s: the linear parser returned the error %v, the general one %v", name, errA, errB)
			}
			if !sameTree(a.p, b.p, a.root, b.root) || linear.steps != general.steps {
				t.Errorf("%s: the linear parser makes another tree, or takes %d steps instead of %d, for\n%s", name, linear.steps, general.steps, src)
				break
			}
			at := rng.IntN(len(src))
			src = slices.Delete(slices.Clone(src), at, min(len(src), at+1+rng.IntN(20)))
		}
	}
}

func sameTree(p, q *parser, r, s ref) bool {
	a, b := p.nodes[r], q.nodes[s]
	a.first, b.first = 0, 0
	return a == b && slices.EqualFunc(p.childrenOf(r), q.childrenOf(s), func(r, s ref) bool { return sameTree(p, q, r, s) })
}

// A parse of any text ends, and its tree is within the text.
func TestLimits(t *testing.T) {
	for lang := range all {
		for _, piece := range []string{"(", "\"", "a<", "{ x", "\\", "if ", "\xff", "/*", "`", "\t- "} {
			src := strings.Repeat(piece, 4000/len(piece))
			tree := parse(t, lang, src)
			if root := tree.Root(); root.End() > len(src) || root.Start() < 0 {
				t.Errorf("%s of %q: the tree spans %d to %d of %d bytes", lang, piece, root.Start(), root.End(), len(src))
			}
		}
	}
}
