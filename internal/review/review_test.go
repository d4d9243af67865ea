package review

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/fault"
	"ken/internal/outline"
)

// Only a change that may make a call fail counts, in languages without a check before they run.
func TestIncompatible(t *testing.T) {
	for _, tt := range []struct {
		lang          outline.Language
		before, after string
		want          bool
	}{
		{outline.Python, "def f(a)", "def f(a, b=None)", false},
		{outline.Python, "def f(a)", "def f(a: int) -> str", false},
		{outline.Python, "def f(a)", "def f(a, *args, **kwargs)", false},
		{outline.Python, "@lru_cache(maxsize=None) def f(a)", "@cache def f(a)", false},
		{outline.Python, "def f(a)", "def f(a, b)", true},
		{outline.Python, "def f(a, b)", "def f(a)", true},
		{outline.Python, "def f(a, b)", "def f(b, a)", true},
		{outline.Python, "def f(a=1)", "def f(a)", true},
		{outline.Python, "def f(a, b)", "def f(*args)", false},
		{outline.JavaScript, "function f(a)", "function f(renamed)", false},
		{outline.JavaScript, "function f(a)", "function f(a, b)", true},
		{outline.JavaScript, "function f(a)", "function f(a, {b} = {})", false},
		{outline.PHP, "function f(int $a)", "function f(string $a)", false},
		{outline.PHP, "function f($a)", "function f($b)", true},
		{outline.Ruby, "def f(a)", "def f(a, &block)", false},
	} {
		symbol := func(signature string) *outline.Symbol {
			return &outline.Symbol{Kind: outline.Func, Name: "f", Signature: signature}
		}
		if got := incompatible(tt.lang, symbol(tt.before), symbol(tt.after)); got != tt.want {
			t.Errorf("%s: %q to %q is incompatible: %t, want %t", tt.lang, tt.before, tt.after, got, tt.want)
		}
	}
}

func TestJoinCommands(t *testing.T) {
	for want, commands := range map[string][]string{
		"go test ./a ./b":                            {"go test ./a", "go test ./b"},
		"pytest a.py && go test ./b":                 {"pytest a.py", "go test ./b"},
		"cargo test --test a && cargo test --test b": {"cargo test --test a", "cargo test --test b"},
		"(cd x && pytest a b) && pytest c":           {"(cd x && pytest a)", "(cd x && pytest b)", "pytest c"},
		"(cd 'x y' && pytest a) && pytest c":         {"(cd 'x y' && pytest a)", "pytest c"},
		"go test -run A ./b":                         {"go test -run A ./b"},
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
