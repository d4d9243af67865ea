package describe

import (
	"context"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/survey/excerpt"
)

// isInformative recognises descriptions. tidy removes markup.
func TestIsInformativeAndTidy(t *testing.T) {
	for text, want := range map[string]bool{
		"Routes orders between shops.":             true,
		"Flask is a lightweight [WSGI] framework.": true,
		"A parser of licenses.":                    true,
		"":                                         false,
		"Yes.":                                     false,
		"WIP":                                      false,
		"Module dependencies.":                     false,
		"Copyright 2011 The Authors.":              false,
		"Licensed under the MIT license.":          false,
		"Shop Framework (https://example.com)":     false,
		"Please follow the documentation!":         false,
		"Core API ----------------------------------------":  false,
		"![a](b) <img src=\"c\"> [![d](e)](f)":               false,
		":+1::tada: First off, thanks for all of your help!": true,
	} {
		if got := excerpt.IsInformative(excerpt.Tidy(text)); got != want {
			t.Errorf("isInformative(%q) = %v, want %v (text %q)", excerpt.Tidy(text), got, want, text)
		}
	}
	for text, want := range map[string]string{
		"a [b][c] and [d](e), `f`.":                 "a b and d, f.",
		"types and .gitignore files":                "types and .gitignore files",
		"What there is:":                            "What there is…",
		"See :class:`~flask.Flask` &amp; <b>it</b>": "See flask.Flask & it",
		"\x1b[31mred\u202e \x00text":                "[31mred text",
	} {
		if got := excerpt.Tidy(text); got != want {
			t.Errorf("tidy %q: %q, want %q", text, got, want)
		}
	}
}

// outlineLinesOf outlines a directory with own words and children.
func outlineLinesOf(t *testing.T, dir repo.Path, own string, children ...Child) []string {
	t.Helper()
	it := &Item{Path: dir, Own: SelfDescription{Text: own}, Children: children}
	d, err := Outliner{}.Write(context.Background(), it)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(d.Text, "\n")
}

func lines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Children are listed by priority. A directory that only leads to another one quotes it.
func TestChildrenInOrder(t *testing.T) {
	child := func(path repo.Path, text string) Child { return Child{Path: path, Status: ChildSummary, Text: text} }
	lines(t, "order", outlineLinesOf(t, "", "The README speaks.",
		child(".github", "Hidden."), child("docs", "Explains all. And more."), child("gen", "Makes it.\n- a.go: A is one"), child("src", "The README speaks.\n- b.go: B is one"),
		child("tests", "Tries it."), child("mute", ""), Child{Path: "old", Status: ChildStale, Text: "Was good."}),
		"The README speaks.", "- gen/: Makes it.", "- old/: (stale) Was good.", "- docs/: Explains all.", "- tests/: Tries it.", "- .github/: Hidden.")
	lines(t, "leads", outlineLinesOf(t, "src", "", child("src/main", "Leads to java/: Routes orders."), child("src/test", "Tries it.")),
		"Leads to main/java/: Routes orders.", "- test/: Tries it.")
	lines(t, "two of the same promise", outlineLinesOf(t, "client", "", child("client/pkg", "Helps it."), child("client/v3", "Asks the server.")),
		"- pkg/: Helps it.", "- v3/: Asks the server.")
}
