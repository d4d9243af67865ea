package parse_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/parse"
)

func TestParseEntry(t *testing.T) {
	for _, tt := range []struct {
		text string
		want parse.Entry
	}{
		{"a.go", parse.Entry{Path: "a.go"}},
		{"  ./src//a.go ", parse.Entry{Path: "src/a.go"}},
		{`src\win\a.go`, parse.Entry{Path: "src/win/a.go"}},
		{"src/x/../a.go", parse.Entry{Path: "src/a.go"}},
		{"..a/...", parse.Entry{Path: "..a/..."}},
		{"C:a.go", parse.Entry{Path: "C:a.go"}},
		{"a b/it's.go", parse.Entry{Path: "a b/it's.go"}},
		{"(group)/+page@x.ts", parse.Entry{Path: "(group)/+page@x.ts"}},
		{"src/", parse.Entry{Path: "src", Kind: parse.DirEntry}},
		{`src\\`, parse.Entry{Path: "src", Kind: parse.DirEntry}},
		{"src/.", parse.Entry{Path: "src", Kind: parse.DirEntry}},
		{"src/x/..", parse.Entry{Path: "src", Kind: parse.DirEntry}},
		{".", parse.Entry{Kind: parse.DirEntry}},
		{"./", parse.Entry{Kind: parse.DirEntry}},
		{"src/**/*.go", parse.Entry{Path: "src/**/*.go", Kind: parse.GlobEntry}},
		{"src/*/", parse.Entry{Path: "src/*/**", Kind: parse.GlobEntry}},
		{"a.{ts,tsx}", parse.Entry{Path: "a.{ts,tsx}", Kind: parse.GlobEntry}},
		{"app/[[...slug]]/page.tsx", parse.Entry{Path: "app/[[...slug]]/page.tsx", Kind: parse.GlobEntry}},
		{"a.go#New", parse.Entry{Path: "a.go", Symbol: "New"}},
		{"a.go # T.m ", parse.Entry{Path: "a.go", Symbol: "T.m"}},
		{"a.ts#T.#private", parse.Entry{Path: "a.ts", Symbol: "T.#private"}},
		{`a.php#App\User`, parse.Entry{Path: "a.php", Symbol: `App\User`}},
		{"a.ex#f/2", parse.Entry{Path: "a.ex", Symbol: "f/2"}},
		{"c#/a.cs", parse.Entry{Path: "c#/a.cs"}},
		{`c#\a.cs#Main`, parse.Entry{Path: "c#/a.cs", Symbol: "Main"}},
		{"src/c#", parse.Entry{Path: "src/c#"}},
		{"src/#draft", parse.Entry{Path: "src/#draft"}},
		{"src/ #draft", parse.Entry{Path: "src/ #draft"}},
		{"src/*.go#New", parse.Entry{Path: "src/*.go", Symbol: "New", Kind: parse.GlobEntry}},
	} {
		tt.want.Text = strings.TrimSpace(tt.text)
		got, err := parse.ReadEntry(tt.text)
		if err != nil {
			t.Errorf("ReadEntry(%q) returned the error %v", tt.text, err)
		} else if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("ReadEntry(%q) (-want +got):\n%s", tt.text, d)
		}
	}

	for _, text := range []string{
		"", " ", "/", "/a", `\a`, "//server/x", "C:/a", `d:\a`, "..", "../a", "a/../../b", `..\a`, "./../a",
		"src/[a", "src/{a,b", "src/[]", "a\x00b", ".#f", strings.Repeat("{a,b}", 9), strings.Repeat("{", 9) + "a" + strings.Repeat("}", 9), strings.Repeat("*a", 600), strings.Repeat("a/", 3000),
	} {
		if e, err := parse.ReadEntry(text); err == nil {
			t.Errorf("ReadEntry(%q) returned %+v; want an error", text, e)
		} else if fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" || len(err.Error()) > 500 {
			t.Errorf("ReadEntry(%q) returned the error %v with the hint %q; want a short usage error with a hint", text, err, fault.HintOf(err))
		}
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		text    string
		yes, no []repo.Path
	}{
		{"a.go", []repo.Path{"a.go", "a.go/b"}, []repo.Path{"a.got", "b/a.go", "a.g", "A.go"}},
		{"src", []repo.Path{"src", "src/a.go", "src/b/c.go"}, []repo.Path{"srcs/a.go", "x/src/a.go"}},
		{"src/", []repo.Path{"src/a.go", "src/b/c.go"}, []repo.Path{"srcs/a.go"}},
		{".", []repo.Path{"a.go", "src/b/c.go"}, nil},
		{"a.go#New", []repo.Path{"a.go", "a.go#New"}, []repo.Path{"a.go#Old", "New"}},
		{"*.go", []repo.Path{"a.go", ".go"}, []repo.Path{"src/a.go", "a.got"}},
		{"**/*.go", []repo.Path{"a.go", "src/a.go", "src/b/c.go"}, []repo.Path{"a.md"}},
		{"src/*", []repo.Path{"src/a"}, []repo.Path{"src/a/b", "src"}},
		{"src/*/", []repo.Path{"src/a/b", "src/a/b/c"}, []repo.Path{"src"}},
		{"src/**", []repo.Path{"src/a", "src/a/b"}, []repo.Path{"srcs/a"}},
		{"src/{a,b}.go", []repo.Path{"src/a.go", "src/b.go"}, []repo.Path{"src/c.go"}},
		{"app/[id]/page.tsx", []repo.Path{"app/[id]/page.tsx", "app/i/page.tsx"}, []repo.Path{"app/x/page.tsx"}},
		{"app/[[...slug]]", []repo.Path{"app/[[...slug]]/page.tsx"}, []repo.Path{"app/x/page.tsx"}},
		{"caf\xe9/*", []repo.Path{"caf\xe9/a"}, []repo.Path{"cafe/a"}},
	} {
		e, err := parse.ReadEntry(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range tt.yes {
			if !e.Matches(p) {
				t.Errorf("%s does not match %s", tt.text, p)
			}
		}
		for _, p := range tt.no {
			if e.Matches(p) {
				t.Errorf("the entry %s matches %s; it should not", tt.text, p)
			}
		}
	}
}

// The result of String parses to the same entry and the same string, and the entry matches the file that it names.
func TestEntryReadsBack(t *testing.T) {
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[ ./\\#a:C*?{},\[\]\t-]{0,12}`),
		rapid.StringMatching(`(\./|[a-z]{1,3}[/\\]{1,2}|\.\./| ){0,4}[a-z*]{0,3}(\.go)?( ?#[A-Za-z.#/]{0,4})?`),
	)
	rapid.Check(t, func(t *rapid.T) {
		e, err := parse.ReadEntry(text.Draw(t, "text"))
		if err != nil {
			return
		}
		again, err := parse.ReadEntry(e.String())
		if err != nil {
			t.Fatalf("%+v is printed as %q: %v", e, e.String(), err)
		}
		if again.Text != strings.TrimSpace(e.String()) || again.String() != e.String() {
			t.Fatalf("%q is printed as %q", e.String(), again.String())
		}
		again.Text = e.Text
		if e != again {
			t.Fatalf("%+v is read back as %+v", e, again)
		}
		if !e.Matches(repo.Path(e.Path)) {
			t.Fatalf("%+v does not match itself", e)
		}
	})
}
