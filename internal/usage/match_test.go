package usage

import (
	"strings"
	"testing"
)

func TestCatchAll(t *testing.T) {
	for name, tt := range map[string]struct{ code, want string }{
		"rust: with":                  {"fn f() {\n    match x {\n        A::B => 1, // HERE\n        _ => 2,\n    }\n}", withCatchAll},
		"rust: a name":                {"fn f() {\n    match x {\n        A::B => {\n            1\n        }\n        A::C => 3, // HERE\n        other => 2,\n    }\n}", withCatchAll},
		"rust: without":               {"fn f() {\n    let y = match x {\n        A::B => 1, // HERE\n        A::C => match z {\n            _ => 3,\n        },\n    };\n}", withoutCatchAll},
		"rust: a condition":           {"fn f() {\n    match x {\n        A::B => 1, // HERE\n        n if n > 3 => 2,\n    }\n}", withoutCatchAll},
		"rust: an earlier match":      {"fn f() {\n    match x {\n        _ => 1,\n    }\n    if let A::B = x { // HERE\n    }\n}", ""},
		"go: with":                    {"func f() {\n\tswitch x {\n\tcase A:\n\t\tswitch y {\n\t\tcase 1:\n\t\t}\n\tcase B: // HERE\n\tdefault:\n\t}\n}", withCatchAll},
		"go: without":                 {"func f() {\n\tswitch x {\n\tcase A: // HERE\n\t\tswitch y {\n\t\tdefault:\n\t\t}\n\t}\n}", withoutCatchAll},
		"typescript: with":            {"function f() {\n  switch (x) {\n    case A: // HERE\n      break\n    default:\n  }\n}", withCatchAll},
		"rust: a loop behind a match": {"fn f() {\n    match x {\n        _ => 1,\n    }\n    for a in b {\n        if let A::B = a { // HERE\n        }\n    }\n}", ""},
		"no match around the line":    {"fn f() {\n    g(A::B); // HERE\n}", ""},
	} {
		lines := strings.Split(tt.code, "\n")
		at := 0
		for i, line := range lines {
			if strings.Contains(line, "HERE") {
				at = i + 1
			}
		}
		if got := catchAll(lines, at); got != tt.want {
			t.Errorf("%s: catchAll returned %q; want %q", name, got, tt.want)
		}
	}
	for _, n := range []int{-1, 0, 2} {
		if got := catchAll([]string{"match x {"}, n); got != "" {
			t.Errorf("line %d of one: %q, expected none", n, got)
		}
	}
}
