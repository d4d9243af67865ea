package contract

import (
	"strings"

	"ken/internal/suggest"
)

// Near returns the word of among that was probably meant by word: the same but
// for case or separators, else the one that takes the fewest changes of letters.
// It reports false when none is near.
func Near(word string, among []string) (string, bool) {
	if len(word) > maxName {
		return "", false
	}
	plain := fold(word)
	best, least := "", 0
	for _, w := range among {
		if d, ok := suggest.Slip(plain, fold(w)); ok && (best == "" || d < least) {
			best, least = w, d
		}
	}
	if best != "" {
		return best, true
	}
	for _, w := range among {
		if alike(plain, fold(w)) && len(w) > len(best) {
			best = w
		}
	}
	return best, best != ""
}

// fold takes out of a word what people mix up.
func fold(s string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(s))
}

// alike reports whether two words are forms of one: impl and implementation,
// tests and test, verify and verification.
func alike(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == b {
		return true
	}
	if root := strings.TrimSuffix(a, "s"); len(root) >= 3 && strings.HasPrefix(b, root) {
		return true
	}
	return len(a) > 5 && strings.HasPrefix(b, a[:len(a)-1])
}
