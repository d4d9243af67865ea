package mention

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Anchors returns the anchors of a document in lower case, as hosts make them: those of headings, and those that
// are set explicitly.
func Anchors(content []byte) map[string]bool {
	anchors := make(map[string]bool)
	count := make(map[string]int)
	add := func(title string) {
		if m := headingID().FindStringSubmatch(title); m != nil {
			anchors[strings.ToLower(m[1])] = true
			title = strings.TrimSpace(title[:len(title)-len(m[0])])
		}
		for _, s := range slugs(title) {
			anchors[s] = true
			if n := count[s]; n > 0 {
				anchors[s+"-"+string(rune('0'+min(n, 9)))] = true
			}
			count[s]++
		}
	}
	fence := ""
	var above []byte
	for line := range bytes.Lines(content) {
		text := bytes.TrimSpace(line)
		if mark := fenceOf(text); mark != "" && (fence == "" || mark == fence) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			above = nil
			continue
		}
		if fence != "" {
			continue
		}
		level := len(text) - len(bytes.TrimLeft(text, "#"))
		switch {
		case level > 0 && level <= 6 && len(text) > level && (text[level] == ' ' || text[level] == '\t'):
			add(strings.TrimRight(strings.TrimSpace(string(text[level:])), "# "))
		case len(above) > 0 && len(text) > 0 && len(bytes.Trim(text, string(text[:1]))) == 0 && (text[0] == '=' || text[0] == '-'):
			add(string(above))
		}
		above = text
		for _, m := range htmlHeading().FindAllSubmatch(line, -1) {
			add(string(m[1]))
		}
		for _, m := range idAttribute().FindAllSubmatch(line, -1) {
			anchors[strings.ToLower(string(bytes.Join(m[1:], nil)))] = true
		}
	}
	return anchors
}

func fenceOf(line []byte) string {
	for _, mark := range []string{"```", "~~~"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return mark
		}
	}
	return ""
}

var (
	// Sites set ids after a title: {#id}, {/* #id */}, <!-- #id -->.
	headingID = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\s*(?:\{|<!--)[^}]*?#([^}\s*]+)[^}]*(?:\}|-->)\s*$`)
	})
	htmlHeading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<h[1-6][^>]*>(.+?)</h[1-6]>`) })
	idAttribute = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:id|name)\s*=\s*["']([^"']+)["']|\{[^{}]*?#([\w.:-]+)[^{}]*\}|^\(([\w-]+)\)=\s*$`)
	})
	anyTag      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?[A-Za-z][^>]*>`) })
	anyMarks    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\pL\pN_]+`) })
	linkedWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`) })
)

// slugs returns the anchors that hosts may make of a title: GitHub's, and one with a single hyphen for each run of
// punctuation. Both are returned with and without the names of tags, which hosts keep in code.
func slugs(title string) []string {
	title = linkedWords().ReplaceAllString(title, "$1")
	var list []string
	for _, text := range []string{title, strings.TrimSpace(anyTag().ReplaceAllString(title, ""))} {
		var exact strings.Builder
		for _, r := range strings.ToLower(text) {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '-' || r == '_':
				exact.WriteRune(r)
			case r == ' ':
				exact.WriteByte('-')
			}
		}
		short := strings.Trim(anyMarks().ReplaceAllString(strings.ToLower(text), "-"), "-")
		for _, slug := range []string{exact.String(), short} {
			if slug != "" && !slices.Contains(list, slug) {
				list = append(list, slug)
			}
		}
	}
	return list
}
