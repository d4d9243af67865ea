package excerpt

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var tags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?|</?[a-zA-Z][^<>]*>|:[a-z0-9_+-]{2,30}:(?::[a-z0-9_+-]{2,30}:)*`)
})

var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\\[([^\\[\\]]+)\\](?:\\[[^\\]]*\\]|\\([^)\\s]*\\))?|`+([^`<>]+?)(?: <[^<>]*>)?`+_{0,2}|:[a-z:]+:`([^`]*)`")
})

// gap matches a space before punctuation, which removed markup leaves behind.
var gap = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` +([.,;:)])( |$)`) })

// rule matches a line of punctuation before or after a text.
var rule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s*[-=*#~_/]{3,}$|^[-=*#~_/]{3,}\s*`) })

// emphasised matches words between marks of emphasis.
var emphasised = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[\s(])(?:_{1,3}|\*{1,3})([^\s_*](?:[^_*]*[^\s_*])?)(?:_{1,3}|\*{1,3})($|[\s).,;:!?])`)
})

var emphasis = strings.NewReplacer("**", "", "\u00a0", " ", " ~", " ")

// Each of these functions reports whether its expression may match a text. It costs a hundredth of matching, and few
// texts need the match.

func mayHaveTags(text string) bool {
	return strings.Contains(text, "![") || strings.IndexByte(text, '<') >= 0 || strings.Count(text, ":") > 1
}

func mayHaveGap(text string) bool {
	for i := 1; i < len(text); i++ {
		if text[i-1] == ' ' && strings.IndexByte(".,;:)", text[i]) >= 0 {
			return true
		}
	}
	return false
}

func mayHaveRule(text string) bool {
	const drawn = "-=*#~_/"
	n := len(text)
	return n > 2 && (strings.Trim(text[:3], drawn) == "" || strings.Trim(text[n-3:], drawn) == "")
}

func mayBeBanner(low string) bool {
	return strings.Contains(low, "://") || strings.HasPrefix(low, "part of the ") || strings.HasPrefix(low, "this file is part of ")
}

// StripMarkup removes the markup of a text and puts it on one line. A colon at the end introduced lines that are cut:
// StripMarkup removes the clause before it, or marks the cut with an ellipsis.
func StripMarkup(text string) string {
	text = html.UnescapeString(text)
	if mayHaveTags(text) {
		text = tags().ReplaceAllString(text, " ")
	}
	if strings.ContainsAny(text, "_*") {
		text = emphasised().ReplaceAllString(text, "$1$2$3")
	}
	if strings.ContainsAny(text, "[`") {
		text = reference().ReplaceAllString(text, "$1$2$3")
	}
	text = emphasis.Replace(text)
	text = strings.Join(strings.Fields(Clean(text)), " ")
	if mayHaveGap(text) {
		text = gap().ReplaceAllString(text, "$1$2")
	}
	if mayHaveRule(text) {
		text = rule().ReplaceAllString(text, "")
	}
	text = strings.TrimSpace(text)
	if head, ok := strings.CutSuffix(text, ":"); ok {
		if i := strings.LastIndex(head, ", "); i > 40 {
			return head[:i] + "."
		}
		return head + "…"
	}
	switch text[strings.LastIndexByte(text, ' ')+1:] {
	case "as", "the", "a", "and", "or", "of", "to", "with", "for", "in", "by", "are", "is", "following", "on":
		return text + "…"
	}
	return text
}

// IsDescription reports whether a text without markup describes its subject.
func IsDescription(text string) bool { return isInformative(text) && !isPlaceholder(text) }

// isInformative reports whether a text says something about its subject itself, unlike a licence or a reference to another
// text.
func isInformative(text string) bool {
	low := strings.ToLower(strings.TrimRight(text, ".:!"))
	if strings.Count(low, " ") < 1 || len(low) < 12 || refersElsewhere(low) {
		return false
	}
	if strings.HasSuffix(low, "…") && strings.Count(low, " ") < 4 {
		return false // the introduction of a list
	}
	switch low {
	case "module dependencies", "table of contents", "module exports", "module variables", "test dependencies", "external dependencies":
		return false
	}
	if isLegal(low) {
		return false
	}
	if strings.Contains(low, "inspired by") || strings.Contains(low, "borrowed from") || strings.Contains(low, "adapted from") {
		return false // an origin is no description
	}
	if asksForMoney(low) || refersToNeighbour(low) {
		return false
	}
	return !mayBeBanner(low) || !banner().MatchString(low)
}

// asksForMoney reports whether a sentence, in lower case, is about sponsors or donations.
func asksForMoney(low string) bool {
	return slices.ContainsFunc([]string{"sponsor", "donat", "funding platform", "open collective", "backers", "tidelift", "patreon"},
		func(word string) bool { return strings.Contains(low, word) })
}

// refersToNeighbour reports whether a sentence, in lower case, is about a picture or an example
// beside it.
func refersToNeighbour(low string) bool {
	words := strings.Fields(low)
	return slices.Contains(words[:min(len(words), 4)], "above") || slices.Contains(words[:min(len(words), 4)], "below")
}

// isLegal reports whether a text, in lower case, is part of a licence, a directive for a tool or a reminder.
func isLegal(low string) bool {
	for _, part := range [...]string{"copyright", "(c) ", "all rights reserved", "spdx-", "permission is hereby", "-*-", "use strict", "do not edit"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	for _, start := range [...]string{
		"eslint", "jshint", "jslint", "global ", "istanbul", "prettier", "tslint", "@ts-", "vim:", "generated by", "code generated",
	} {
		if strings.HasPrefix(low, start) {
			return true
		}
	}
	return strings.Contains(low, "licen") && licence().MatchString(low) || reminder().MatchString(low)
}

// licence matches the name of a licence, or a reference to its text.
var licence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`licen[sc]e[ds]?\b.*\b(under|at|see|file|version|agreement|mit|apache|gnu|bsd)|\b(mit|apache|gnu|bsd)\b.*licen[sc]e`)
})

var reminder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(todo|fixme|hack)\b`) })

// banner matches a name with an address and no description.
var banner = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\S+ ){0,3}\(?https?://\S+$|^part of the |^this file is part of `)
})

// refersElsewhere reports whether a sentence, in lower case, only refers to another text.
func refersElsewhere(low string) bool {
	for _, p := range [...]string{
		"please ", "see ", "for more", "for full", "for detail", "for the full", "for further", "for usage", "for documentation", "note:", "note that",
		"note ", "this readme", "visit ", "check out", "check the", "read the", "documentation ", "the documentation", "docs ", "full documentation",
		"detailed reference", "click ", "download ", "to install", "to get started", "warning", "install ", "run ", "if you ", "you can find",
		"thank", "we're ", "we’re ", "join ", "take ", "status:", "stability:", "version:", "author:", "authors:", "maintainer", "license:", "report ", "welcome to ", "we use ", "want to ", "follow ", "the latest ", "looking for", "contributions ", "this project uses", "this project is maintained",
	} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return false
}

// offTopic reports whether the text under a heading is unlikely to describe the project.
func offTopic(heading string) bool {
	low := strings.ToLower(heading)
	for _, w := range [...]string{
		"sponsor", "backer", "licen", "contribut", "install", "getting started", "get started", "question", "issue", "support", "security", "build",
		"test", "docs", "documentation", "changelog", "change log", "status", "credit", "author", "acknowledg", "faq", "community", "stay in touch",
		"requirement", "prerequisite", "content", "develop", "link", "resource", "download", "release", "upgrad", "migrat", "version", "donat",
		"running", "setup", "how to", "news", "translation", "example", "usage", "quick start", "quickstart", "philosophy", "related", "roadmap",
	} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// FirstSentence returns the first sentence of a text on one line.
func FirstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for i := 0; i+1 < len(text); i++ {
		if c := text[i]; (c == '.' || c == '!' || c == '?') && text[i+1] == ' ' && !abbreviated(text[:i]) {
			return text[:i+1]
		}
	}
	return text
}

// abbreviated reports whether a full stop after a text ends an abbreviation, not a sentence.
func abbreviated(text string) bool {
	word := strings.ToLower(text[strings.LastIndexByte(text, ' ')+1:])
	switch strings.TrimLeft(word, "(") {
	case "e.g", "i.e", "etc", "vs", "cf", "mr", "dr", "st", "resp", "approx", "no", "inc":
		return true
	}
	return len(word) == 1
}
