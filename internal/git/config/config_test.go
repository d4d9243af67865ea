package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var configs = []string{
	"", "\n\n", "# only a comment", "[core]\n\tbare = false\n\tfileMode\n",
	"\ufeff[core]\nbare = true ; a comment\n", "[core] bare = yes\n",
	"[branch \"we\\\"ird\\\\name\"]\n\tremote = origin # here\n\tmerge = \"refs/heads/a b\"\n",
	"[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\tfetch = ^refs/heads/tmp\n",
	"[a]\nlong = one \\\n  two\n", "[a]\nq = \"  kept  \"  trimmed \" x\" \n", "[a]\nesc = \\t\\n\\b\\\\\\\"\n",
	"[Section.Sub]\nKey = v\n", "[a \"Sub\"]\nKEY-2 = v\r\n[b]\r\nk=1\r\n", "[a]\nempty =\n", "[a]\nk = \"a;b#c\"\n",
	"[include]\npath = other\n", "[a]\nk = v", "[a]k=v", "[a]\nk = v \\\n",
	"[a]\n\n  ; c\n# d\nk=1\n[b] ; after\nk = 2 # x\n",
}

var brokenConfigs = []string{
	"key = before any section\n", "[a", "[a \"b]\n", "[a b]\n", "[a]\n1k = v\n", "[a]\nk v\n", "[a]\nk = \"open\n",
	"[a]\nk = \\q\n", "[a \"x\"\n]", "[]\nk=1\n",
}

// Parse reads the same settings as git.
func TestParseReadsTheSameAsGit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	for _, text := range configs {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "git", "config", "--no-includes", "-z", "--list", "--file", file).Output()
		if err != nil {
			t.Fatalf("git config of %q: %v", text, err)
		}
		want, err := ParseList(string(out))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(text)
		if err != nil || len(got.List) != len(want.List) {
			t.Errorf("%q: %+v, %v; git reads %+v", text, got, err, want)
			continue
		}
		for i := range got.List {
			if got.List[i] != want.List[i] {
				t.Errorf("%q: %+v; git reads %+v", text, got.List[i], want.List[i])
			}
		}
	}
	for _, text := range brokenConfigs {
		if got, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) returned %+v; want an error", text, got)
		}
	}
}

// Parse never panics, and every setting that it returns has a section.
func FuzzConfig(f *testing.F) {
	for _, text := range append(configs, brokenConfigs...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		for _, s := range c.List {
			if !strings.Contains(s.Key, ".") || s.Implied && s.Value != "" {
				t.Fatalf("setting without a section, or implied with a value: %+v", s)
			}
			c.Bool(s.Key)
		}
	})
}

// The output of `git config -z` can be restored from the parsed settings.
func FuzzConfigList(f *testing.F) {
	f.Add("core.bare\nfalse\x00a.b\x00branch.x y.merge\nrefs/heads/\nx\x00")
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, out string) {
		c, err := ParseList(out)
		if err != nil {
			return
		}
		var back strings.Builder
		for _, s := range c.List {
			back.WriteString(s.Key)
			if !s.Implied {
				back.WriteString("\n" + s.Value)
			}
			back.WriteByte(0)
		}
		if back.String() != out {
			t.Fatalf("%q became %q", out, back.String())
		}
	})
}
