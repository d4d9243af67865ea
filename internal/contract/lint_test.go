package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ken/internal/contract"
)

func TestLint(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       string // the foreign names, line:name
	}{
		{"legal", "Read .ken/state/review.md and .ken/state/review-pr12.md.\n`.ken/state/x.tmp`", ""},
		{"foreign", "Write .ken/state/foo.md", "1:foo.md"},
		{"another directory", ".devt/state/foo.md, .devt/rules/foo.md, .ken/foo.md", "1:foo.md"},
		{"lines", "\n\r\n.ken/state/foo.md\r\n", "3:foo.md"},
		{"once to a line", ".ken/state/foo.md .ken/state/foo.md\n.ken/state/foo.md", "1:foo.md 2:foo.md"},
		{"several in order", ".ken/state/b.md .devt/state/a.md", "1:b.md 1:a.md"},
		{"prefixed", "./.ken/state/a.md $ROOT/.ken/state/b.md ${ROOT}/.ken/state/c.md /x/.ken/state/d.md", "1:a.md 1:b.md 1:c.md 1:d.md"},
		{"doubled slash", ".ken//state//foo.md", "1:foo.md"},
		{"part of another name", "x.ken/state/foo.md ..ken/state/foo.md -.ken/state/foo.md", ""},
		{"not the directory", ".ken/states/foo.md .ken/state-old/foo.md", ""},
		{"wrapped", "`.ken/state/a.md` \".ken/state/b.md\" '.ken/state/c.md' (.ken/state/d.md) [x](.ken/state/e.md#top) <.ken/state/f.md>", "1:a.md 1:b.md 1:c.md 1:d.md 1:e.md 1:f.md"},
		{"punctuated", ".ken/state/a.md. .ken/state/b.md, .ken/state/c.md; .ken/state/d.md: .ken/state/e.md! .ken/state/f.md? **.ken/state/g.md** .ken/state/h.md... *.ken/state/i.md* _.ken/state/j.md_ **.ken/state/k**", "1:a.md 1:b.md 1:c.md 1:d.md 1:e.md 1:f.md 1:g.md 1:h.md 1:i.md 1:j.md"},
		{"in HTML", "<td>.ken/state/a.md</td> .ken/state/b.md<br>.ken/state/c.md<br/> .ken/state/plan.md</plan>", "1:a.md 1:b.md 1:c.md"},
		{"in shell", "cat .ken/state/a.md|wc; x=.ken/state/b.md&& cp .ken/state/c.md>.ken/state/d.md", "1:a.md 1:b.md 1:c.md 1:d.md"},
		{"Windows", `C:\x\.ken\state\foo.md and .ken\\state\\bar.md and .ken\state\review.md`, "1:foo.md 1:bar.md"},
		{"Windows, below", `.ken\state\.archive\x and .ken\state\notes\x`, ""},
		{"escaped", `grep '\.ken/state/review\.md' .ken/state/foo\.md .ken/state/scan\_results.md "a\".ken/state/plan.md\n"`, ""},
		{"braces", ".ken/state/review.{md,json} .ken/state/{plan,spec}.md .ken/state/{foo,review}.md .ken/state/x{1,2}.md .ken/state/review{,-scope}.md .ken/state/review.{md|json}", ""},
		{"globs", ".ken/state/*.md .ken/state/review-* .ken/state/review-lane-*.json .ken/state/*-summary.{md,json} .ken/state/** .ken/state/slice-?.md", ""},
		{"globs of other names", ".ken/state/foo-*.md .ken/state/*.png", ""},
		{"placeholders", ".ken/state/review-<slug>.md .ken/state/review-${X}.md .ken/state/review-$X.md .ken/state/review-{slug}.md .ken/state/impl-summary-{{slug}}.json .ken/state/<agent>-summary.json .ken/state/review-lane-%s.md .ken/state/plan-[name].md .ken/state/review-NNN.md .ken/state/slice-$(date +%s).md", ""},
		{"placeholders in other names", ".ken/state/foo-<a b>.md .ken/state/bar-${X:-y}.md .ken/state/baz-{slug}-{ts}.md", ""},
		{"nothing but a placeholder", ".ken/state/<name> .ken/state/$F .ken/state/${F} .ken/state/{f} .ken/state/* .ken/state/*.* .ken/state/<a>-<b>", ""},
		{"the directory alone", ".ken/state/ .ken/state/. `.ken/state/` .ken/state/… .ken/state/... .ken/state .ken/state/../x .ken/state/(a|b)", ""},
		{"below", ".ken/state/.archive/ .ken/state/.archive/<ts>/x.md .ken/state/.archive .ken/state/notes/a.md .ken/state/review.md/x .ken/state/<id>/x", "1:notes 1:review.md"},
		{"in other scripts", "siehe .ken/state/prüfung.md。 .ken/state/日本.md」", "1:prüfung.md 1:日本.md"},
		{"not UTF-8", "\xff.ken/state/foo.md .ken/state/a\xff.md", "1:a"},
		{"unclosed", ".ken/state/a<b .ken/state/a{b .ken/state/a${b .ken/state/a$(b .ken/state/a[b", ""},
		{"version control", ".ken/state/a@2.md .ken/state/b+c.md", "1:a@2.md 1:b+c.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			wrong, _ := contract.Default().Lint("doc.md", []byte(tt.text), []string{".ken/state", "./.devt/state/", ""})
			for _, r := range wrong {
				if r.File != "doc.md" {
					t.Errorf("the document is %s", r.File)
				}
				got = append(got, fmt.Sprintf("%d:%s", r.Line, r.Name))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

func TestLintNearest(t *testing.T) {
	got, checked := contract.Default().Lint("a.md", []byte("x\n.ken/state/review_pr12.md .ken/state/notes.txt"), []string{".ken/state"})
	want := []contract.Reference{
		{File: "a.md", Line: 2, Name: "review_pr12.md", Nearest: "review-pr12.md"},
		{File: "a.md", Line: 2, Name: "notes.txt"},
	}
	if !slices.Equal(got, want) || checked != 2 {
		t.Errorf("got %+v of %d mentions, want %+v of 2", got, checked, want)
	}
}

// The time for a very long line grows only with its length.
func TestLintLongLines(t *testing.T) {
	for _, piece := range []string{".ken/state/{", ".ken/state/a<", ".ken/state/$(", ".ken", ".devt/state/x{1,2}", ".ken/state/{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b} "} {
		found, _ := contract.Default().Lint("a.md", []byte(strings.Repeat(piece, 200_000/len(piece))), []string{".ken/state", ".devt/state", "none"})
		if len(found) > 64 {
			t.Errorf("%q expands to %d names", piece, len(found))
		}
	}
}

func BenchmarkLint(b *testing.B) {
	c := contract.Default()
	doc := []byte(strings.Repeat("Some words about .ken/state/review.md and `.ken/state/foo-<slug>.md`.\nand a line without.\n", 1000))
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		c.Lint("doc.md", doc, []string{".ken/state"})
	}
}
