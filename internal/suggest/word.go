package suggest

import "strings"

// Word returns the element of among that word was probably meant to be: the same except
// for case or separators, or the one with the fewest different letters, or another form
// of the word. It reports false if there is none.
func Word(word string, among []string) (string, bool) {
	if len(word) > longest {
		return "", false
	}
	plain := fold(word)
	best, least := "", 0
	for _, w := range among {
		if d, ok := TypoDistance(plain, fold(w)); ok && (best == "" || d < least) {
			best, least = w, d
		}
	}
	if best != "" {
		return best, true
	}
	for _, w := range among {
		if SameRoot(plain, fold(w)) && len(w) > len(best) {
			best = w
		}
	}
	return best, best != ""
}

// fold removes differences of case and separators.
func fold(s string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(s))
}

// SameRoot reports whether two words have the same root: impl and implementation, tests
// and test, verify and verification.
func SameRoot(a, b string) bool {
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
