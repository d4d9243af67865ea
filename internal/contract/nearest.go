package contract

import (
	"slices"
	"strings"

	"ken/internal/suggest"
)

// maxName is the length of the longest file name.
const maxName = 255

// SuggestFile returns the allowed file name that name was probably meant to be. It reports
// false if there is none. It never returns a file that only ken writes.
func (c *Contract) SuggestFile(name string) (string, bool) {
	if name == "" || len(name) > maxName {
		return "", false
	}
	for _, find := range []func(string) string{c.sameWords, c.variant, c.misspelt, c.misspeltVariant} {
		if found := find(name); found != "" {
			return found, true
		}
	}
	return "", false
}

// nearest returns the canonical file with the smallest distance, "" if distance accepts
// none.
func (c *Contract) nearest(distance func(stem, ext string) (int, bool)) string {
	best, least := "", 0
	for _, f := range c.Files {
		onlyKen := f.Dir || f.Role == Lock || f.Role == Journal || f.Role == Archive
		if onlyKen {
			continue
		}
		away, ok := distance(split(f.Name))
		if ok && (best == "" || away < least) {
			best, least = f.Name, away
		}
	}
	return best
}

// sameWords finds the canonical name with the same words in another form: impl-summary.md
// for implementation_summary.md. Of equal ones it returns the one with the most similar
// extension.
func (c *Contract) sameWords(name string) string {
	stem, ext := split(tidy(name))
	if !isText(ext) {
		return ""
	}
	words := strings.Split(stem, "-")
	return c.nearest(func(s, e string) (int, bool) {
		away := 10 * (max(len(s), len(stem)) - min(len(s), len(stem)))
		switch {
		case e == ext:
		case strings.HasPrefix(ext, e): // .json for .jsonl
			away++
		default:
			away += 1 + len(e)
		}
		return away, isText(e) && slices.EqualFunc(words, strings.Split(s, "-"), suggest.SameRoot)
	})
}

// misspelt finds the canonical name with the same extension that differs by typing
// mistakes.
func (c *Contract) misspelt(name string) string {
	stem, ext := split(tidy(name))
	if len(stem) < 4 {
		return ""
	}
	return c.nearest(func(s, e string) (int, bool) {
		away, ok := suggest.TypoDistance(stem, s)
		return away, ok && e == ext && differByTypos(stem, s)
	})
}

// differByTypos reports whether two stems differ by typing mistakes and not by a word. If their
// numbers of words differ, a mistake split or joined words.
func differByTypos(a, b string) bool {
	as := strings.Split(a, "-")
	bs := strings.Split(b, "-")
	return len(as) != len(bs) || slices.EqualFunc(as, bs, isTypo)
}

func isTypo(a, b string) bool {
	_, ok := suggest.TypoDistance(a, b)
	return ok
}

// variant finds the name that a pattern allows and that differs only in case and
// separators.
func (c *Contract) variant(name string) string {
	for _, s := range []string{dashed(name), tidy(name)} {
		if found := c.allowed(name, s); found != "" {
			return found
		}
	}
	return ""
}

// misspeltVariant finds the variant whose prefix is misspelt, as in
// implementation-summary-cr3.json for impl-summary-cr3.json, or comes last, as in
// pr12-review.md for review-pr12.md.
func (c *Contract) misspeltVariant(name string) string {
	stem, ext := split(dashed(name))
	words := strings.Split(stem, "-")
	patterns, _ := c.rules()
	for _, p := range patterns {
		head := strings.Split(strings.TrimSuffix(p.prefix, "-"), "-")
		if len(p.prefix) < 2 || len(words) <= len(head) {
			continue
		}
		rest := words[len(head):]
		if !slices.EqualFunc(words[:len(head)], head, meantWord) {
			if len(rest) > 1 || !slices.Equal(words[1:], head) {
				continue
			}
			rest = words[:1]
		}
		if found := c.allowed(name, p.prefix+strings.Join(rest, "-")+ext); found != "" {
			return found
		}
	}
	return ""
}

// meantWord reports whether a word is another form of b, or a misspelling.
func meantWord(a, b string) bool {
	a = strings.ToLower(a)
	return suggest.SameRoot(a, b) || len(a) > 3 && isTypo(a, b)
}

// allowed returns s, or s with the extension .md or .json, if a pattern allows that; ""
// if none does, or if it equals asked.
func (c *Contract) allowed(asked, s string) string {
	stem, ext := split(s)
	if !isText(ext) {
		return ""
	}
	for _, e := range []string{ext, ".md", ".json"} {
		if t := stem + e; t != asked && c.Bucket(t) == PatternAllowed {
			return t
		}
	}
	return ""
}

// split splits a name into stem and extension.
func split(name string) (stem, ext string) {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 {
		return name, ""
	}
	return name[:i], name[i:]
}

// isText reports whether an extension is used for documents, so that another one may have
// been meant.
func isText(ext string) bool {
	switch ext {
	case "", ".md", ".txt", ".json", ".jsonl", ".yaml", ".yml", ".log", ".markdown", ".mdx", ".text", ".rst", ".adoc":
		return true
	}
	return false
}

// dashed replaces everything but letters, digits and dots by single hyphens between
// words.
func dashed(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		isDigit := r >= '0' && r <= '9'
		isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !isDigit && !isLetter && r != '.'
	})
	return strings.ReplaceAll(strings.Join(words, "-"), "-.", ".")
}

// tidy returns a name in lower case with hyphens, as the contract has names.
func tidy(name string) string { return strings.ToLower(dashed(name)) }
