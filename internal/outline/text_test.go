package outline

import "testing"

// withoutMarkup replaces a link with its label and keeps code.
func TestWithoutMarkup(t *testing.T) {
	for line, want := range map[string]string{
		"for {@link Descriptor} and all":                "for Descriptor and all",
		"for {@link Descriptor descriptors} and all":    "for descriptors and all",
		"by {@link #get(int, String)}":                  "by get(int, String)",
		"by {@linkplain Shop#get(int, String) the way}": "by the way",
		"says {@code new Shop()}":                       "says new Shop()",
		"{@link }":                                      "",
		"{@link (":                                      "{@link (",
		"{@link a(b c}":                                 "c",
	} {
		if got := withoutMarkup(line); got != want {
			t.Errorf("withoutMarkup(%q) = %q; want %q", line, got, want)
		}
	}
}
