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
	"ken/internal/store"
	"ken/internal/store/storetest"
	"ken/internal/testrepo"
)

// pushFiles pushes a commit with files by path on top of the ref. "" deletes a file, "link" makes a symbolic link,
// and "exec:" starts the content of an executable file.
func pushFiles(t *testing.T, remote *testrepo.Repo, files map[string]string, config ...string) {
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
	v.Git("commit", "--quiet", "-m", "pushFiles")
	v.Git("push", "--quiet", "origin", "HEAD:"+ref)
}

func nameOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func placeOf(text string) string { n := nameOf(text); return "records/" + n[:2] + "/" + n[2:] }

// ken ignores files that it cannot use, with a reason, and the next push restores the records
// that they replaced.
func TestIgnoredFiles(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	a.know("one", "two", "three", "four")
	a.push()
	b.pull()
	there := records(remote, ref)
	another := remote.Git("cat-file", "blob", ref+":"+there[2]) + "\n"
	good := storetest.Record("about five", "five", 5)
	escape := storetest.Record("\x1b[2J", "six", 6)
	later := `{"ken":2,"more":true}` + "\n"
	huge := strings.Repeat("x", share.MaxSize+1)
	text := func(r store.Record) string { return string(share.Encode(r)) }
	pushFiles(t, remote, map[string]string{
		there[0]:                    another, // a record at the path of another record
		there[1]:                    "",      // deleted
		placeOf(text(file(good))):   text(file(good)),
		placeOf(text(file(escape))): text(file(escape)),
		placeOf("junk"):             "junk",
		placeOf(later):              later,
		placeOf(huge):               huge,
		placeOf("link"):             "link",
		placeOf("program"):          "exec:program",
		"records/zz/what":           "x",
		"records/ab/cd/ef":          "x",
		"README.md":                 "read me",
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
		placeOf(text(file(escape))): "control character",
		placeOf("junk"):             "not a JSON document",
		placeOf(later):              "newer ken",
		placeOf(huge):               "more than",
		placeOf("link"):             "not a regular file",
		placeOf("program"):          "not a regular file",
		"records/zz/what":           "not a file of ken",
		"records/ab/cd/ef":          "not a file of ken",
		"README.md":                 "not a file of ken",
	} {
		if !strings.Contains(reasons[path], want) {
			t.Errorf("%s is ignored because of %q, want %q", path, reasons[path], want)
		}
	}
	wantCounts(t, "ignored", len(reasons), 9)
	// A clone that pulls for the first time also sees the replaced record.
	c := newClone(t, remote)
	if out := c.pull(); out.Taken != 3 || len(out.Quarantined) != 10 {
		t.Errorf("a new clone takes %d and ignores %d, want 3 and 10", out.Taken, len(out.Quarantined))
	}
	// Without a memory, the result is the same.
	for range 2 {
		st := b.status()
		wantCounts(t, "ignored", len(st.Quarantined), 9)
		wantCounts(t, "records", st.Size.Records, 5)
		if st.Current() {
			t.Error("a clone that ignores files should not be current")
		}
		b.forget()
	}
	b.push()
	if got := remote.Git("cat-file", "blob", ref+":"+there[0]); !strings.HasPrefix(got, `{"ken":1`) || got+"\n" == another {
		t.Errorf("the push did not restore the replaced record: %s", got)
	}
	if now := strings.Join(records(remote, ref), "\n"); !strings.Contains(now, there[1]) {
		t.Error("the push did not restore the deleted record")
	}
	wantCounts(t, "taken by the new clone", c.pull().Taken, 2)
	// A prune removes them, except files that this version rejects and that a newer version or another clock may
	// accept.
	wantCounts(t, "junk", c.status().Junk, 7)
	c.policy.Budget = 500
	pruned := c.push(share.PushOptions{Prune: true})
	if len(pruned.Dropped) == 0 || len(pruned.Cleared) != 7 {
		t.Errorf("the prune removed %d records and %d files, want some and 7", len(pruned.Dropped), len(pruned.Cleared))
	}
	a.pull()
	for _, x := range []*clone{a, c} {
		st := x.status()
		wantCounts(t, "ignored after the prune", len(st.Quarantined), 2)
		wantCounts(t, "junk after the prune", st.Junk, 0)
	}
}

// A record that is dated too far ahead is read again when its time has come, after any number of pulls.
func TestRecordDue(t *testing.T) {
	remote := newRemote(t)
	ann, bob := newClone(t, remote), newClone(t, remote)
	ann.know("one")
	ahead := storetest.Record("about two", "two", 2)
	ahead.At = now.Add(30 * time.Hour)
	data := string(share.Encode(file(ahead)))
	ann.push()
	pushFiles(t, remote, map[string]string{placeOf(data): data})
	for range 2 {
		if out := bob.pull(); len(out.Quarantined) != 1 || !out.Quarantined[0].Due.Equal(now.Add(6*time.Hour)) {
			t.Errorf("bob ignores %+v, want the record, due in 6 hours", out.Quarantined)
		}
	}
	defer func(was time.Time) { now = was }(now)
	now = now.Add(6*time.Hour - time.Microsecond)
	wantCounts(t, "taken too early", bob.pull().Taken, 0)
	now = now.Add(time.Microsecond)
	wantCounts(t, "unpulled when due", bob.status().Unpulled, 1)
	out := bob.pull()
	wantCounts(t, "taken when due", out.Taken, 1)
	wantCounts(t, "ignored when due", len(out.Quarantined), 0)
	wantCounts(t, "taken again", bob.pull().Taken, 0)
}

// A prune removes files that are not records while the records are within the budget. No clone
// brings the files back, and git can delete them.
func TestPruneJunk(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	a.know("one", "two")
	a.push()
	huge := strings.Repeat("x", share.MaxSize+1)
	for i, junk := range []map[string]string{{placeOf(huge): huge, "README.md": "read me"}, {"NOTES": "x"}} {
		pushFiles(t, remote, junk)
		wantCounts(t, "ignored", len(b.pull().Quarantined), len(junk))
		a.pull()
		out := b.push(share.PushOptions{Prune: true, DryRun: true})
		wantCounts(t, "files that a prune would remove", len(out.Cleared), len(junk))
		out = b.push(share.PushOptions{Prune: true})
		wantCounts(t, "removed files", len(out.Cleared), len(junk))
		wantCounts(t, "removed records", len(out.Dropped), 0)
		wantCounts(t, "records", out.Size.Records, 2+i)
		a.know(fmt.Sprint("more ", i))
		wantCounts(t, "pushed", a.push().Records, 1)
		for _, x := range []*clone{a, b, newClone(t, remote)} {
			x.pull()
			if st := x.status(); !st.Current() || st.Size.Records != 3+i {
				t.Errorf("after the prune: %+v", st)
			}
		}
		if all := remote.Git("rev-list", "--objects", ref); strings.Contains(all, "README") || strings.Contains(all, "NOTES") {
			t.Errorf("the removed files are still reachable:\n%s", all)
		}
	}
}

// A ref that is not of ken is an error with a useful hint, and the store does not change.
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
				t.Error("a push without new records should fail")
			}
			a.know("two")
			for _, act := range []func() error{
				func() error { _, err := a.share().Pull(t.Context(), ""); return err },
				func() error { _, err := a.share().Push(t.Context(), share.PushOptions{}); return err },
				func() error { _, err := a.share().Status(t.Context(), "", true); return err },
			} {
				err := act()
				if err == nil || !strings.HasPrefix(err.Error(), "share with origin: cannot read refs/ken/knowledge: ") || fault.HintOf(err) == "" {
					t.Errorf("the error is %v with the hint %q; want that the ref cannot be read, and a hint", err, fault.HintOf(err))
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
				if err == nil || !strings.Contains(err.Error(), "cannot read refs/ken/knowledge as last fetched at "+now.Format(time.RFC3339)) || !strings.HasSuffix(fault.HintOf(err), ": ken share status origin --fetch") {
					t.Errorf("the error is %v with the hint %q; want when the ref was fetched, and a hint to fetch again", err, fault.HintOf(err))
				}
			}
			if got := strings.Fields(a.knows()); len(got) != len(strings.Fields(before))+1 {
				t.Errorf("the clone has %d records; want one more than before", len(got))
			}
			// The hint helps, in this clone and in a new one.
			a.Git("push", "--quiet", "origin", "--delete", ref)
			wantCounts(t, "pushed", a.push().Records, 2)
			spoil(remote)
			b := newClone(t, remote)
			b.know("three")
			if _, err := b.share().Push(t.Context(), share.PushOptions{}); name != "a newer layout" && !strings.HasSuffix(fault.HintOf(err), ": git push origin --delete "+ref) {
				t.Errorf("Push returned the error %v with the hint %q; want a hint to delete the ref", err, fault.HintOf(err))
			}
			b.Git("push", "--quiet", "origin", "--delete", ref)
			wantCounts(t, "records of a ref that was not ken's", b.pull().OwnRecords, 0)
			wantCounts(t, "pushed", b.push().Records, 1)
		})
	}
}

// A clone restores the records that a forced push or a deletion removed from the remote.
func TestForcePushed(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	a.know("one", "two")
	a.push()
	b.know("three")
	b.policy.Remote = "other"
	b.Git("remote", "add", "other", newRemote(t).URL())
	b.push()
	b.Git("push", "--quiet", "--force", "origin", "refs/ken/remotes/other/merged:"+ref)
	wantCounts(t, "records after the forced push", len(records(remote, ref)), 1)
	out := a.pull()
	wantCounts(t, "taken", out.Taken, 1)
	if st := a.status(); st.Unpushed != 2 || st.Size.Records != 3 {
		t.Errorf("status after the forced push: %+v", st)
	}
	wantCounts(t, "pushed", a.push().Records, 2)
	wantCounts(t, "records at the end", len(records(remote, ref)), 3)
	remote.Git("update-ref", "-d", ref)
	if st := a.status(); st.Unpushed != 3 {
		t.Errorf("status after the deletion: %+v", st)
	}
	wantCounts(t, "pushed after the deletion", a.push().Records, 3)
	remote.Git("update-ref", "-d", ref)
	if out := a.pull(); out.OwnRecords != 3 || !out.Tip.IsZero() || out.Size.Records != 3 {
		t.Errorf("pull after the deletion: %+v", out)
	}
	wantCounts(t, "pushed after the pull", a.push().Records, 3)
	// A push without new records notices that the ref was deleted.
	remote.Git("update-ref", "-d", ref)
	wantCounts(t, "pushed without new records", a.push().Records, 3)
	wantCounts(t, "records again", len(records(remote, ref)), 3)
}

// A remote that rejects the push, is unreachable or is not configured is an error with a hint.
func TestRefused(t *testing.T) {
	remote := newRemote(t)
	a := newClone(t, remote)
	a.know("one")
	remote.Write("hooks/pre-receive", "#!/bin/sh\necho nobody writes here on Sundays >&2\nexit 1\n")
	remote.Chmod("hooks/pre-receive", 0o755)
	_, err := a.share().Push(t.Context(), share.PushOptions{})
	if err == nil || !strings.Contains(err.Error(), "the remote refuses the push: pre-receive hook declined: nobody writes here on Sundays") || fault.HintOf(err) == "" {
		t.Errorf("a hook: %v", err)
	}
	remote.Remove("hooks/pre-receive")
	wantCounts(t, "afterwards", a.push().Records, 1)

	for _, name := range []string{"nobody", "--upload-pack=touch /tmp/x", "../up", "https://example.org/x.git"} {
		if _, err := a.share().Pull(t.Context(), name); fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
			t.Errorf("Pull(%q) returned the error %v; want a usage error with a hint", name, err)
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
			t.Errorf("%s of an unreachable remote: %v", what, err)
		}
	}
	if err := os.Rename(remote.Dir+".away", remote.Dir); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, "when it is back", a.push().Records, 1)
}

// Shallow, partial, bare and mirror clones share too.
func TestUnusualClones(t *testing.T) {
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
				t.Errorf("the status is %+v; want it current", st)
			}
			if _, err := os.Stat(filepath.Join(b.Dir, ".git", "FETCH_HEAD")); err == nil {
				t.Error("there is a FETCH_HEAD")
			}
		})
	}
}

// A remote that hides the ref rejects the push; ken does not retry.
func TestHidden(t *testing.T) {
	remote := newRemote(t)
	ann := newClone(t, remote)
	ann.know("1", "22", "333", "4444")
	ann.push()
	ann.policy.Budget = 400
	remote.Git("config", "receive.hideRefs", "refs/ken")
	_, err := ann.share().Push(t.Context(), share.PushOptions{Prune: true})
	if err == nil || !strings.Contains(err.Error(), "the remote refuses the push: deny updating a hidden ref") {
		t.Errorf("Push returned the error %v; want the reason why the remote refused", err)
	}
	remote.Git("config", "--unset", "receive.hideRefs")
	if out := ann.push(share.PushOptions{Prune: true}); len(out.Dropped) == 0 {
		t.Errorf("Push returned %+v; want dropped records", out)
	}
}
