package excerpt

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// If an expression matches a text, its quick check reports that it may match.
func TestMayHave(t *testing.T) {
	pieces := strings.Split("! [ ] ( ) < > : ` _ . , ; - = * # ~ / \u00a0 é a b C 3 ab cd e: ![x] </p> :tada: copyright (c) licence licensed license under MIT mit apache "+
		"all\x00rights\x00reserved spdx- permission\x00is\x00hereby eslint jshint jslint global istanbul prettier tslint @ts- vim: -*- use\x00strict generated\x00by "+
		"code\x00generated do\x00not\x00edit todo fixme hack http:// https://x part\x00of\x00the\x00 this\x00file\x00is\x00part\x00of\x00 --- === ** ~~~ ___ ///", " ")
	for i := range pieces {
		pieces[i] = strings.ReplaceAll(pieces[i], "\x00", " ")
	}
	pieces = append(pieces, " ", " ", " ", "\t", "\n")
	const seed = 5
	rnd := rand.New(rand.NewPCG(seed, 1))
	hits := make(map[string]int)
	for range 20_000 {
		var b strings.Builder
		for range 1 + rnd.IntN(6) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		text := b.String()
		for name, c := range map[string]struct{ may, does bool }{
			"tags":      {mayHaveTags(text), tags().MatchString(text)},
			"reference": {strings.ContainsAny(text, "[`"), reference().MatchString(text)},
			"gap":       {mayHaveGap(text), gap().MatchString(text)},
			"rule":      {mayHaveRule(text), rule().MatchString(text)},
			"banner":    {mayBeBanner(text), banner().MatchString(text)},
		} {
			if c.does {
				hits[name]++
			}
			if c.does && !c.may {
				t.Fatalf("seed %d: %s matches %q, but the quick check says that it cannot", seed, name, text)
			}
		}
	}
	if len(hits) != 5 {
		t.Errorf("only these expressions matched a text: %v; want 5", hits)
	}
}

// isInformative recognises descriptions, and StripMarkup removes markup.
func TestIsInformativeAndStripMarkup(t *testing.T) {
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
		if got := isInformative(StripMarkup(text)); got != want {
			t.Errorf("isInformative(%q) = %v, want %v (text %q)", StripMarkup(text), got, want, text)
		}
	}
	for text, want := range map[string]string{
		"a [b][c] and [d](e), `f`.":                 "a b and d, f.",
		"types and .gitignore files":                "types and .gitignore files",
		"What there is:":                            "What there is…",
		"See :class:`~flask.Flask` &amp; <b>it</b>": "See flask.Flask & it",
		"\x1b[31mred\u202e \x00text":                "[31mred text",
	} {
		if got := StripMarkup(text); got != want {
			t.Errorf("StripMarkup(%q) = %q, want %q", text, got, want)
		}
	}
}
