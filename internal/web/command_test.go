package web

import "testing"

// readHint separates the command of a hint from its text.
func TestReadHint(t *testing.T) {
	for text, want := range map[string]hint{
		"ken verify":                          {Command: "ken verify"},
		"list specs: ken spec ls":             {Text: "list specs:", Command: "ken spec ls"},
		"begin at /map":                       {Text: "begin at", Page: "/map"},
		"begin at /":                          {Text: "begin at", Page: "/"},
		"did you mean api?":                   {Text: "did you mean api?"},
		"ask again":                           {Text: "ask again"},
		"git ls-files; a new one: git add x":  {Text: "git ls-files; a new one:", Command: "git add x"},
		"git fsck, then look again":           {Text: "git fsck, then look again"},
		"send it as: Authorization: Bearer T": {Text: "send it as: Authorization: Bearer T"},
	} {
		if got := readHint(text); got != want {
			t.Errorf("readHint(%q) = %+v; want %+v", text, got, want)
		}
	}
}

// A command has -C unless the server was started at the root of the worktree. So has a
// command in a hint.
func TestCommandsNameTheirWorktree(t *testing.T) {
	for _, c := range []struct {
		f          pageData
		said, want string
	}{
		{pageData{Here: true, inStartDir: true, dir: "/r"}, "ken verify", "ken verify"},
		{pageData{Here: true, dir: "/r"}, "ken summary confirm sub/a.go", "ken -C /r summary confirm sub/a.go"},
		{pageData{dir: "/the other"}, "git add a.go", "git -C '/the other' add a.go"},
		{pageData{dir: "/r"}, "ken -C /elsewhere verify", "ken -C /elsewhere verify"},
		{pageData{dir: "/r"}, "df -h /tmp", "df -h /tmp"},
		{pageData{}, "ken verify", "ken verify"},
	} {
		if got := c.f.Hint("do it with: " + c.said); got != (hint{Text: "do it with:", Command: c.want}) {
			t.Errorf("Hint(%q) in %+v returned %q; want the command %q", c.said, c.f, got, c.want)
		}
	}
}
