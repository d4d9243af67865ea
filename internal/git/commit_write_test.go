package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ken/internal/repo"
)

func someCommit() NewCommit {
	return NewCommit{
		Put:     []NewFile{{Path: "format", Data: []byte("x\n")}, {Path: "records/ab/cd", Data: []byte("y\n")}},
		Message: "some\n", At: time.Unix(1_800_000_000, 0),
	}
}

func packs(t *testing.T, b *box, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(b.dir, ".git", pattern))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// mktree writes a tree with the given entries.
func (b *box) mktree(lines string) string {
	b.t.Helper()
	cmd := exec.CommandContext(ctx(b.t), "git", "mktree")
	cmd.Dir, cmd.Stdin = b.dir, strings.NewReader(lines)
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func named(t *testing.T) *box {
	t.Helper()
	b := newBox(t)
	b.git("config", "user.name", "Ann")
	b.git("config", "user.email", "ann@example.org")
	return b
}

// Writers of the same commit in the same clone at the same time all get the same id.
func TestWriteAtOnce(t *testing.T) {
	b := named(t)
	var wg sync.WaitGroup
	ids, errs := make([]repo.ID, 8), make([]error, 8)
	for i := range ids {
		r := b.open()
		wg.Go(func() { ids[i], errs[i] = r.WriteCommit(ctx(t), someCommit()) })
	}
	wg.Wait()
	for i, id := range ids {
		if errs[i] != nil || id != ids[0] {
			t.Errorf("%v, %v, want %v", id, errs[i], ids[0])
		}
	}
	b.git("fsck", "--strict", "--no-dangling")
	if list := packs(t, b, "fast_import_crash_*"); len(list) > 0 {
		t.Errorf("files left in the repository: %v", list)
	}
}

// A writer waits while another git process adds the same pack.
func TestWriteWaits(t *testing.T) {
	a, b := named(t), named(t)
	want, err := a.open().WriteCommit(ctx(t), someCommit())
	if err != nil {
		t.Fatal(err)
	}
	pack := packs(t, a, "objects/pack/*.pack")
	if len(pack) != 1 {
		t.Fatalf("packs: %v", pack)
	}
	keep := filepath.Join(b.dir, ".git", "objects", "pack", strings.TrimSuffix(filepath.Base(pack[0]), ".pack")+".keep")
	if err := os.MkdirAll(filepath.Dir(keep), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keep, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	var got repo.ID
	r := b.open()
	go func() { var err error; got, err = r.WriteCommit(ctx(t), someCommit()); done <- err }()
	// Each attempt leaves a temporary pack, so two of them mean a second attempt.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for len(packs(t, b, "objects/pack/tmp_pack_*")) < 2 {
		select {
		case err := <-done:
			t.Fatalf("the writer did not wait for the other git process: %v", err)
		case <-tick.C:
		}
	}
	if err := os.Remove(keep); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if list := packs(t, b, "fast_import_crash_*"); len(list) > 0 {
		t.Errorf("files left in the repository: %v", list)
	}
}

// A few nested trees can have more files than fit into memory. TreeChanges returns an error before it lists them all.
func TestTreeOfTrees(t *testing.T) {
	b := named(t)
	b.write("x", "x\n")
	entry := "100644 blob " + b.git("hash-object", "-w", "x")
	tree := ""
	for range 4 {
		var in strings.Builder
		for i := range 100 {
			fmt.Fprintf(&in, "%s\t%02d\n", entry, i)
		}
		tree = b.mktree(in.String())
		entry = "040000 tree " + tree
	}
	bomb, err := repo.ParseID(b.git("commit-tree", "-m", "bomb", tree))
	if err != nil {
		t.Fatal(err)
	}
	r := b.open()
	empty, err := repo.ParseID(b.git("commit-tree", "-m", "empty", b.mktree("")))
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []repo.ID{{}, empty} {
		list, err := r.TreeChanges(ctx(t), from, bomb)
		if err == nil || !strings.Contains(err.Error(), "more than 1000000 files") {
			t.Errorf("TreeChanges returned %d files, %v; want an error about too many files", len(list), err)
		}
	}
}

// The reason of a refused push does not include progress lines of the remote.
func TestRefused(t *testing.T) {
	for said, want := range map[string]string{
		"": "the remote refuses the push: deny updating a hidden ref",
		"remote: Resolving deltas:   0% (0/7)\rremote: Resolving deltas: 100% (7/7), done.\n": "the remote refuses the push: deny updating a hidden ref",
		"remote: Checking connectivity: 7, done.\nremote: not on Sundays\n":                   "the remote refuses the push: deny updating a hidden ref: not on Sundays",
		"remote: error: hook declined\nremote: Rule 7: 100 at most\n":                         "the remote refuses the push: deny updating a hidden ref: Rule 7: 100 at most",
	} {
		if got := refused("refs/x", "[remote rejected] (deny updating a hidden ref)", said).Error(); got != want {
			t.Errorf("the error after the output %q is %s; want %s", said, got, want)
		}
	}
}
