package review

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/change"
	"ken/internal/fault"
	"ken/internal/outline"
)

// A call is told only if it was right before the signature changed and may not be after it.
func TestBreaks(t *testing.T) {
	for _, tt := range []struct {
		lang                outline.Language
		before, after, call string
		want                bool
	}{
		{outline.Python, "def f(a)", "def f(a, b=None)", "f(1)", false},
		{outline.Python, "def f(a)", "def f(a: int) -> str", "f(1)", false},
		{outline.Python, "def f(a)", "def f(a, *args, **kwargs)", "f(1)", false},
		{outline.Python, "@lru_cache(maxsize=None) def f(a)", "@cache def f(a)", "f(1)", false},
		{outline.Python, "def f(a)", "def f(a, b)", "f(1)", true},
		{outline.Python, "def f(a)", "def f(a, b)", "f(1, 2)", false},
		{outline.Python, "def f(a)", "def f(a, b)", "f(\n  g(1, 2),\n)", true},
		{outline.Python, "def f(a)", "def f(a, b)", "# f(1)\n\"f(1)\"", false},
		{outline.Python, "def f(a, b)", "def f(a)", "f(1, [2, 3])", true},
		{outline.Python, "def f(a, b)", "def f(b, a)", "f(1, 2)", true},
		{outline.Python, "def f(a, b)", "def f(b, a)", "f(a=1, b=2)", false},
		{outline.Python, "def f(a)", "def f(b)", "f(1)", false},
		{outline.Python, "def f(a)", "def f(b)", "f(a=1)", true},
		{outline.Python, "def f(a, b)", "def f(a, *, b)", "f(1, 2)", true},
		{outline.Python, "def f(a, b)", "def f(a, *, b)", "f(1, b=2)", false},
		{outline.Python, "def f(a=1)", "def f(a)", "f()", true},
		{outline.Python, "def f(a=1)", "def f(a)", "f(2)", false},
		{outline.Python, "def f(a)", "def f(a, b)", "f(*x)", true},
		{outline.Python, "def f(a)", "def f(a, b=1)", "f(*x)", false},
		{outline.Python, "def f(a, b)", "def f(*args)", "f(1, 2)", false},
		{outline.JavaScript, "function f(a)", "function f(renamed)", "f(1)", false},
		{outline.JavaScript, "function f(a)", "function f(a, b)", "f(1)", true},
		{outline.JavaScript, "function f(a)", "function f(a, b)", "f(...x)", true},
		{outline.JavaScript, "function f(a)", "function f(a, {b} = {})", "f({c: 1})", false},
		{outline.PHP, "function f(int $a)", "function f(string $a)", "f(1)", false},
		{outline.Ruby, "def f(a)", "def f(a, &block)", "f(1)", false},
	} {
		symbol := func(signature string) *outline.Symbol {
			return &outline.Symbol{Kind: outline.Func, Name: "f", Signature: signature}
		}
		s := &change.Signature{Before: symbol(tt.before), After: symbol(tt.after)}
		got := slices.ContainsFunc(callsIn(tt.lang, tt.call, "f"), func(c call) bool { return c.breaks(s, false) })
		if got != tt.want {
			t.Errorf("%s: %q to %q breaks %s: %t, want %t", tt.lang, tt.before, tt.after, tt.call, got, tt.want)
		}
	}
}

func TestJoinCommands(t *testing.T) {
	for want, commands := range map[string][]string{
		"go test ./a ./b":                                       {"go test ./a", "go test ./b"},
		"pytest a.py && go test ./b":                            {"pytest a.py", "go test ./b"},
		"cargo test --test a && cargo test --test b":            {"cargo test --test a", "cargo test --test b"},
		"cargo test --bin z db:: && cargo test --bin z db::a::": {"cargo test --bin z db::", "cargo test --bin z db::a::"},
		"(cd x && pytest a b) && pytest c":                      {"(cd x && pytest a)", "(cd x && pytest b)", "pytest c"},
		"(cd 'x y' && pytest a) && pytest c":                    {"(cd 'x y' && pytest a)", "pytest c"},
		"go test -run A ./b":                                    {"go test -run A ./b"},
	} {
		if got, left := JoinCommands(commands, 8); got != want || left != 0 {
			t.Errorf("%q become %q (%d left out), want %q", commands, got, left, want)
		}
	}
	if got, left := JoinCommands([]string{"go test ./a", "go test ./b", "go test ./c"}, 2); got != "go test ./a ./b" || left != 1 {
		t.Errorf("of three commands two are %q, %d left out; want one left out", got, left)
	}
}

// The limit keeps a line of every kind, and the order of the lines.
func TestLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom(Kinds), 0, 30).Draw(t, "kinds")
		slices.SortStableFunc(kinds, func(a, b Kind) int { return slices.Index(Kinds, a) - slices.Index(Kinds, b) })
		r := &Review{}
		for i, k := range kinds {
			r.Lines = append(r.Lines, Line{Kind: k, Line: i})
		}
		r.Limit(MaxLines)
		if len(r.Lines) != min(len(kinds), MaxLines) || len(r.Lines)+r.More != len(kinds) {
			t.Fatalf("%d lines of %d, %d more; want at most %d", len(r.Lines), len(kinds), r.More, MaxLines)
		}
		for _, k := range kinds {
			if !slices.ContainsFunc(r.Lines, func(l Line) bool { return l.Kind == k }) {
				t.Fatalf("no line of kind %s is left", k)
			}
		}
		if !slices.IsSortedFunc(r.Lines, func(a, b Line) int { return a.Line - b.Line }) {
			t.Fatalf("the lines are in another order: %v", r.Lines)
		}
	})
}

// Text of the repository cannot leave its code span.
func TestCodeSpan(t *testing.T) {
	open := regexp.MustCompile("^`+")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("[ a`@#<>\\n\\[\\]()!*_~|\\\\\u202e]*").Draw(t, "text")
		span := codeSpan(text)
		if span == "" {
			return
		}
		fence := open.FindString(span)
		inside := strings.TrimSuffix(strings.TrimPrefix(span, fence), fence)
		if len(inside)+2*len(fence) != len(span) {
			t.Fatalf("%q has no closing fence", span)
		}
		if strings.ContainsAny(inside, "\n\r\u202e") {
			t.Fatalf("%q has a line break or a direction mark", span)
		}
		for _, run := range regexp.MustCompile("`+").FindAllString(inside, -1) {
			if len(run) >= len(fence) {
				t.Fatalf("%q closes early", span)
			}
		}
		if strings.HasPrefix(inside, "`") || strings.HasSuffix(inside, "`") {
			t.Fatalf("%q begins or ends with a backtick", span)
		}
	})
}

// A check fails for lines of the kinds, and for checks that were not possible.
func TestFails(t *testing.T) {
	for name, tt := range map[string]struct {
		review Review
		want   bool
	}{
		"nothing":                 {Review{}, false},
		"a stale summary":         {Review{Lines: []Line{{Kind: Stale}}}, false},
		"a document":              {Review{Lines: []Line{{Kind: Docs}}}, true},
		"a range that is unknown": {Review{Unknown: []fault.Unknown{{}}}, true},
		"unknown users":           {Review{Unknown: []fault.Unknown{{What: string(Broken)}}}, false},
		"unknown drift":           {Review{Unknown: []fault.Unknown{{What: string(Drift)}}}, true},
	} {
		if got := tt.review.Fails(Policy{}.Kinds()); got != tt.want {
			t.Errorf("%s fails the check: %t, want %t", name, got, tt.want)
		}
	}
}
