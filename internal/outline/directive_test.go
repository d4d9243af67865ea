package outline

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What the first characters rule out is no directive.
func TestMayDirect(t *testing.T) {
	words := strings.FieldsFunc(directive().String(), func(c rune) bool { return strings.ContainsRune(`|()?:^\[]*`, c) })
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("/#*!<- \t\n@_:ſ")), 0, 4, -1).Draw(rt, "lead") +
			rapid.OneOf(rapid.SampledFrom(words), rapid.String()).Draw(rt, "word")
		if rapid.Bool().Draw(rt, "upper") {
			text = strings.ToUpper(text)
		}
		text += rapid.SampledFrom([]string{"", ":", " :", " x", "-"}).Draw(rt, "tail")
		if directive().MatchString(text) && !mayDirect(text) {
			rt.Fatalf("%q", text)
		}
	})
}
