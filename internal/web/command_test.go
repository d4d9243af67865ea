package web

import "testing"

// Only a command stands in the box for commands, and what is around it stays words.
func TestHintsAreTakenApart(t *testing.T) {
	for text, want := range map[string]hint{
		"ken verify":                          {Command: "ken verify"},
		"see the nodes with: ken spec ls":     {Text: "see the nodes with:", Command: "ken spec ls"},
		"begin at /map":                       {Text: "begin at", Page: "/map"},
		"begin at /":                          {Text: "begin at", Page: "/"},
		"did you mean api?":                   {Text: "did you mean api?"},
		"ask again":                           {Text: "ask again"},
		"git ls-files; a new one: git add x":  {Text: "git ls-files; a new one:", Command: "git add x"},
		"git fsck, then look again":           {Text: "git fsck, then look again"},
		"send it as: Authorization: Bearer T": {Text: "send it as: Authorization: Bearer T"},
	} {
		if got := readHint(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}
