package review

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/usage"
)

// Comments, docstrings and layout do not count as code. Everything else does.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		lang          outline.Language
		before, after string
		same          bool
	}{
		{outline.Go, "f() //nolint:all // mistke", "f() //nolint:all // mistake", true},
		{outline.Go, "/* a */ f()", "f( )", true},
		{outline.Go, `f("//a")`, `f("//b")`, false},
		{outline.Go, "f(`\\`) // a", "f(`\\`) // b", true},
		{outline.Go, "//go:noinline\nf()", "//go:inline\nf()", false},
		{outline.Python, "def f():\n    \"\"\"Won't do.\"\"\"\n    g()", "def f():\n    '''Does.'''\n    # now\n    g()", true},
		{outline.Python, "x = \"\"\"a\"\"\"", "x = \"\"\"b\"\"\"", false},
		{outline.Python, "if a:\n    b()\n    c()", "if a:\n    b()\nc()", false},
		{outline.Python, "a(1)  # one", "a(1)", true},
		{outline.TypeScript, `a = /\// // one`, `a = /\// // two`, true},
		{outline.TypeScript, "a = `http://a`", "a = `http://b`", false},
		{outline.Rust, "fn f<'a>() {} // one", "fn f<'a>() {} // two", true},
		{outline.Rust, "let c = 'a';", "let c = 'b';", false},
		{outline.Bash, "a=${#b} # one", "a=${#b} # two", true},
		{outline.Bash, "a=${#b}", "a=${#c}", false},
		{outline.Go, "f(a, b)", "f(\n\ta,\n\tb,\n)", true},
		{outline.TypeScript, "f('a')\nx = [1]", "f(\n  \"a\",\n);\nx = [1,];", true},
		{outline.TypeScript, `f("it's")`, `f('it"s')`, false},
		{outline.Python, "f(a, 'b')", "f(\n    a,\n    \"b\",\n)", true},
		{outline.Python, "x = (a,)", "x = (a)", false},
		{outline.Rust, "let x = (a,);", "let x = (a);", false},
		{outline.Rust, "f(a, b)", "f(\n    a,\n    b,\n)", true},
		{outline.Bash, "f() {\n a\n}", "f() { a }", false},
	} {
		if got := slices.Equal(words(tt.lang, tt.before), words(tt.lang, tt.after)); got != tt.same {
			t.Errorf("%s: %q and %q are the same code: %t, want %t", tt.lang, tt.before, tt.after, got, tt.same)
		}
	}
}

// words accepts any content, and without comments, commas and semicolons it keeps everything but white space.
func TestWordsKeepsCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lang := rapid.SampledFrom([]outline.Language{outline.Go, outline.Python, outline.Rust, outline.TypeScript, outline.Bash}).Draw(t, "language")
		words(lang, rapid.StringMatching("[a-c'\"`/*#\\\\é \\n]*").Draw(t, "any code"))
		code := rapid.StringMatching("[a-cé(){}= \\n]*").Draw(t, "code")
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := squeeze(strings.Join(words(lang, code), "")); got != squeeze(code) {
			t.Fatalf("the words of %q are %q", code, got)
		}
	})
}

func readVersion(t *testing.T, path repo.Path, content string) *version {
	t.Helper()
	o, err := outline.Parse(path, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	v := &version{outline: o}
	v.setContent([]byte(content))
	return v
}

// A property has a getter and a setter of one name.
func TestTouchedSymbols(t *testing.T) {
	before := `class Task:
    @property
    def app(self):
        return self._app

    @app.setter
    def app(self, value):
        self._app = value

    def run(self):
        """Run."""
        return 1

    def stop(self):
        """Stop."""
        return 2
`
	after := `class Task:
    @property
    def app(self):
        return self._app

    @app.setter
    def app(self, value):
        self._app = value

    def run(self):
        """Run it."""
        return 1

    def stop(self):
        """Stop."""
        return 3
`
	got := slices.Sorted(maps.Keys(touchedSymbols(readVersion(t, "a.py", before), readVersion(t, "a.py", after))))
	if want := []string{"Task.stop"}; !slices.Equal(got, want) {
		t.Errorf("the change touched %q, want %q", got, want)
	}
}

func TestReach(t *testing.T) {
	v := readVersion(t, "a.py", "def _low():\n    pass\n\n\ndef mid():\n    _low()\n\n\ndef high():\n    return f'{mid()}'\n\n\ndef other():\n    pass\n")
	changed := map[string]bool{"_low": true}
	for private, want := range map[bool][]string{true: {"_low", "mid"}, false: {"_low", "high", "mid"}} {
		if got := slices.Sorted(maps.Keys(v.reach(changed, private))); !slices.Equal(got, want) {
			t.Errorf("_low reaches %q (private: %t), want %q", got, private, want)
		}
	}
}

func TestNeedsServices(t *testing.T) {
	for path, want := range map[repo.Path]bool{
		"t/unit/test_a.py": false, "t/integration/test_a.py": true, "e2e/a.spec.ts": true, "playground/a/__tests__/a.spec.ts": true,
		"t/unit/integration.py": false,
	} {
		if got := needsServices(usage.Test{PathJSON: path.JSON()}); got != want {
			t.Errorf("%s needs services: %t, want %t", path, got, want)
		}
	}
}
