package suggest

import "strings"

// Word returns the legal word that the user probably meant: one that differs only in case or
// separators, else the one with the fewest different letters, else another form of the word. It
// reports false if there is none.
func Word(word string, legal []string) (string, bool) {
	if len(word) > longest {
		return "", false
	}
	plain := fold(word)
	best, least := "", 0
	for _, w := range legal {
		if d, ok := TypoDistance(plain, fold(w)); ok && (best == "" || d < least) {
			best, least = w, d
		}
	}
	if best != "" {
		return best, true
	}
	for _, w := range legal {
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
