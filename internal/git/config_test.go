package git

import (
	"strings"
	"testing"

	"ken/internal/git/config"
)

func TestInvalidConfigIsAnErrorOfGit(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1")
	b.write(".git/config", "[core\n")
	if s, err := b.open().Snapshot(ctx(t)); err == nil || !strings.Contains(err.Error(), "config") {
		t.Errorf("Snapshot returned %+v, %v; want git's error about the config", s, err)
	}
}

func TestIncludedConfigCounts(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1")
	b.git("config", "--unset", "core.fileMode")
	b.write("../more", "[core]\nfileMode = false\n")
	b.git("config", "include.path", b.path("../more"))
	if s := b.snapshot(); s.FileMode {
		t.Error("Snapshot ignores core.fileMode of an included file")
	}
}

func TestFileMode(t *testing.T) {
	b := newBox(t)
	for value, want := range map[string]bool{"true": true, "false": false, "no": false, "1": true, "0": false} {
		b.git("config", "core.fileMode", value)
		if got := b.snapshot().FileMode; got != want {
			t.Errorf("core.fileMode %s: FileMode is %v", value, got)
		}
	}
	b.git("config", "--unset", "core.fileMode")
	if !b.snapshot().FileMode {
		t.Error("without core.fileMode FileMode is false, want true")
	}
	b.write("../global", "[core]\nfileMode = off\n")
	t.Setenv("GIT_CONFIG_GLOBAL", b.path("../global"))
	if b.snapshot().FileMode {
		t.Error("FileMode is true, want false from the user's config")
	}
}

// trackingRef does not panic for any config.
func FuzzTrackingRef(f *testing.F) {
	f.Add("[branch \"main\"]\nremote = origin\nmerge = refs/heads/a\n[remote \"origin\"]\nfetch = +refs/heads/*:refs/remotes/origin/*\n")
	f.Add("[branch \"main\"]\nremote = .\nmerge = refs/heads/a\n")
	f.Fuzz(func(_ *testing.T, text string) {
		c, err := config.Parse(text)
		if err == nil {
			trackingRef(c, "main")
		}
	})
}
