package share_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/share"
)

var signedOff = share.Policy{Trust: share.SignedOff, Authors: []string{"*@example.org"}}

// Whoever pushed before the policy asked for more vouches for that once, and for nothing that
// others brought, or that somebody brought in their name since.
func TestVouch(t *testing.T) {
	who(t)
	remote := newRemote(t)
	ann := named(newClone(t, remote), "Ann", "ann@example.org", share.Policy{})
	eve := named(newClone(t, remote), "Eve", "eve@example.org", share.Policy{})
	bob := named(newClone(t, remote), "Bob", "bob@example.org", share.Policy{})
	ann.know("one", "two")
	ann.push()
	eve.know("of eve")
	eve.push()
	ann.pull()
	bob.pull()
	ann.policy, bob.policy = signedOff, signedOff
	named(eve, "Ann", "ann@example.org", share.Policy{}).know("of a false ann")
	eve.push()
	bob.pull()
	if st := bob.status(); st.Mine != (share.Own{}) || !st.Current() || len(st.Held) != 4 {
		t.Errorf("none of it is Bob's: %+v", st)
	}
	for _, opts := range []share.PushOptions{{}, {DryRun: true}} {
		if out := ann.push(opts); out.Records+len(out.Vouched) > 0 || out.Mine.Records != 2 {
			t.Errorf("nothing is vouched for unasked: %+v", out)
		}
	}
	if st := ann.status(); st.Mine.Records != 2 || st.Current() {
		t.Errorf("%+v", st)
	}
	before := remote.Git("rev-parse", ref)
	if out := ann.push(share.PushOptions{Vouch: true, DryRun: true}); len(out.Vouched) != 2 || remote.Git("rev-parse", ref) != before {
		t.Errorf("%+v", out)
	}
	out := ann.push(share.PushOptions{Vouch: true})
	if len(out.Vouched) != 2 || out.Mine != (share.Own{}) || out.Records != 0 || out.Held != 2 {
		t.Errorf("%+v", out)
	}
	wantCounts(t, "vouched for again", len(ann.push(share.PushOptions{Vouch: true}).Vouched), 0)
	bob.pull()
	cat := named(newClone(t, remote), "Cat", "cat@example.org", signedOff)
	wantCounts(t, "taken by one that is new", cat.pull().Taken, 2)
	for _, c := range []*clone{ann, bob, cat} {
		if st := c.status(); len(st.Held) != 2 || !st.Current() || st.Size.Records != 4 {
			t.Errorf("%+v", st)
		}
	}
	// One whom the policy does not trust vouches for nothing.
	ann.policy.Authors = []string{"bob@*"}
	if _, err := ann.share().Push(t.Context(), share.PushOptions{Vouch: true}); err == nil || !strings.Contains(err.Error(), "not one of the authors") {
		t.Errorf("%v", err)
	}
}

// A list of what was dropped that is not trusted any more takes nothing away, and no store
// brings back what is on it; who made it can vouch for it.
func TestDoubtedList(t *testing.T) {
	who(t)
	remote := newRemote(t)
	ann := named(newClone(t, remote), "Ann", "ann@example.org", share.Policy{Budget: 400})
	ann.know("1", "22", "333", "4444")
	carl := named(newClone(t, remote), "Carl", "carl@example.com", share.Policy{})
	ann.push()
	carl.pull()
	gone := len(ann.push(share.PushOptions{Prune: true}).Dropped)
	carl.pull()
	left := len(records(remote, ref))
	if gone == 0 || gone+left != 4 {
		t.Fatalf("%d dropped, %d left", gone, left)
	}
	carl.policy, ann.policy = signedOff, signedOff
	carl.know("of carl")
	out := carl.push()
	wantCounts(t, "pushed by Carl", out.Records, 1)
	if out.Why != "not one of the authors" || carl.status().Why != out.Why {
		t.Errorf("others hold it back because %q", out.Why)
	}
	// Nor is the list junk that a new epoch is rid of.
	vandal(t, remote, map[string]string{"README": "junk"})
	ann.pull()
	if out := ann.push(share.PushOptions{Prune: true}); len(out.Cleared) != 1 || out.Junk != 0 {
		t.Errorf("%+v", out)
	}
	wantCounts(t, "in the ledger", len(records(remote, ref)), left+1)
	carl.pull()
	wantCounts(t, "pushed by Carl after that", carl.push().Records, 0)
	wantCounts(t, "epochs of Carl's", carl.status().Epoch, 1)
	if st := ann.status(); st.Mine.Lists != 1 || st.Current() {
		t.Errorf("%+v", st)
	}
	wantCounts(t, "lists that Ann vouches for", ann.push(share.PushOptions{Vouch: true}).Lists, 1)
	for _, c := range []*clone{ann, carl} {
		c.pull()
		if st := c.status(); st.Epoch != 2 || len(st.Quarantined) > 0 || st.Unpushed > 0 {
			t.Errorf("%+v", st)
		}
	}
}

// Who is blamed for what is held back is a matter of the tip, not of when one looked.
func TestBlame(t *testing.T) {
	who(t)
	remote := newRemote(t)
	often, once := newClone(t, remote), newClone(t, remote)
	often.policy, once.policy = signedOff, signedOff
	for i, name := range []string{"Eve", "Mallory", "Trudy"} {
		c := named(newClone(t, remote), name, name+"@example.com", share.Policy{})
		c.pull()
		c.know("the same")
		c.push()
		often.pull()
		if i == 2 {
			break
		}
		vandal(t, remote, map[string]string{records(remote, ref)[0]: ""})
		often.pull()
	}
	once.pull()
	a, b := often.status().Held, once.status().Held
	if len(a) != 1 || len(b) != 1 || a[0].Who != b[0].Who || a[0].Commit != b[0].Commit {
		t.Errorf("%+v\nand\n%+v", a, b)
	}
}

// Where only signatures count, so does vouching, and not with a key that git does not trust.
func TestVouchSigned(t *testing.T) {
	who(t)
	remote := newRemote(t)
	key, public := sshKey(t, "ann")
	signers := filepath.Join(t.TempDir(), "signers")
	ann := named(newClone(t, remote), "Ann", "ann@example.org", share.Policy{})
	ann.know("one", "two")
	ann.push()
	ann.policy = share.Policy{Trust: share.Signed}
	bob := named(newClone(t, remote), "Bob", "bob@example.org", ann.policy)
	for k, v := range map[string]string{"gpg.format": "ssh", "user.signingKey": key, "gpg.ssh.allowedSignersFile": signers} {
		ann.Git("config", k, v)
		bob.Git("config", k, v)
	}
	for _, c := range []struct{ signs, signers, want string }{
		{"false", "", "commits are not signed here"},
		{"true", "", share.Unverified},
		{"true", "ann@example.org " + public + "\n", ""},
	} {
		ann.Git("config", "commit.gpgSign", c.signs)
		if err := os.WriteFile(signers, []byte(c.signers), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := ann.share().Push(t.Context(), share.PushOptions{Vouch: true})
		switch {
		case c.want == "" && (err != nil || len(out.Vouched) != 2 || out.Why != ""):
			t.Errorf("%v, %+v", err, out)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	wantCounts(t, "taken", bob.pull().Taken, 2)
	// What is pushed with a key that is not known here is told.
	if err := os.WriteFile(signers, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ann.know("three")
	if out := ann.push(); out.Records != 1 || out.Why != share.Unverified {
		t.Errorf("%+v", out)
	}
	// Whoever signs nothing reads all the same, and keeps who brought what in sight where
	// somebody brings it all in their own name.
	cat := named(newClone(t, remote), "Cat", "cat@example.org", ann.policy)
	cat.Git("config", "gpg.ssh.allowedSignersFile", signers)
	cat.pull()
	eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
	vandal(t, remote, map[string]string{"README": "junk"})
	eve.pull()
	wantCounts(t, "cleared by Eve", len(eve.push(share.PushOptions{Prune: true}).Cleared), 1)
	if err := os.WriteFile(signers, []byte("ann@example.org "+public+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	bob.pull()
	if len(strings.Fields(bob.Git("log", "-1", "--format=%P", ref))) != 2 {
		t.Error("he follows on Eve's alone")
	}
	// A union is nobody's: whoever makes one and shares nothing is not told that others hold it back.
	if out := cat.push(); out.Records != 0 || out.Why != "" || remote.Git("rev-parse", ref) != cat.Git("rev-parse", ref) {
		t.Errorf("%+v", out)
	}
	if len(strings.Fields(cat.Git("log", "-1", "--format=%P", ref))) != 2 {
		t.Error("she made no union")
	}
}

// Only what who commits here can do something about keeps a clone from being current.
func TestCurrent(t *testing.T) {
	ann, eve := "Ann <ann@example.org>", "Eve <eve@example.com>"
	for _, c := range []struct {
		name  string
		unfit []share.Unfit
		want  bool
	}{
		{"nothing", nil, true},
		{"nobody's", []share.Unfit{{Reason: "it has too many bytes"}}, false},
		{"one's own", []share.Unfit{{Who: ann}}, false},
		{"another's", []share.Unfit{{Who: eve}}, true},
		{"both", []share.Unfit{{Who: eve}, {Who: ann}}, false},
	} {
		st := share.Standing{Known: true, Who: ann, Unfit: c.unfit, Size: share.Size{Budget: 1}}
		if got := st.Current(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
