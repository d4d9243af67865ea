package share_test

import (
	"strings"
	"testing"

	"ken/internal/share"
	"ken/internal/store"
	"ken/internal/store/storetest"
)

// A record that is restored after a prune is a record like any other.
func TestRestoredAfterPrune(t *testing.T) {
	remote := newRemote(t)
	ann, bob, cat := newClone(t, remote), newClone(t, remote), newClone(t, remote)
	ann.know("1", "22", "333", "4444")
	ann.push()
	bob.pull()
	cat.pull()
	ann.policy.Budget = 400
	gone := len(ann.push(share.PushOptions{Prune: true}).Dropped)
	if gone < 2 {
		t.Fatalf("the prune removed %d records, want at least 2", gone)
	}
	if n := remote.Git("rev-list", "--count", ref); n != "1" {
		t.Errorf("the pruned ref has %s commits, want one without parents", n)
	}
	wantCounts(t, "pruned, as the next pull sees it", cat.pull().Removed, gone)
	wantCounts(t, "pruned, as another pull sees it", cat.pull().Removed, 0)
	wantCounts(t, "known", len(strings.Fields(cat.knows())), 4)
	cat.know("of cat")
	out := cat.push()
	wantCounts(t, "pushed", out.Records, 1)
	wantCounts(t, "records of the remote", len(records(remote, ref)), 5-gone)
	// Bob restores them on purpose: he deletes his memory.
	bob.forget()
	bob.Git("update-ref", "-d", merged)
	wantCounts(t, "restored", bob.push().Records, gone)
	wantCounts(t, "records of the remote", len(records(remote, ref)), 5)
	wantCounts(t, "taken by a new clone", newClone(t, remote).pull().Taken, 5)
}

// The budget counts only trusted records. A prune removes nothing if untrusted records alone
// exceed the budget.
func TestNothingToPrune(t *testing.T) {
	who(t)
	remote := newRemote(t)
	eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
	eve.know("one", "two", "three", "four")
	eve.push()
	ann := named(newClone(t, remote), "Ann", "ann@example.org", share.Policy{Trust: share.SignedOff, Budget: 600})
	ann.know("five")
	ann.push()
	before := remote.Git("rev-parse", ref)
	out := ann.push(share.PushOptions{Prune: true})
	if len(out.Dropped) > 0 || out.Size.Exceeded() || out.Ignored != 4 {
		t.Errorf("Push returned %+v; want nothing dropped and 4 records ignored", out)
	}
	if now := remote.Git("rev-parse", ref); now != before {
		t.Error("a prune that removes nothing should not move the ref")
	}
}

// A policy that becomes stricter ignores older records, and a clone that had taken them over does
// not commit them again under its own name.
func TestStricterPolicy(t *testing.T) {
	who(t)
	remote := newRemote(t)
	eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
	eve.know("of eve")
	eve.push()
	dave := named(newClone(t, remote), "Dave", "dave@example.org", share.Policy{})
	wantCounts(t, "taken while the policy trusts anyone", dave.pull().Taken, 1)
	dave.policy = signedOff
	wantCounts(t, "ignored", len(dave.pull().Untrusted), 1)
	if st := dave.status(); !st.Current() {
		t.Errorf("the status is %+v; want it current", st)
	}
	steps := map[string]func(){
		"a push":                     func() { dave.push() },
		"a push without memory":      func() { dave.forget(); dave.push() },
		"a deleted ref":              func() { remote.Git("update-ref", "-d", ref); dave.push() },
		"a record deleted by Eve":    func() { pushFiles(t, remote, map[string]string{records(remote, ref)[0]: ""}); dave.push() },
		"a new record of Dave's own": func() { dave.know("of dave"); dave.push() },
	}
	for _, step := range []string{"a push", "a push without memory", "a deleted ref", "a record deleted by Eve", "a new record of Dave's own"} {
		steps[step]()
		carl := named(newClone(t, remote), "Carl", "carl@example.org", signedOff)
		out := carl.pull()
		if len(out.Untrusted) != 1 || strings.Contains(carl.knows(), eve.knows()) {
			t.Errorf("after %s, a new clone takes over Eve's record: %+v", step, out)
		}
	}
}

// A large first push writes several commits, so that only part of the store is in memory.
func TestLargePush(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes 20 MB")
	}
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	const many = 1200
	var list []store.Record
	for i := range many {
		r := storetest.Record(strings.Repeat("0123456789abcde ", 16<<10/16-1), "x", i)
		list = append(list, file(r))
	}
	storetest.AddRecords(t, a.store, list...)
	a.policy.Budget = 1 << 30
	wantCounts(t, "records of the dry run", a.push(share.PushOptions{DryRun: true}).Records, many)
	out := a.push()
	wantCounts(t, "pushed", out.Records, many)
	if n := remote.Git("rev-list", "--count", ref); n != "2" {
		t.Errorf("the push made %s commits, want 2", n)
	}
	wantCounts(t, "pulled", b.pull().Taken, many)
	if a.knows() != b.knows() {
		t.Error("the clones differ")
	}
	if st := b.status(); st.Size != (share.Size{Records: out.Size.Records, Bytes: out.Size.Bytes, Budget: share.DefaultBudget}) {
		t.Errorf("the size is %+v; want %+v", st.Size, out.Size)
	}
}
