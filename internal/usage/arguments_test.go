package usage

import "testing"

// The arguments of a call are counted only if no other reading of the text is possible.
func TestArgumentsIn(t *testing.T) {
	const unknown = -1
	for text, want := range map[string]int{
		"()":                  0,
		"( )":                 0,
		"(a)":                 1,
		"(a, b(c, d), [e,f])": 3,
		"({a: 1, b: 2})":      1,
		"([])":                1,
		"(\n\ta,\n\tb,\n)":    2,
		`("a, b", 'c')`:       2,
		`("a\"", b)`:          unknown,
		`("""a, "b""")`:       unknown,
		"(f(a))":              unknown, // several results, in Go
		"(a...)":              unknown,
		"(...a)":              unknown,
		"(*a)":                unknown,
		"(f<A, B>(c))":        unknown,
		"(|a, b| a)":          unknown,
		"(lambda a, b: a)":    unknown,
		"(a, /* b, */ c)":     unknown,
		"(a, b":               unknown,
		" = 1":                unknown,
	} {
		n, known := argumentsIn(text)
		if !known {
			n = unknown
		}
		if n != want {
			t.Errorf("%q has %d arguments, expected %d", text, n, want)
		}
	}
}
