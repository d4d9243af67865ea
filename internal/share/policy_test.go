package share_test

import (
	"strings"
	"testing"

	"ken/internal/config"
	"ken/internal/share"
)

// A budget has the form in which ken prints sizes, or no unit.
func TestBudget(t *testing.T) {
	for text, want := range map[string]share.Bytes{"600": 600, "600B": 600, "239 B": 239, "2kB": 2000, "64 MB": 64_000_000, "1gb": 1_000_000_000} {
		var p share.Policy
		err := config.Parse([]byte("budget: "+text+"\n"), &p)
		if err != nil || p.Budget != want {
			t.Errorf("budget %s is %d, %v; want %d", text, p.Budget, err, want)
		}
	}
}

// The word anyone is the default trust, and every other word and glob is checked.
func TestPolicy(t *testing.T) {
	for text, want := range map[string]share.Trust{"": share.Anyone, "trust: anyone": share.Anyone, "trust: signed": share.Signed} {
		var p share.Policy
		if err := config.Parse([]byte(text), &p); err != nil || p.Trust != want {
			t.Errorf("%q gives the trust %q, %v; want %q", text, p.Trust, err, want)
		}
	}
	for text, want := range map[string]string{
		"trust: everybody": `unknown trust "everybody": use anyone, signed-off or signed`,
		"authors: ['[a']":  `authors: malformed glob "[a"`,
		"refuse: ['']":     `refuse: malformed glob ""`,
		"budget: 0":        `invalid size "0"`,
	} {
		err := config.Parse([]byte(text), new(share.Policy))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", text, err, want)
		}
	}
}
