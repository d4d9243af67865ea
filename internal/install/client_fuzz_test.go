package install

import (
	"bytes"
	"testing"
)

// For any text, Install returns an error, or Uninstall restores the text. A second Install
// changes nothing.
func FuzzInstall(f *testing.F) {
	for _, text := range []string{
		"", " \n", "{}", "{\n}\n", "{\n  \"hooks\": {}\n}\n", `[]`, `{"hooks":{"Stop":[]},"mcpServers": {}}`, `{"mcpServers":{}}`, `{"hooks":{"Stop":[]}}`, hooksByHand, "{/*a*/}// b", `{"a":1,}`, bom + "{ }",
		"model = 1\n", "[mcp_servers.x]", "a = 1\r\n", blockText, "\n" + blockText + "\n",
	} {
		f.Add([]byte(text), byte(0))
		f.Add([]byte(text), byte(7))
	}
	var files []ClientFile
	for _, c := range Clients() {
		files = append(files, c.In(Project)...)
	}
	f.Fuzz(func(t *testing.T, text []byte, which byte) {
		file := files[int(which)%len(files)]
		if text == nil {
			text = []byte{}
		}
		if n, _, err := file.CountParts(text); err != nil || n > 0 { // it is malformed, or not without ken
			_, _ = file.Install(text)
			_, _ = file.Uninstall(text)
			return
		}
		in, err := file.Install(text)
		if err != nil {
			return
		}
		if n, _, err := file.CountParts(in.Text); err != nil || n != len(file.Parts) {
			t.Fatalf("%s: %q became %q with %d parts, %v", file.Path, text, in.Text, n, err)
		}
		again, err := file.Install(in.Text)
		if err != nil || again.Op != Nothing {
			t.Fatalf("%s: %q a second time: %s, %v", file.Path, text, again.Action, err)
		}
		out, err := file.Uninstall(in.Text)
		if err != nil || out.Op != Rewrite || !bytes.Equal(out.Text, text) {
			t.Fatalf("%s: %q became %q and %s %q, %v", file.Path, text, in.Text, out.Action, out.Text, err)
		}
	})
}
