package outline

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// If mayBeDirective returns false, directive does not match.
func TestMayBeDirective(t *testing.T) {
	words := strings.FieldsFunc(directive().String(), func(c rune) bool { return strings.ContainsRune(`|()?:^\[]*`, c) })
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("/#*!<- \t\n@_:ſ")), 0, 4, -1).Draw(rt, "lead") +
			rapid.OneOf(rapid.SampledFrom(words), rapid.String()).Draw(rt, "word")
		if rapid.Bool().Draw(rt, "upper") {
			text = strings.ToUpper(text)
		}
		text += rapid.SampledFrom([]string{"", ":", " :", " x", "-"}).Draw(rt, "tail")
		if directive().MatchString(text) && !mayBeDirective(text) {
			rt.Fatalf("mayBeDirective(%q) = false for a directive", text)
		}
	})
}

// isGoDirective agrees with regular expressions for the same comments.
func TestGoDirectives(t *testing.T) {
	directives := regexp.MustCompile(`^//(line |export |extern |nolint|[a-z0-9]+:[a-z0-9])|^//\s*\+build |^// Code generated .* DO NOT EDIT\.$`)
	output := regexp.MustCompile(`^(//|/\*)\s*(?i:unordered )?(?i:output:)`)
	pieces := []string{
		"line ", "export ", "extern", "nolint", "go", ":", "build", "embed", " ", "\t", "\n", "+build ", "+", "A", "é", "9",
		" Code generated ", "by x.", " DO NOT EDIT.", "Code generated ", "output:", "Output:", "unordered ", "Unordered OUTPUT", ":", "*/",
	}
	rapid.Check(t, func(rt *rapid.T) {
		comment := rapid.SampledFrom([]string{"//", "/*"}).Draw(rt, "opening") + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 5).Draw(rt, "pieces"), "")
		if got, want := isGoDirective(comment), directives.MatchString(comment); got != want {
			rt.Errorf("isGoDirective(%q) is %t, want %t", comment, got, want)
		}
		if got, want := isOutput(comment), output.MatchString(comment); got != want {
			rt.Errorf("isOutput(%q) is %t, want %t", comment, got, want)
		}
	})
}
