package git

import (
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

// What we read in a config file is what git reads.
func TestConfigIsWhatGitReads(t *testing.T) {
	b := newBox(t)
	for _, text := range configs {
		b.write("config", text)
		want, err := parseConfigList(b.raw("config", "--no-includes", "-z", "--list", "--file", "config"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseConfig(text)
		if err != nil || len(got.list) != len(want.list) {
			t.Errorf("%q: %+v, %v; git reads %+v", text, got, err, want)
			continue
		}
		for i := range got.list {
			if got.list[i] != want.list[i] {
				t.Errorf("%q: %+v; git reads %+v", text, got.list[i], want.list[i])
			}
		}
	}
	for _, text := range brokenConfigs {
		b.write("config", text)
		if got, err := parseConfig(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func (b *box) raw(args ...string) string {
	b.t.Helper()
	out, err := b.try(args...)
	if err != nil {
		b.t.Fatalf("git %q: %v", args, err)
	}
	return out
}

func TestBrokenConfigIsLeftToGit(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1")
	b.write(".git/config", "[core\n")
	if s, err := b.open().Snapshot(ctx(t)); err == nil || !strings.Contains(err.Error(), "config") {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestIncludedConfigCounts(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1")
	b.git("config", "--unset", "core.fileMode")
	b.write("../more", "[core]\nfileMode = false\n")
	b.git("config", "include.path", b.path("../more"))
	if s := b.snapshot(); s.FileMode {
		t.Error("core.fileMode of the included file does not count")
	}
}

func TestFileMode(t *testing.T) {
	b := newBox(t)
	for value, want := range map[string]bool{"true": true, "false": false, "no": false, "1": true, "0": false} {
		b.git("config", "core.fileMode", value)
		if got := b.snapshot().FileMode; got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
	b.git("config", "--unset", "core.fileMode")
	if !b.snapshot().FileMode {
		t.Error("unset: want true")
	}
	b.write("../global", "[core]\nfileMode = off\n")
	t.Setenv("GIT_CONFIG_GLOBAL", b.path("../global"))
	if b.snapshot().FileMode {
		t.Error("the user's config: want false")
	}
}

// Whatever a config holds, reading it does not panic, and what is read has
// sections.
func FuzzConfig(f *testing.F) {
	for _, text := range append(configs, brokenConfigs...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig(text)
		if err != nil {
			return
		}
		for _, s := range c.list {
			if !strings.Contains(s.key, ".") || s.implied && s.value != "" {
				t.Fatalf("%+v", s)
			}
			c.flag(s.key)
		}
		trackingRef(c, "main")
	})
}
