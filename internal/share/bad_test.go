package share_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ken/internal/fault"
	"ken/internal/share"
	"ken/internal/store/storetest"
	"ken/internal/testrepo"
)

// vandal pushes a commit of its own on top of what is shared: files by their paths, with
// another mode where the content begins with "mode:".
func vandal(t *testing.T, remote *testrepo.Repo, files map[string]string, config ...string) {
	t.Helper()
	v := remote.Clone()
	for i := 0; i < len(config); i += 2 {
		v.Git("config", config[i], config[i+1])
	}
	v.Git("fetch", "--quiet", "origin", ref)
	v.Git("checkout", "--quiet", "FETCH_HEAD")
	for name, text := range files {
		switch {
		case text == "":
			v.Remove(name)
		case text == "link":
			os.Remove(v.Path(name))
			v.Symlink("/etc/passwd", name)
		case strings.HasPrefix(text, "exec:"):
			v.Write(name, strings.TrimPrefix(text, "exec:"))
			v.Chmod(name, 0o755)
		default:
			v.Write(name, text)
		}
	}
	v.Git("add", "-A")
	v.Git("commit", "--quiet", "-m", "vandal")
	v.Git("push", "--quiet", "origin", "HEAD:"+ref)
}

func nameOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func placeOf(text string) string { n := nameOf(text); return "records/" + n[:2] + "/" + n[2:] }

// What cannot be used is quarantined with a reason, takes nothing else along, displaces
// nothing, and is put right by the next who pushes.
func TestQuarantine(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	a.know("one", "two", "three", "four")
	a.push()
	b.pull()
	there := records(remote, ref)
	another := remote.Git("cat-file", "blob", ref+":"+there[2]) + "\n"
	lie := strings.Repeat("a", 64) + "\n"
	good := storetest.Record("about five", "five", 5)
	escape := storetest.Record("\x1b[2J", "six", 6)
	later := `{"ken":2,"more":true}` + "\n"
	huge := strings.Repeat("x", share.MaxSize+1)
	text := func(r share.Record) string { return string(share.Encode(r)) }
	vandal(t, remote, map[string]string{
		there[0]:                          another, // a record, and not the one that belongs there
		there[1]:                          "",      // gone
		placeOf(text(file(good))):         text(file(good)),
		placeOf(text(file(escape))):       text(file(escape)),
		placeOf("junk"):                   "junk",
		placeOf(later):                    later,
		placeOf(huge):                     huge,
		placeOf("link"):                   "link",
		placeOf("program"):                "exec:program",
		"records/zz/what":                 "x",
		"records/ab/cd/ef":                "x",
		"README.md":                       "read me",
		"dropped/notes":                   "x",
		"dropped/" + nameOf("not a list"): "not a list",
		"dropped/" + nameOf("a lie"):      lie,
	})
	before := strings.Fields(b.knows())
	out := b.pull()
	wantCounts(t, "taken", out.Taken, 1)
	wantCounts(t, "known", len(strings.Fields(b.knows())), len(before)+1)
	reasons := make(map[string]string)
	for _, q := range out.Quarantined {
		reasons[q.Path] = q.Reason
	}
	for path, want := range map[string]string{
		there[0]:                          "not what it is named by",
		placeOf(text(file(escape))):       "control character",
		placeOf("junk"):                   "no document",
		placeOf(later):                    "newer ken",
		placeOf(huge):                     "is the most",
		placeOf("link"):                   "no plain file",
		placeOf("program"):                "no plain file",
		"records/zz/what":                 "belongs",
		"records/ab/cd/ef":                "belongs",
		"README.md":                       "belongs",
		"dropped/notes":                   "belongs",
		"dropped/" + nameOf("not a list"): "no list",
		"dropped/" + nameOf("a lie"):      "not the one that it is named by",
	} {
		if !strings.Contains(reasons[path], want) {
			t.Errorf("%s: %q, want %q", path, reasons[path], want)
		}
	}
	wantCounts(t, "quarantined", len(reasons), 13)
	// It is remembered, found again without a memory, and no reason to fail.
	for range 2 {
		st := b.status()
		wantCounts(t, "quarantined", len(st.Quarantined), 12)
		wantCounts(t, "records", st.Size.Records, 5)
		if st.Current() {
			t.Error("all is well")
		}
		b.memories.m = share.Memory{}
	}
	b.push()
	if got := remote.Git("cat-file", "blob", ref+":"+there[0]); !strings.HasPrefix(got, `{"ken":1`) {
		t.Errorf("it was not put right: %s", got)
	}
	if now := strings.Join(records(remote, ref), "\n"); !strings.Contains(now, there[1]) {
		t.Error("it was not put back")
	}
	c := newClone(t, remote)
	wantCounts(t, "taken by a new clone", c.pull().Taken, 5)
	wantCounts(t, "quarantined in a new clone", len(c.status().Quarantined), 12)
	// A new epoch leaves it behind, but for what a newer ken can read.
	c.policy.Budget = 500
	if out := c.push(share.PushOptions{Prune: true}); len(out.Dropped) == 0 {
		t.Error("nothing was dropped")
	}
	a.pull()
	for _, x := range []*clone{a, c} {
		if st := x.status(); len(st.Quarantined) != 1 || !strings.HasPrefix(st.Quarantined[0].Reason, share.ErrNewer.Error()) || st.Epoch != 1 {
			t.Errorf("%+v", st)
		}
	}
}

// Junk can be got rid of while what is sound is within the budget, and no clone brings it
// back.
func TestClear(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	a.know("one", "two")
	a.push()
	later := `{"ken":2,"more":true}` + "\n"
	huge := strings.Repeat("x", share.MaxSize+1)
	for i, junk := range []map[string]string{{placeOf(huge): huge, "README.md": "read me"}, {"NOTES": "x"}} {
		vandal(t, remote, junk)
		wantCounts(t, "quarantined", len(b.pull().Quarantined), len(junk))
		wantCounts(t, "junk", b.status().Junk, len(junk))
		a.pull()
		out := b.push(share.PushOptions{Prune: true, DryRun: true})
		wantCounts(t, "would be cleared", len(out.Cleared), len(junk))
		out = b.push(share.PushOptions{Prune: true})
		wantCounts(t, "cleared", len(out.Cleared), len(junk))
		wantCounts(t, "dropped", len(out.Dropped), 0)
		wantCounts(t, "records", out.Size.Records, 2+i)
		// Who had it in the ledger takes the new epoch, and brings along only what is sound.
		a.know(fmt.Sprint("more ", i))
		wantCounts(t, "pushed", a.push().Records, 1)
		b.pull()
		for _, x := range []*clone{a, b, newClone(t, remote)} {
			x.pull()
			if st := x.status(); !st.Current() || st.Size.Records != 3+i || st.Epoch != 1+i {
				t.Errorf("%+v", st)
			}
		}
		if all := remote.Git("rev-list", "--objects", ref); strings.Contains(all, "README") || strings.Contains(all, "NOTES") {
			t.Errorf("it is still reachable:\n%s", all)
		}
	}
	// What a newer ken wrote is not for an older one to throw away.
	vandal(t, remote, map[string]string{placeOf(later): later})
	wantCounts(t, "quarantined", len(b.pull().Quarantined), 1)
	out := b.push(share.PushOptions{Prune: true})
	wantCounts(t, "cleared", len(out.Cleared)+out.Junk, 0)
}

// A ledger that is none, or another's, is refused with what to do, and nothing that is
// known here is touched.
func TestUnusable(t *testing.T) {
	for name, spoil := range map[string]func(*testrepo.Repo){
		"no commit": func(r *testrepo.Repo) {
			r.Write("junk", "junk")
			r.Git("update-ref", ref, r.Git("hash-object", "-w", "junk"))
		},
		"another layout": func(r *testrepo.Repo) { r.Git("update-ref", ref, "main") },
		"a newer layout": func(r *testrepo.Repo) {
			r.Write("format", "ken knowledge 2\n")
			blob := r.Git("hash-object", "-w", "format")
			r.Git("read-tree", "--empty")
			r.Git("update-index", "--add", "--cacheinfo", "100644,"+blob+",format")
			r.Git("update-ref", ref, r.Git("commit-tree", "-m", "x", r.Git("write-tree")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			remote := newRemote(t)
			a := newClone(t, remote)
			a.know("one")
			a.push()
			before := a.knows()
			spoil(remote)
			if _, err := a.share().Push(t.Context(), share.PushOptions{}); err == nil {
				t.Error("a push of nothing is content with it")
			}
			a.know("two")
			for _, act := range []func() error{
				func() error { _, err := a.share().Pull(t.Context(), ""); return err },
				func() error { _, err := a.share().Push(t.Context(), share.PushOptions{}); return err },
				func() error { _, err := a.share().Status(t.Context(), "", true); return err },
			} {
				err := act()
				if err == nil || !strings.HasPrefix(err.Error(), "share with origin: its knowledge cannot be used: ") || fault.HintOf(err) == "" {
					t.Errorf("%v (hint %q)", err, fault.HintOf(err))
				}
			}
			for _, act := range []func() error{
				func() error { _, err := a.share().Status(t.Context(), "", false); return err },
				func() error {
					_, err := a.share().Push(t.Context(), share.PushOptions{DryRun: true})
					return err
				},
			} {
				err := act()
				if err == nil || !strings.Contains(err.Error(), "as it was last heard of at "+now.Format(time.RFC3339)+", cannot be used") || !strings.HasSuffix(fault.HintOf(err), ": ken share status origin --fetch") {
					t.Errorf("%v (hint %q)", err, fault.HintOf(err))
				}
			}
			if got := strings.Fields(a.knows()); len(got) != len(strings.Fields(before))+1 {
				t.Errorf("knows %d", len(got))
			}
			// The hint helps.
			a.Git("push", "--quiet", "--force", "origin", ref)
			wantCounts(t, "pushed", a.push().Records, 1)
			// And so does that of a clone which has nothing.
			spoil(remote)
			b := newClone(t, remote)
			b.know("three")
			if _, err := b.share().Push(t.Context(), share.PushOptions{}); name != "a newer layout" && !strings.HasSuffix(fault.HintOf(err), ": git push origin --delete "+ref) {
				t.Errorf("%v (hint %q)", err, fault.HintOf(err))
			}
			b.Git("push", "--quiet", "origin", "--delete", ref)
			wantCounts(t, "had, as far as that was any", b.pull().Had, 0)
			wantCounts(t, "pushed", b.push().Records, 1)
		})
	}
}

// Whoever replaces what was shared by something else takes away nothing: it is all there
// again with the next push of somebody who had it.
func TestForcePushed(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	a.know("one", "two")
	a.push()
	b.know("three") // has never heard of a
	b.policy.Remote = "other"
	b.Git("remote", "add", "other", newRemote(t).URL())
	b.push()
	b.Git("push", "--quiet", "--force", "origin", ref)
	wantCounts(t, "after it was forced", len(records(remote, ref)), 1)
	out := a.pull()
	wantCounts(t, "taken", out.Taken, 1)
	wantCounts(t, "pushed", a.push().Records, 2)
	wantCounts(t, "in the end", len(records(remote, ref)), 3)
	// And one that was deleted is made again.
	remote.Git("update-ref", "-d", ref)
	if st := a.status(); st.Unpushed != 3 {
		t.Errorf("%+v", st)
	}
	wantCounts(t, "pushed", a.push().Records, 3)
	wantCounts(t, "again", len(records(remote, ref)), 3)
	remote.Git("update-ref", "-d", ref)
	for _, had := range []int{3, 0} {
		if out := a.pull(); out.Had != had || !out.Tip.IsZero() || out.Size.Records != 3 {
			t.Errorf("had %d, has %d", out.Had, out.Size.Records)
		}
	}
	wantCounts(t, "pushed after a pull", a.push().Records, 3)
	// Nobody need know of it, or have anything new.
	remote.Git("update-ref", "-d", ref)
	wantCounts(t, "pushed unawares", a.push().Records, 3)
	wantCounts(t, "once more", len(records(remote, ref)), 3)
}

// A remote that refuses, is not there, or is not configured.
func TestRefused(t *testing.T) {
	remote := newRemote(t)
	a := newClone(t, remote)
	a.know("one")
	remote.Write("hooks/pre-receive", "#!/bin/sh\necho nobody writes here on Sundays >&2\nexit 1\n")
	remote.Chmod("hooks/pre-receive", 0o755)
	_, err := a.share().Push(t.Context(), share.PushOptions{})
	if err == nil || !strings.Contains(err.Error(), "it refuses: pre-receive hook declined: nobody writes here on Sundays") || fault.HintOf(err) == "" {
		t.Errorf("a hook: %v", err)
	}
	remote.Remove("hooks/pre-receive")
	wantCounts(t, "afterwards", a.push().Records, 1)

	for _, name := range []string{"nobody", "--upload-pack=touch /tmp/x", "../up", "https://example.org/x.git"} {
		if _, err := a.share().Pull(t.Context(), name); fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := os.Rename(remote.Dir, remote.Dir+".away"); err != nil {
		t.Fatal(err)
	}
	a.know("two")
	for what, act := range map[string]func() error{
		"push": func() error { _, err := a.share().Push(t.Context(), share.PushOptions{}); return err },
		"pull": func() error { _, err := a.share().Pull(t.Context(), ""); return err },
	} {
		if err := act(); err == nil || fault.HintOf(err) == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s of a remote that is away: %v", what, err)
		}
	}
	if err := os.Rename(remote.Dir+".away", remote.Dir); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, "when it is back", a.push().Records, 1)
}

// Clones that have not all of the code share all the same.
func TestOddClones(t *testing.T) {
	remote := newRemote(t)
	remote.Git("config", "uploadpack.allowFilter", "true")
	a := newClone(t, remote)
	a.know("one", "two")
	a.push()
	a.know("three")
	a.push()
	for _, args := range [][]string{{"--depth=1"}, {"--filter=blob:none"}, {"--filter=tree:0", "--no-checkout"}, {"--bare"}, {"--mirror"}, {"--single-branch", "--no-tags"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			b := newClone(t, remote, args...)
			b.t = t
			wantCounts(t, "taken", b.pull().Taken, len(records(remote, ref)))
			b.know(fmt.Sprint(args))
			wantCounts(t, "pushed", b.push().Records, 1)
			if st := b.status(); !st.Current() {
				t.Errorf("%+v", st)
			}
			if _, err := os.Stat(filepath.Join(b.Dir, ".git", "FETCH_HEAD")); err == nil {
				t.Error("there is a FETCH_HEAD")
			}
		})
	}
}

// A remote that hides the ref from those who push refuses, and nobody was quicker.
func TestHidden(t *testing.T) {
	remote := newRemote(t)
	ann := newClone(t, remote)
	ann.know("1", "22", "333", "4444")
	ann.push()
	ann.policy.Budget = 400
	remote.Git("config", "receive.hideRefs", "refs/ken")
	_, err := ann.share().Push(t.Context(), share.PushOptions{Prune: true})
	if err == nil || !strings.Contains(err.Error(), "it refuses: deny updating a hidden ref") {
		t.Error(err)
	}
	if ann.spied.pushes != 1 {
		t.Errorf("tried %d times", ann.spied.pushes)
	}
	remote.Git("config", "--unset", "receive.hideRefs")
	if out := ann.push(share.PushOptions{Prune: true}); len(out.Dropped) == 0 {
		t.Errorf("%+v", out)
	}
}
