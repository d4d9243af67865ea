package usage

import (
	"testing"
)

func TestDidYouMean(t *testing.T) {
	names := []string{"commitReword", "Limiter", "Limits"}
	for asked, want := range map[string]string{
		"commit_reword": "did you mean commitReword?",
		"Limitr":        "did you mean Limiter?",
		"zebra":         "otherwise",
	} {
		if got := didYouMean(asked, names, "otherwise"); got != want {
			t.Errorf("%s: hint %q, expected %q", asked, got, want)
		}
	}
}
