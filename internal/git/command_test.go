package git

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ken/internal/fault"
)

// A timeout stops git and the processes that it started.
func TestTimeoutStopsGitAndItsChildren(t *testing.T) {
	b := newBox(t)
	r := b.open()
	pipe := b.path("child")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	fakeGit(t, `sleep 3600 > `+pipe+` & wait`)
	started, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		f, err := os.Open(pipe)
		close(started)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		_, _ = io.Copy(io.Discard, f)
	}()
	for limit := 300 * time.Millisecond; ; limit *= 2 { // until the machine starts a child in time
		t.Setenv("KEN_GIT_TIMEOUT", limit.String())
		_, err := r.git().Read(ctx(t), nil, "status")
		if err == nil || !strings.Contains(err.Error(), "no answer within "+limit.String()) || !strings.Contains(fault.HintOf(err), "KEN_GIT_TIMEOUT") {
			t.Errorf("error %v, hint %q", err, fault.HintOf(err))
		}
		select {
		case <-started:
		default:
			continue
		}
		break
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the child of the stopped git still runs")
	}
}

func TestCancelIsAnInterruption(t *testing.T) {
	r := newBox(t).open()
	fakeGit(t, "sleep 30")
	c, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	stop, cancelStop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancelStop)
	if _, err := r.git().Read(stop, nil, "status"); fault.KindOf(err) != fault.Interrupted || !errors.Is(err, context.Canceled) {
		t.Errorf("Read with a cancelled context returned the error %v; want an interruption", err)
	}
	if _, err := r.git().Read(c, nil, "status"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's deadline: %v", err)
	}
}

func TestGitNotInstalled(t *testing.T) {
	r := newBox(t).open()
	withoutGit(t)
	_, err := r.git().Read(ctx(t), nil, "status")
	if err == nil || !strings.Contains(err.Error(), "git is not installed") || !strings.Contains(fault.HintOf(err), "git --version") {
		t.Errorf("error %v, hint %q", err, fault.HintOf(err))
	}
}

func TestDubiousOwnershipHasAHint(t *testing.T) {
	b := newBox(t)
	r := b.open()
	for said, want := range map[string]string{
		"detected dubious ownership in repository at '/x'": "/x", // a remote's, maybe
		"detected dubious ownership":                       b.dir,
	} {
		fakeGit(t, `echo "fatal: `+said+`" >&2; exit 128`)
		_, err := r.git().Read(ctx(t), nil, "status")
		if err == nil || fault.HintOf(err) != "if you trust it: git config --global --add safe.directory "+want {
			t.Errorf("%s: error %v, hint %q", said, err, fault.HintOf(err))
		}
	}
}

// read, probe and check distinguish a failure from a missing object and from "no".
func TestReadProbeCheck(t *testing.T) {
	r := newBox(t).open()
	for _, c := range []struct {
		name, script                string
		read, probe, found, verdict bool // worked; worked; answer; worked
		yes                         bool
	}{
		{"success", "echo out", true, true, true, true, true},
		{"exit 1", "exit 1", false, true, false, true, false},
		{"exit 1 and a complaint", "echo fatal: no >&2; exit 1", false, false, false, true, false},
		{"exit 128", "echo fatal: no >&2; exit 128", false, false, false, false, false},
		{"killed", "kill -9 $$", false, false, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakeGit(t, c.script)
			out, err := r.git().Read(ctx(t), nil, "x")
			if (err == nil) != c.read || c.read && out != "out\n" {
				t.Errorf("Read returned %q, %v; it should succeed: %t", out, err, c.read)
			}
			_, found, err := r.git().Probe(ctx(t), "x")
			if (err == nil) != c.probe || found != c.found {
				t.Errorf("Probe returned found %t, %v; want %t, and success: %t", found, err, c.found, c.probe)
			}
			yes, err := r.git().Check(ctx(t), "x")
			if (err == nil) != c.verdict || yes != c.yes {
				t.Errorf("Check returned %t, %v; want %t, and success: %t", yes, err, c.yes, c.verdict)
			}
		})
	}
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{"/a/b-c": "/a/b-c", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'"} {
		if got := fault.Quote(in); got != want {
			t.Errorf("Quote(%q) = %s; want %s", in, got, want)
		}
	}
}

// Variables of a hook or a shell do not change an answer.
func TestInheritedEnvironmentIsIgnored(t *testing.T) {
	b, other := newBox(t), newBox(t)
	b.commit("mine", "1")
	b.git("update-index", "--split-index") // so that git is asked
	other.commit("theirs", "1")
	for name, value := range map[string]string{
		"GIT_DIR": other.path(".git"), "GIT_WORK_TREE": other.dir, "GIT_INDEX_FILE": other.path(".git/index"),
		"GIT_OBJECT_DIRECTORY": other.path(".git/objects"), "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare",
		"GIT_CONFIG_VALUE_0": "true", "GIT_LITERAL_PATHSPECS": "0", "GIT_TRACE": "1",
	} {
		t.Setenv(name, value)
	}
	s := b.snapshot()
	if len(s.Index.Entries) != 1 || s.Index.Entries[0].Path != "mine" {
		t.Errorf("the index has the entries %+v; want only mine", s.Index.Entries)
	}
	if _, ok, err := b.open().Tree(ctx(t), s.Head.Commit); !ok || err != nil {
		t.Errorf("Tree returned %t, %v; want the tree", ok, err)
	}
}

// No setting starts a program or changes an answer.
func TestHostileConfig(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1\n", "sub/b", "2\n", "quöte", "3")
	head := b.commit("a", "2\n")
	b.write("un\ttracked", "")
	b.write("a", "3\n")
	b.git("add", "a")
	b.write("run", "#!/bin/sh\necho \"$0 $*\" >> "+b.path("../ran")+"\nexit 0\n")
	os.Chmod(b.path("run"), 0o755)
	b.write(".git/info/exclude", "run\n")
	for key, value := range map[string]string{
		"core.fsmonitor": b.path("run"), "core.hooksPath": b.dir, "diff.external": b.path("run"), "core.pager": b.path("run"),
		"diff.d.textconv": b.path("run"), "core.sshCommand": b.path("run"), "core.editor": b.path("run"),
		"core.quotePath": "true", "status.showUntrackedFiles": "no", "status.branch": "true", "status.showStash": "true",
		"log.showRoot": "false", "log.showSignature": "true", "gpg.program": b.path("run"),
		"diff.renames": "copies", "diff.noprefix": "true", "diff.relative": "true", "diff.ignoreSubmodules": "all",
		"diff.orderFile": b.path("order"), "core.abbrev": "4", "color.ui": "always", "color.status": "always",
		"core.splitIndex": "true", "submodule.recurse": "true", "status.relativePaths": "true", "core.alternateRefsCommand": b.path("run"),
	} {
		b.git("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "config", key, value)
	}
	b.write("order", "sub/*\n")
	b.write(".git/info/attributes", "* diff=d\n")
	b.write(".git/info/exclude", "run\norder\n")
	os.Remove(b.path("../ran"))
	r := b.open()
	r.unknownLayout = true // the long way, through git
	s, err := r.Snapshot(ctx(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Index.Entries) != 3 || s.Head.Commit != head {
		t.Errorf("Snapshot returned %+v; want 3 entries at %s", s, head)
	}
	tree, _, err := r.Tree(ctx(t), head)
	if err != nil {
		t.Fatal(err)
	}
	if staged, err := r.IndexDiffers(ctx(t), s, tree); !staged || err != nil {
		t.Errorf("IndexDiffers returned %t, %v; want true", staged, err)
	}
	if _, paths, err := r.ChangedBy(ctx(t), "HEAD"); len(paths) != 1 || paths[0] != "a" || err != nil {
		t.Errorf("ChangedBy(HEAD) returned %q, %v; want a", paths, err)
	}
	if _, paths, err := r.ChangedBy(ctx(t), "HEAD^"); len(paths) != 3 || paths[2] != "sub/b" || err != nil {
		t.Errorf("touched by the first: %q, %v", paths, err)
	}
	if paths, err := r.Untracked(ctx(t)); len(paths) != 1 || paths[0] != "un\ttracked" || err != nil {
		t.Errorf("Untracked returned %q, %v; want one path", paths, err)
	}
	if _, err := r.Attributes(ctx(t), entryPaths(s)); err != nil {
		t.Error(err)
	}
	if _, err := r.StoredIDs(ctx(t), entryPaths(s)); err != nil {
		t.Error(err)
	}
	if ran, err := os.ReadFile(b.path("../ran")); err == nil {
		t.Errorf("programs were run:\n%s", ran)
	}
	if shared, _ := os.ReadDir(b.path(".git")); slices.ContainsFunc(shared, func(e os.DirEntry) bool {
		return strings.HasPrefix(e.Name(), "sharedindex")
	}) {
		t.Error("a shared index was left behind")
	}
}
