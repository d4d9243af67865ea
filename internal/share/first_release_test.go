package share_test

import (
	"strings"
	"testing"

	"ken/internal/share"
)

// pruneAsFirstRelease rewrites the ref as the first release did when it pruned: a commit without
// a parent, without the record, and with a list of removed names.
func pruneAsFirstRelease(t *testing.T, c *clone, path string) {
	t.Helper()
	list := strings.ReplaceAll(strings.TrimPrefix(path, "records/"), "/", "") + "\n"
	c.Git("fetch", "--quiet", "origin", ref)
	c.Git("checkout", "--quiet", "--orphan", "pruned", "FETCH_HEAD")
	c.Git("rm", "--quiet", "--cached", path)
	c.Write("dropped/"+nameOf(list), list)
	c.Git("add", "-f", "dropped")
	c.Git("commit", "--quiet", "-m", "ken: a new epoch, without 1 record")
	c.Git("push", "--quiet", "--force", "origin", "HEAD:"+ref)
}

// ken reads a ref that the first release pruned as the union of its records. It ignores the lists
// of removed names, and a clone that still has a removed record adds it again.
func TestPrunedByFirstRelease(t *testing.T) {
	remote := newRemote(t)
	ann, bob := newClone(t, remote), newClone(t, remote)
	ann.know("one", "two", "three")
	ann.push()
	bob.pull()
	pruneAsFirstRelease(t, newClone(t, remote), records(remote, ref)[0])
	wantCounts(t, "records after the prune", len(records(remote, ref)), 2)
	cat := newClone(t, remote)
	out := cat.pull()
	wantCounts(t, "taken by a new clone", out.Taken, 2)
	if st := cat.status(); !st.Current() {
		t.Errorf("a list of the first release should be ignored: %+v", st)
	}
	bob.know("four")
	wantCounts(t, "pushed", bob.push().Records, 2)
	wantCounts(t, "records", len(records(remote, ref)), 4)
	wantCounts(t, "taken again", cat.pull().Taken, 2)
	// A prune keeps the lists, which an older ken can still read.
	cat.policy.Budget = 400
	if out := cat.push(share.PushOptions{Prune: true}); len(out.Dropped) == 0 || len(out.Cleared) > 0 {
		t.Errorf("Push returned %+v; want dropped records and no cleared list", out)
	}
	if got := remote.Git("ls-tree", "-r", "--name-only", ref, "dropped/"); !strings.HasPrefix(got, "dropped/") {
		t.Error("the prune removed the list of the first release")
	}
}

// The first release stored the union of a clone in refs/ken/knowledge of that clone. Another clone
// can also push there. The next pull or push merges it.
func TestRefOfThisClone(t *testing.T) {
	remote := newRemote(t)
	ann, bob := newClone(t, remote), newClone(t, remote)
	ann.know("one")
	ann.push()
	ann.Git("push", "--quiet", bob.Dir, merged+":"+ref)
	remote.Git("update-ref", "-d", ref)
	out := bob.pull()
	wantCounts(t, "taken", out.Taken, 1)
	wantCounts(t, "taken again", bob.pull().Taken, 0)
	bob.know("two")
	wantCounts(t, "pushed", bob.push().Records, 2)
	wantCounts(t, "taken by Ann", ann.pull().Taken, 1)

	bob.Git("update-ref", ref, "HEAD")
	_, err := bob.share().Pull(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "read refs/ken/knowledge of this clone: it has no format file of ken") {
		t.Errorf("pull with another ref: %v", err)
	}
}
