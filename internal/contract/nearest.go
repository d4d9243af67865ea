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
	search := []func(string) string{c.sameButForm, c.sameWords, c.variant, c.misspelt, c.misspeltVariant, c.reversed}
	for _, find := range search {
		if found := find(name); found != "" {
			return found, true
		}
	}
	return "", false
}

// offered reports whether SuggestFile may return a file.
func offered(f File) bool {
	return !f.Dir && f.Role != Lock && f.Role != Journal && f.Role != Archive
}

// sameButForm finds the canonical name that differs only in case, separators or
// extension.
func (c *Contract) sameButForm(name string) string {
	want := tidy(name)
	if f, ok := c.File(want); ok && offered(f) {
		return want
	}
	stem, ext := split(want)
	if !text(ext) {
		return ""
	}
	return c.best(ext, func(s string) (int, bool) { return 0, s == stem })
}

// sameWords finds the canonical name with other forms of the same words: impl-summary.md
// for implementation-summary.md.
func (c *Contract) sameWords(name string) string {
	stem, ext := split(tidy(name))
	if !text(ext) {
		return ""
	}
	words := strings.Split(stem, "-")
	return c.best(ext, func(s string) (int, bool) {
		others := strings.Split(s, "-")
		return lengthDifference(words, others), slices.EqualFunc(words, others, alike)
	})
}

// lengthDifference sums the differences in length of words.
func lengthDifference(a, b []string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		n += max(len(a[i]), len(b[i])) - min(len(a[i]), len(b[i]))
	}
	return n
}

// misspelt finds the canonical name with the same extension that differs by typing
// mistakes.
func (c *Contract) misspelt(name string) string {
	stem, ext := split(tidy(name))
	if len(stem) < 4 {
		return ""
	}
	best, least := "", 0
	for _, f := range c.Files {
		s, e := split(f.Name)
		if e != ext || !offered(f) {
			continue
		}
		d, ok := suggest.TypoDistance(stem, s)
		if !ok || !slips(stem, s) {
			continue
		}
		if best == "" || d < least {
			best, least = f.Name, d
		}
	}
	return best
}

// slips reports whether two stems differ by typing mistakes and not by a word. If their
// numbers of words differ, a mistake split or joined words.
func slips(a, b string) bool {
	as, bs := strings.Split(a, "-"), strings.Split(b, "-")
	return len(as) != len(bs) || slices.EqualFunc(as, bs, func(a, b string) bool {
		_, ok := suggest.TypoDistance(a, b)
		return ok
	})
}

// best returns the canonical file with the smallest distance that accept returns, and
// of equal ones the one with the most similar extension.
func (c *Contract) best(ext string, accept func(stem string) (int, bool)) string {
	best, least := "", 0
	for _, f := range c.Files {
		s, e := split(f.Name)
		if !offered(f) || !text(e) {
			continue
		}
		away, ok := accept(s)
		if !ok {
			continue
		}
		away *= 10
		if e != ext {
			away += 1 + max(len(e), len(ext)) - shared(e, ext)
		}
		if best == "" || away < least {
			best, least = f.Name, away
		}
	}
	return best
}

// shared returns the length of the common prefix of two extensions.
func shared(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
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

// misspeltVariant finds the variant whose beginning is misspelt: impl-summary-cr3.json
// for implementation-summary-cr3.json.
func (c *Contract) misspeltVariant(name string) string {
	stem, ext := split(dashed(name))
	words := strings.Split(stem, "-")
	patterns, _ := c.rules()
	for _, p := range patterns {
		head := strings.Split(strings.TrimSuffix(p.prefix, "-"), "-")
		if len(p.prefix) < 2 || len(words) <= len(head) {
			continue
		}
		if !slices.EqualFunc(words[:len(head)], head, slip) {
			continue
		}
		if found := c.allowed(name, p.prefix+strings.Join(words[len(head):], "-")+ext); found != "" {
			return found
		}
	}
	return ""
}

// reversed finds the variant with the parts in the other order: review-pr12.md for
// pr12-review.md. Only one word may precede the last part.
func (c *Contract) reversed(name string) string {
	stem, ext := split(dashed(name))
	patterns, _ := c.rules()
	for _, p := range patterns {
		tail := strings.TrimSuffix(p.prefix, "-")
		rest, ok := strings.CutSuffix(stem, "-"+tail)
		if tail == "" || !ok || strings.Contains(rest, "-") {
			continue
		}
		if found := c.allowed(name, p.prefix+rest+ext); found != "" {
			return found
		}
	}
	return ""
}

// slip reports whether a word is another form of b, or a misspelling.
func slip(a, b string) bool {
	a = strings.ToLower(a)
	if alike(a, b) {
		return true
	}
	_, ok := suggest.TypoDistance(a, b)
	return ok && len(a) > 3
}

// allowed returns s, or s with the extension .md or .json, if a pattern allows that; ""
// if none does, or if it equals asked.
func (c *Contract) allowed(asked, s string) string {
	stem, ext := split(s)
	if !text(ext) {
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

// text reports whether an extension is used for documents, so that another one may have
// been meant.
func text(ext string) bool {
	switch ext {
	case "", ".md", ".txt", ".json", ".jsonl", ".yaml", ".yml", ".log", ".markdown", ".mdx", ".text", ".rst", ".adoc":
		return true
	}
	return false
}

// dashed replaces everything but letters, digits and dots by single hyphens between
// words.
func dashed(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range name {
		if r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			gap = true
			continue
		}
		if gap && b.Len() > 0 && r != '.' {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// tidy returns a name in lower case with hyphens, as the contract has names.
func tidy(name string) string { return strings.ToLower(dashed(name)) }
