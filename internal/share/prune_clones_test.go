package share_test

import (
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/store/storetest"
	"ken/internal/testrepo"
)

// Whoever puts back what was dropped, file by file, brings it to nobody.
func TestPutBack(t *testing.T) {
	remote := newRemote(t)
	a := newClone(t, remote)
	a.know("1", "22", "333")
	a.push()
	var path, text string
	old := a.Git("rev-parse", ref)
	a.policy.Budget = 500
	for _, d := range a.push(share.PushOptions{Prune: true}).Dropped {
		path = d.Name.Path().String()
		text = a.Git("cat-file", "blob", old+":"+path) + "\n"
	}
	if path == "" {
		t.Fatal("nothing was dropped")
	}
	left := len(records(remote, ref))
	vandal(t, remote, map[string]string{path: text})
	wantCounts(t, "in the ledger", len(records(remote, ref)), left+1)
	b := newClone(t, remote)
	wantCounts(t, "taken", b.pull().Taken, left)
	if strings.Contains(b.knows(), nameOf(text)) {
		t.Error("it is known again")
	}
	if st := a.status(); st.Unpulled != 0 {
		t.Errorf("%+v", st)
	}
}

// Where all that could be dropped is somebody's who is not trusted, no epoch begins: it
// would change nothing but the history.
func TestNothingToDrop(t *testing.T) {
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
	if len(out.Dropped) > 0 || !out.Size.Over() {
		t.Errorf("%+v", out)
	}
	if now := remote.Git("rev-parse", ref); now != before {
		t.Error("the history is another one")
	}
}

// What was held back is not vouched for by who had it in their store from before, even
// where the ledger is begun anew by hand; until somebody trusted brings it, or everybody is.
func TestNotLaundered(t *testing.T) {
	who(t)
	remote := newRemote(t)
	strict := share.Policy{Trust: share.SignedOff, Authors: []string{"*@example.org"}}
	eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
	eve.know("of eve")
	eve.push()
	dave := named(newClone(t, remote), "Dave", "dave@example.org", share.Policy{})
	wantCounts(t, "taken while everybody was trusted", dave.pull().Taken, 1)
	dave.policy = strict
	wantCounts(t, "held", len(dave.pull().Withheld), 1)
	if st := dave.status(); !st.Current() || len(st.Unfit) > 0 || st.Mine != (share.Own{}) {
		t.Errorf("there for others, and none of his own: %+v", st)
	}
	for _, r := range []*testrepo.Repo{remote, dave.Repo} {
		r.Git("update-ref", "-d", ref)
	}
	ann := named(newClone(t, remote), "Ann", "ann@example.org", strict)
	ann.know("1", "22", "333", "4444")
	ann.push()
	left := 4
	carl := named(newClone(t, remote), "Carl", "carl@example.org", strict)
	steps := map[string]func(){
		"pull":  func() { dave.pull() },
		"push":  func() { dave.push() },
		"vouch": func() { dave.push(share.PushOptions{Vouch: true}) },
		"news":  func() { dave.know("of dave"); dave.push(); left++ },
		"mind":  func() { dave.policy.Authors = append(dave.policy.Authors, "carl@example.com"); dave.push() },
	}
	for _, step := range []string{"pull", "push", "vouch", "news", "mind"} {
		steps[step]()
		wantCounts(t, "in the ledger after "+step, len(records(remote, ref)), left)
	}
	wantCounts(t, "taken by Carl", carl.pull().Taken, left)
	st := dave.status()
	if st.Unpushed != 0 || !st.Current() || len(st.Unfit) != 1 || st.Unfit[0].PathJSON != repo.Path("of eve").JSON() || st.Unfit[0].Who != "Eve <eve@example.com>" {
		t.Errorf("it is for Eve to vouch for: %+v", st)
	}
	carl.know("of eve")
	wantCounts(t, "pushed by Carl, who never saw it held", carl.push().Records, 1)
	dave.pull()
	if st := dave.status(); len(st.Unfit) != 0 || st.Unpushed != 0 {
		t.Errorf("%+v", st)
	}
}

// What is held back stays so where the remote is set back to before it came: that it is not
// there says nothing of who brought it.
func TestHeldThoughSetBack(t *testing.T) {
	who(t)
	remote := newRemote(t)
	ann := named(newClone(t, remote), "Ann", "ann@example.org", signedOff)
	ann.know("one", "two")
	ann.push()
	before := remote.Git("rev-parse", ref)
	eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
	eve.know("of eve")
	eve.push()
	vandal(t, remote, map[string]string{"README": "junk"})
	wantCounts(t, "held", len(ann.pull().Held), 1)
	out := ann.push(share.PushOptions{Prune: true})
	wantCounts(t, "held by the new epoch", out.Held, 1)
	remote.Git("update-ref", ref, before)
	wantCounts(t, "held though it is not there", len(ann.pull().Withheld), 1)
	ann.push()
	vandal(t, remote, map[string]string{"README": "junk"})
	wantCounts(t, "cleared", len(ann.push(share.PushOptions{Prune: true}).Cleared), 1)
	bob := named(newClone(t, remote), "Bob", "bob@example.org", signedOff)
	got := bob.pull()
	wantCounts(t, "taken by one that is new", got.Taken, 2)
	wantCounts(t, "held by one that is new", len(got.Held), 1)
}

// What an epoch dropped, and somebody put back by force, is taken away again and told: it is
// not pulled on the way.
func TestPutBackByForce(t *testing.T) {
	remote := newRemote(t)
	ann, bob, cat := newClone(t, remote), newClone(t, remote), newClone(t, remote)
	ann.know("1", "22", "333", "4444")
	ann.push()
	bob.pull()
	cat.pull()
	ann.policy.Budget = 400
	gone := len(ann.push(share.PushOptions{Prune: true}).Dropped)
	if gone < 2 {
		t.Fatalf("%d were dropped", gone)
	}
	wantCounts(t, "dropped by the pull", cat.pull().Dropped, gone)
	wantCounts(t, "dropped by the next one", cat.pull().Dropped, 0)
	bob.Git("push", "--force", "origin", ref)
	cat.know("of cat")
	cat.status()
	wantCounts(t, "would be dropped again", cat.push(share.PushOptions{DryRun: true}).Again, gone)
	out := cat.push()
	if out.Records != 1 || out.Taken != 0 || out.Again != gone {
		t.Errorf("%d pushed, %d taken, %d dropped again, want 1, 0, %d", out.Records, out.Taken, out.Again, gone)
	}
	wantCounts(t, "in the ledger", len(records(remote, ref)), 5-gone)
}

// A first push of a large store holds only part of it at once.
func TestManyBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes 20 MB")
	}
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	const many = 1200
	var list []share.Record
	for i := range many {
		r := storetest.Record(strings.Repeat("0123456789abcde ", 16<<10/16-1), "x", i)
		list = append(list, file(r))
	}
	storetest.Absorb(t, a.store, list...)
	a.policy.Budget = 1 << 30
	wantCounts(t, "would be pushed", a.push(share.PushOptions{DryRun: true}).Records, many)
	wantCounts(t, "kept for that", a.spied.kept, 0)
	out := a.push()
	wantCounts(t, "pushed", out.Records, many)
	if a.spied.kept == 0 || a.spied.kept == many {
		t.Errorf("%d of %d were kept by git on the way", a.spied.kept, many)
	}
	wantCounts(t, "pulled", b.pull().Taken, many)
	if a.knows() != b.knows() {
		t.Error("they differ")
	}
	if st := b.status(); st.Size != (share.Size{Records: out.Size.Records, Bytes: out.Size.Bytes, Budget: share.DefaultBudget}) {
		t.Errorf("%+v, want %+v", st.Size, out.Size)
	}
}
