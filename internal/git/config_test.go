package git

import (
	"strings"
	"testing"

	"ken/internal/git/config"
)

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

// Whatever a config holds, looking for the upstream of a branch does not panic.
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
