package install

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The files that ken creates match the golden files.
func TestNewFilesMatchGoldenFiles(t *testing.T) {
	for _, c := range Clients() {
		for _, f := range c.Files {
			made, err := f.Install(nil)
			if err != nil || made.Op != Create {
				t.Fatalf("%s: installing into a missing file gives %+v, %v; want it created", f.Path, made, err)
			}
			golden := filepath.Join("testdata", c.Name, string(f.Scope), filepath.Base(f.Path))
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, made.Text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(made.Text)); diff != "" {
				t.Errorf("%s (-golden +created):\n%s", golden, diff)
			}
			if n, _, err := f.CountParts(made.Text); err != nil || n != len(f.Parts) {
				t.Errorf("%s has %d entries of ken, %v; want all", f.Path, n, err)
			}
		}
	}
}

// Install removes the hooks that an older ken added and that do nothing any more, and Uninstall removes them with the others.
func TestInstallOverOlderHooks(t *testing.T) {
	for name, at := range map[string]string{"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "vscode": ".github/hooks/ken.json"} {
		files := must(FindClient(name)).Files
		f := files[slices.IndexFunc(files, func(f ClientFile) bool { return f.Path == at })]
		older, err := os.ReadFile(filepath.Join("testdata", "older", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		now, err := f.Install(older)
		if err != nil || now.Action != "updated" {
			t.Errorf("%s: installing gives %s, %v; want updated", name, now.Action, err)
		}
		if diff := cmp.Diff(string(must(f.Install(nil)).Text), string(now.Text)); diff != "" {
			t.Errorf("%s (-new +updated):\n%s", name, diff)
		}
		if again, err := f.Install(now.Text); err != nil || again.Action != "kept" {
			t.Errorf("%s: installing again gives %s, %v; want kept", name, again.Action, err)
		}
		if gone, err := f.Uninstall(older); err != nil || gone.Action != "removed" {
			t.Errorf("%s: uninstalling gives %s, %v; want the file removed", name, gone.Action, err)
		}
		mixed := strings.Replace(string(older), `"Stop": [`, `"Stop": [{"hooks": [{"type": "command", "command": "mine stop"}]},`, 1)
		if c, err := f.Install([]byte(mixed)); err != nil || strings.Contains(string(c.Text), "ken hook stop") || !strings.Contains(string(c.Text), "mine stop") {
			t.Errorf("%s: beside another hook, installing gives %v and\n%s\nwant that hook alone", name, err, c.Text)
		}
	}
}

// Install keeps comments, order, commas and line ends, and entries named ken that somebody
// else added.
func TestInstallClient(t *testing.T) {
	claude := must(FindClient("claude"))
	mcp, settings := claude.Files[0], claude.Files[1]
	for name, tt := range map[string]struct {
		file       ClientFile
		text, want string
		action     string
	}{
		"empty":               {mcp, `{}`, "{\n  \"mcpServers\":  {\n    \"ken\": {\n      \"type\": \"stdio\",\n      \"command\": \"ken\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}", "added"},
		"no servers":          {mcp, "{\n  \"mcpServers\": {},\n  \"x\": 1\n}\n", "{\n  \"mcpServers\": {\n    \"ken\":  {\n      \"type\": \"stdio\",\n      \"command\": \"ken\",\n      \"args\": [\"mcp\"]\n    }\n  },\n  \"x\": 1\n}\n", "added"},
		"none, on a line":     {mcp, `{"x": [], "mcpServers": {}}`, `{"x": [], "mcpServers": {"ken":  {"type": "stdio", "command": "ken", "args": ["mcp"]}}}`, "added"},
		"nothing in it":       {mcp, "", madeMCP, "added"},
		"blank":               {mcp, " \r\n", " \r\n" + madeMCP, "added"},
		"another server":      {mcp, "{\n\t\"mcpServers\": {\n\t\t\"x\": {} // mine\n\t}\n}\n", "{\n\t\"mcpServers\": {\n\t\t\"x\": {}, // mine\n\t\t\"ken\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"ken\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}\n", "added"},
		"a trailing comma":    {mcp, "{\n  \"mcpServers\": {\n    \"x\": {},\n  },\n}\n", "{\n  \"mcpServers\": {\n    \"x\": {},\n    \"ken\": {\n      \"type\": \"stdio\",\n      \"command\": \"ken\",\n      \"args\": [\"mcp\"]\n    },\n  },\n}\n", "added"},
		"line ends of theirs": {mcp, "{\r\n  \"mcpServers\": {\r\n    \"x\": {}\r\n  }\r\n}\r\n", "{\r\n  \"mcpServers\": {\r\n    \"x\": {},\r\n    \"ken\": {\r\n      \"type\": \"stdio\",\r\n      \"command\": \"ken\",\r\n      \"args\": [\"mcp\"]\r\n    }\r\n  }\r\n}\r\n", "added"},
		"one line":            {mcp, `{"mcpServers": {"x": {}}}`, `{"mcpServers": {"x": {}, "ken": {"type": "stdio", "command": "ken", "args": ["mcp"]}}}`, "added"},
		"a ken of theirs":     {mcp, `{"mcpServers": {"ken": {"command": "docker"}}}`, "", "kept"},
		"hooks by hand":       {settings, hooksByHand, "", "kept"},
	} {
		c, err := tt.file.Install([]byte(tt.text))
		if err != nil {
			t.Errorf("%s: Install returned the error %v", name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, string(c.Text)); diff != "" || c.Action != tt.action {
			t.Errorf("%s: %s (-want +got)\n%s", name, c.Action, diff)
		}
	}
}

const madeMCP = "{\n  \"mcpServers\":   {\n    \"ken\": {\n      \"type\": \"stdio\",\n      \"command\": \"ken\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n"

// hooksByHand has hooks of ken in groups with other hooks.
const hooksByHand = `{"hooks": {
  "SessionStart": [{"hooks": [{"type": "command", "command": "mine"}, {"type": "command", "command": "/opt/ken hook session-start"}]}],
  "SubagentStart": [{"hooks": [{"type": "command", "command": "ken hook subagent-start"}]}],
  "PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "ken hook pre-tool-use"}]}],
  "PostToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "ken hook post-tool-use"}]}],
  "Stop": [{"hooks": [{"type": "command", "command": "other"}]}]
}}`

// Uninstall removes only ken's hook from a group of hooks.
func TestUninstallKeepsOtherHooksOfAGroup(t *testing.T) {
	settings := must(FindClient("claude")).Files[1]
	c, err := settings.Uninstall([]byte(hooksByHand))
	if err != nil || c.Action != "taken out" {
		t.Fatalf("uninstalling gives %s, %v; want taken out", c.Action, err)
	}
	if strings.Contains(string(c.Text), "ken hook") || !strings.Contains(string(c.Text), `"mine"`) || !strings.Contains(string(c.Text), `"other"`) {
		t.Errorf("uninstalling leaves\n%s\nwant the other hooks, and none of ken", c.Text)
	}
	if _, err := hujson.Parse(c.Text); err != nil {
		t.Error(err)
	}
}

// Uninstall keeps settings that somebody else wrote, also under the name ken.
func TestUninstallKeepsSettingsOfOthers(t *testing.T) {
	mcp, toml := must(FindClient("claude")).Files[0], must(FindClient("codex")).Files[0]
	for name, tt := range map[string]struct {
		file       ClientFile
		text, want string
		action     string
	}{
		"a ken of theirs":       {mcp, `{"mcpServers": {"ken": {"command": "docker"}}}`, "", "absent"},
		"a comment before it":   {mcp, `{"mcpServers": {"x": {} /* a, b */, "ken": {"command": "ken"}}}`, `{"mcpServers": {"x": {} /* a, b */}}`, "taken out"},
		"a comment behind it":   {mcp, "{\"mcpServers\": {\"ken\": {\"command\": \"ken\"} // a, b\n, \"x\": {}}}", `{"mcpServers": { "x": {}}}`, "taken out"},
		"a table behind it":     {toml, "a = 1\n\n" + blockText + "\n[x]\nb = 2\n", "a = 1\n[x]\nb = 2\n", "taken out"},
		"more of ken behind it": {toml, blockText + "\n[mcp_servers.ken.env]\nA = \"1\"\n", "[mcp_servers.ken.env]\nA = \"1\"\n", "taken out"},
	} {
		c, err := tt.file.Uninstall([]byte(tt.text))
		if err != nil || c.Action != tt.action || string(c.Text) != tt.want {
			t.Errorf("%s: Uninstall returned %s, %v and this text; want %s and %q\n%s", name, c.Action, err, tt.action, tt.want, c.Text)
		}
	}
}

// Uninstall refuses a file in which removing ken's block would remove or change other
// settings.
func TestUninstallRefused(t *testing.T) {
	toml := must(FindClient("codex")).Files[0]
	for name, text := range map[string]string{
		"a second end":                 blockText + "\nmodel = \"x\"\n" + markEnd + "\n",
		"a second beginning":           markStart + "\nmodel = \"x\"\n" + blockText + "\n",
		"a key that becomes another's": "[mcp_servers.x]\ncommand = \"y\"\n\n" + blockText + "\nenabled = false\n",
		"a key that stands twice":      "[mcp_servers.x]\nenabled = true\n\n" + blockText + "\nenabled = false\n",
	} {
		if c, err := toml.Uninstall([]byte(text)); err == nil {
			t.Errorf("%s: %s\n%s\nwant an error", name, c.Action, c.Text)
		}
	}
}

func TestInstallClientRefuses(t *testing.T) {
	mcp, settings, toml := must(FindClient("claude")).Files[0], must(FindClient("claude")).Files[1], must(FindClient("codex")).Files[0]
	for name, tt := range map[string]struct {
		file ClientFile
		text string
	}{
		"a byte order mark":    {mcp, bom},
		"no JSON":              {mcp, "{"},
		"no object":            {mcp, "[]"},
		"servers in an array":  {mcp, `{"mcpServers": []}`},
		"servers twice":        {mcp, `{"mcpServers": {}, "mcpServers": {}}`},
		"hooks in an array":    {settings, `{"hooks": []}`},
		"an event as a string": {settings, `{"hooks": {"SessionStart": "x"}}`},
		"a pit":                {mcp, `{"a":` + strings.Repeat("[", 3_000_000)},
		"a pit of tables":      {toml, "a = " + strings.Repeat("[", 3_000_000)},
		"an emptied part":      {toml, markStart + "\n" + markEnd + "\n"},
		"no TOML":              {toml, "[x\n"},
		"servers in a string":  {toml, "mcp_servers = 1\n"},
		"servers in a line":    {toml, "mcp_servers = { x = { command = \"x\" } }\n"},
		"a mark alone":         {toml, "[mcp_servers.ken]\n" + markStart + "\n"},
	} {
		if c, err := tt.file.Install([]byte(tt.text)); err == nil {
			t.Errorf("%s: %s\n%s\nwant an error", name, c.Action, c.Text)
		}
	}
}

// Brackets in strings and comments do not count as nesting.
func TestBracketsInStrings(t *testing.T) {
	many := strings.Repeat("[{", maxDepth)
	text := `{"a": "\"` + many + `", /* ` + many + " */ // " + many + "\n" + `"b": 1}`
	if c, err := must(FindClient("claude")).Files[0].Install([]byte(text)); err != nil || c.Action != "added" {
		t.Errorf("Install returned %s, %v; want added", c.Action, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Uninstall restores the text before Install, a second Install changes nothing, and the
// text between has all entries of ken and is well-formed.
func TestUninstallClientUndoesInstall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(Clients()).Draw(t, "client")
		f := rapid.SampledFrom(c.Files).Draw(t, "file")
		was := []byte(anyText(t, f))
		in, err := f.Install(was)
		if err != nil {
			t.Fatalf("Install(%q) returned the error %v", was, err)
		}
		if in.Op != Rewrite {
			t.Fatalf("Install returned the operation %v (%s); want a rewrite", in.Op, in.Action)
		}
		if n, _, err := f.CountParts(in.Text); err != nil || n != len(f.Parts) {
			t.Fatalf("%q became\n%s\nwhich has %d parts, %v", was, in.Text, n, err)
		}
		wellFormed(t, f, in.Text)
		if again, err := f.Install(in.Text); err != nil || again.Op != Nothing {
			t.Fatalf("a second time: %s, %v", again.Action, err)
		}
		out, err := f.Uninstall(in.Text)
		if err != nil || out.Op != Rewrite || string(out.Text) != string(was) {
			t.Fatalf("%s, %v:\n%q\nbecame\n%s\nand\n%q", out.Action, err, was, in.Text, out.Text)
		}
		if none, err := f.Uninstall(out.Text); err != nil || none.Op != Nothing {
			t.Fatalf("a second time: %s, %v", none.Action, err)
		}
	})
}

// Uninstall removes a file that ken created.
func TestUninstallRemovesCreatedFile(t *testing.T) {
	for _, c := range Clients() {
		for _, f := range c.Files {
			in := must(f.Install(nil))
			out, err := f.Uninstall(in.Text)
			if err != nil || out.Op != Remove {
				t.Errorf("%s: uninstalling gives %s, %v; want removed", f.Path, out.Action, err)
			}
			if f.Format == JSON && f.Head == "" {
				// Also when somebody's tool laid one more line out, and took it away again.
				out, err = f.Uninstall([]byte(strings.TrimSuffix(string(in.Text), "\n")))
				if err != nil || out.Op != Remove {
					t.Errorf("%s: uninstalling gives %s, %v; want removed", f.Path, out.Action, err)
				}
			}
		}
	}
}

func wellFormed(t *rapid.T, f ClientFile, text []byte) {
	var doc map[string]any
	var err error
	if f.Format == TOML {
		err = toml.Unmarshal(text, &doc)
	} else {
		var plain []byte
		if plain, err = hujson.Standardize([]byte(strings.TrimPrefix(string(text), bom))); err == nil {
			err = json.Unmarshal(plain, &doc)
		}
	}
	if err != nil {
		t.Fatalf("the installed file does not parse: %v\n%s", err, text)
	}
}

// anyText returns a text in the format of the file, without ken.
func anyText(t *rapid.T, f ClientFile) string {
	if f.Format == TOML {
		piece := rapid.SampledFrom([]string{
			"", "# a comment\n", "model = \"x\"\n", "\n\n", "[features]\nhooks = true\n", "[mcp_servers.x]\ncommand = \"y\" # z\n",
			"[projects.\"/a b\"]\ntrust_level = \"trusted\"",
		})
		text := ""
		used := map[string]bool{}
		for range rapid.IntRange(0, 5).Draw(t, "pieces") {
			p := piece.Draw(t, "piece")
			if used[p] || text != "" && !strings.HasSuffix(text, "\n") || strings.HasPrefix(p, "model") && strings.Contains(text, "[") {
				continue
			}
			used[p] = true
			text += p
		}
		if rapid.Bool().Draw(t, "crlf") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		return text
	}
	g := &textGen{t}
	members := []string{}
	for _, name := range []string{"a", "hooks", "mcpServers", "servers", "mcp", "permissions"} {
		if !rapid.Bool().Draw(t, "has "+name) {
			continue
		}
		value := g.value(2)
		switch name {
		case "hooks":
			events := []string{}
			for _, e := range []string{"Stop", "SessionStart", "sessionStart", "Other"} {
				if rapid.Bool().Draw(t, "event") {
					events = append(events, fmt.Sprintf("%q:%s%s", e, g.space(), g.list('[', g.some([]string{`{"hooks": []}`, `{"matcher": "x", "hooks": [{"command": "y"}]}`, `{}`}), ']')))
				}
			}
			value = g.list('{', events, '}')
		case "mcpServers", "servers", "mcp":
			value = g.list('{', g.some([]string{`"x": {}`, `"y": {"command": "ken"}`}), '}')
		}
		members = append(members, fmt.Sprintf("%q%s:%s%s", name, g.space(), g.space(), value))
	}
	text := g.space() + g.list('{', members, '}') + g.space()
	if rapid.Bool().Draw(t, "bom") {
		text = bom + text
	}
	return text
}

type textGen struct{ t *rapid.T }

func (g *textGen) space() string {
	return rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\n    ", "\t", "\r\n", " // note, }\n", "/* a, b */", "\n\n", " /* // */ ", "// x   \n\n  "}).Draw(g.t, "space")
}

func (g *textGen) some(from []string) []string {
	var list []string
	for _, s := range from {
		if rapid.Bool().Draw(g.t, "one") {
			list = append(list, s)
		}
	}
	return list
}

func (g *textGen) value(depth int) string {
	if depth == 0 {
		return rapid.SampledFrom([]string{"1", `"a, b // c"`, "null", "true", `"ken hook stop"`}).Draw(g.t, "literal")
	}
	switch rapid.IntRange(0, 3).Draw(g.t, "kind") {
	case 0:
		return g.list('[', []string{g.value(depth - 1), g.value(depth - 1)}, ']')
	case 1:
		return g.list('{', []string{`"k": ` + g.value(depth-1)}, '}')
	default:
		return g.value(0)
	}
}

func (g *textGen) list(open rune, items []string, end rune) string {
	var s strings.Builder
	s.WriteRune(open)
	s.WriteString(g.space())
	for i, item := range items {
		s.WriteString(item)
		s.WriteString(g.space())
		if i < len(items)-1 || rapid.Bool().Draw(g.t, "trailing") {
			s.WriteString("," + g.space())
		}
	}
	s.WriteRune(end)
	return s.String()
}

// The files in integrations are those that ken install writes.
func TestIntegrationsMatchInstall(t *testing.T) {
	for dir, client := range map[string]string{"plugin": "claude", "codex": "codex", "cursor": "cursor", "vscode": "vscode"} {
		c := must(FindClient(client))
		for _, f := range c.In(Project) {
			name := filepath.Base(f.Path)
			switch f.Path {
			case ".claude/settings.json":
				name = "hooks/hooks.json"
			case ".github/hooks/ken.json":
				name = "hooks.json"
			}
			got, err := os.ReadFile(filepath.Join("..", "..", "integrations", dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(must(f.Install(nil)).Text), string(got)); diff != "" {
				t.Errorf("%s/%s (-installed +integrations):\n%s", dir, name, diff)
			}
		}
	}
}

// An error names the member that is wrong.
func TestErrorNamesMember(t *testing.T) {
	c := must(FindClient("claude"))
	for text, tt := range map[string]struct {
		file ClientFile
		want string
	}{
		`{"mcpServers": []}`:                {c.Files[0], "mcpServers is not an object"},
		`{"hooks": []}`:                     {c.Files[1], "hooks is not an object"},
		`{"hooks": {"SessionStart": "x"}}`:  {c.Files[1], "hooks.SessionStart is not an array"},
		`{"mcpServers":{},"mcpServers":{}}`: {c.Files[0], `duplicate member "mcpServers"`},
	} {
		if _, err := tt.file.Install([]byte(text)); err == nil || err.Error() != tt.want {
			t.Errorf("%s gives %v, want %s", text, err, tt.want)
		}
	}
}

func TestNearestClient(t *testing.T) {
	for asked, want := range map[string]string{
		"claude-code": "claude", "Claude Code": "claude", "cluade": "claude", "VS Code": "vscode", "vs-code": "vscode", "open-code": "opencode",
		"codx": "codex", "antigrav": "antigravity", "emacs": "", "": "", "co": "", strings.Repeat("claude", 1000): "",
	} {
		if got := NearestClient(asked); got != want {
			t.Errorf("NearestClient(%.20q) = %q; want %q", asked, got, want)
		}
	}
}
