package share_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/fault"
	"ken/internal/share"
)

// named gives a clone somebody who commits in it.
func named(c *clone, name, email string, p share.Policy) *clone {
	c.t.Helper()
	c.Git("config", "user.name", name)
	c.Git("config", "user.email", email)
	c.policy = p
	return c
}

func who(t *testing.T) {
	t.Helper()
	for _, v := range []string{"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"} {
		if old, ok := os.LookupEnv(v); ok {
			os.Unsetenv(v)
			t.Cleanup(func() { os.Setenv(v, old) }) //nolint:usetesting // it is put back
		}
	}
}

func TestTrusts(t *testing.T) {
	ann, bob := "Ann <ann@example.org>", "Bob <bob@example.com>"
	for _, c := range []struct {
		name   string
		policy share.Policy
		v      share.Voucher
		want   bool
	}{
		{"anyone", share.Policy{}, share.Voucher{Committer: bob}, true},
		{"an author", share.Policy{Authors: []string{"*@example.org"}}, share.Voucher{Committer: ann}, true},
		{"no author", share.Policy{Authors: []string{"*@example.org"}}, share.Voucher{Committer: bob}, false},
		{"an author by name", share.Policy{Authors: []string{"Bob <*>"}}, share.Voucher{Committer: bob}, true},
		{"an address in a name", share.Policy{Authors: []string{"ann@example.org"}}, share.Voucher{Committer: "ann@example.org <bob@example.com>"}, false},
		{"signed off", share.Policy{Trust: share.SignedOff}, share.Voucher{Committer: ann, SignedOff: []string{bob, ann}}, true},
		{"signed off by another", share.Policy{Trust: share.SignedOff}, share.Voucher{Committer: ann, SignedOff: []string{bob}}, false},
		{"not signed off", share.Policy{Trust: share.SignedOff}, share.Voucher{Committer: ann}, false},
		{"signed off by no author", share.Policy{Trust: share.SignedOff, Authors: []string{"*@example.org"}}, share.Voucher{Committer: bob, SignedOff: []string{bob}}, false},
		{"signed", share.Policy{Trust: share.Signed}, share.Voucher{Committer: bob, Good: true, Signer: "ann@example.org"}, true},
		{"not signed", share.Policy{Trust: share.Signed}, share.Voucher{Committer: bob, SignedOff: []string{bob}}, false},
		{"signed by no author, whoever it says that it is", share.Policy{Trust: share.Signed, Authors: []string{"ann@*"}}, share.Voucher{Committer: ann, Good: true, Signer: "bob@example.com"}, false},
		{"nonsense", share.Policy{Trust: "blind"}, share.Voucher{Committer: ann, Good: true}, false},
	} {
		if why := c.policy.Trusts(c.v); (why == "") != c.want {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}

// What nobody who is trusted has shared is held back, and told by whom; a change of the
// policy is enough to have it.
func TestSignedOff(t *testing.T) {
	who(t)
	remote := newRemote(t)
	policy := share.Policy{Trust: share.SignedOff, Authors: []string{"*@example.org"}}
	ann := named(newClone(t, remote), "Ann", "ann@example.org", policy)
	eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
	bob := named(newClone(t, remote), "Bob", "bob@example.org", policy)
	ann.know("one")
	ann.push()
	eve.know("two", "three")
	eve.push()
	ann.know("four")
	ann.push() // on top of Eve's
	out := bob.pull()
	wantCounts(t, "taken", out.Taken, 2)
	wantCounts(t, "held", len(out.Held), 2)
	for range 2 {
		st := bob.status()
		if len(st.Held) != 2 || st.Held[0].Who != "Eve <eve@example.com>" || !strings.Contains(st.Held[0].Reason, "signed off") || st.Size.Records != 4 {
			t.Errorf("%+v", st)
		}
		if !st.Current() {
			t.Errorf("to hold something back is no fault: %+v", st)
		}
		bob.memories.m = share.Memory{}
	}
	// Eve's are still there for whoever trusts her, and a union does not vouch for them.
	bob.know("five")
	bob.push()
	wantCounts(t, "in the ledger", len(records(remote, ref)), 5)
	cat := named(newClone(t, remote), "Cat", "cat@example.org", policy)
	out = cat.pull()
	wantCounts(t, "taken", out.Taken, 3)
	wantCounts(t, "held", len(out.Held), 2)
	// Nor does a list of what is to be dropped count that nobody trusted has made.
	eve.policy.Budget = 600
	if out := eve.push(share.PushOptions{Prune: true}); len(out.Dropped) == 0 {
		t.Error("nothing was dropped")
	}
	cat.pull()
	if st := cat.status(); st.Epoch != 0 || len(st.Quarantined) != 1 || !strings.Contains(st.Quarantined[0].Reason, "Eve") {
		t.Errorf("%+v", st)
	}
	cat.push()
	wantCounts(t, "put back", len(records(remote, ref)), 5)
	// Whoever changes their mind has it all, that list included.
	cat.policy = share.Policy{}
	cat.pull()
	if st := cat.status(); st.Epoch != 1 || len(st.Held)+len(st.Quarantined) > 0 {
		t.Errorf("%+v", st)
	}
	wantCounts(t, "known", len(strings.Fields(cat.knows())), 4)
}

// A new epoch takes along what is held back where it is made, and vouches for none of it:
// it is there for those who trust who brought it.
func TestEpochVouches(t *testing.T) {
	who(t)
	remote := newRemote(t)
	policy := share.Policy{Trust: share.SignedOff, Authors: []string{"*@example.org"}, Budget: 900}
	ann := named(newClone(t, remote), "Ann", "ann@example.org", policy)
	eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
	bob := named(newClone(t, remote), "Bob", "bob@example.org", policy)
	eve.know("of eve")
	eve.push()
	dan := named(newClone(t, remote), "Dan", "dan@example.org", policy)
	wantCounts(t, "held by Dan", len(dan.pull().Held), 1)
	ann.pull()
	ann.know("one", "two", "three", "four")
	for _, dry := range []bool{true, false} {
		out := ann.push(share.PushOptions{Prune: true, DryRun: dry})
		if len(out.Dropped) == 0 || out.Held != 1 || out.Size.Over() {
			t.Errorf("dry %v: %+v", dry, out)
		}
	}
	left := len(records(remote, ref))
	out := bob.pull()
	wantCounts(t, "held", len(out.Held), 1)
	wantCounts(t, "taken", out.Taken, left-1)
	wantCounts(t, "taken by one who trusts everybody", newClone(t, remote).pull().Taken, left)
	// Dan brings Eve's along as what it is.
	dan.know("of dan")
	dan.push()
	wantCounts(t, "in the ledger", len(records(remote, ref)), left+1)
	wantCounts(t, "taken from Dan", bob.pull().Taken, 1)
	// Eve brings another, and is still not trusted.
	eve.know("more of eve")
	eve.push()
	wantCounts(t, "held again", len(bob.pull().Withheld), 2)
}

// sshKey makes a key, and returns its file and its public half.
func sshKey(t *testing.T, name string) (file, public string) {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Fatalf("these tests need ssh-keygen (Debian: apt install openssh-client): %v", err)
	}
	file = filepath.Join(t.TempDir(), name)
	if out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	b, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return file, strings.TrimSpace(string(b))
}

// A key that is added afterwards is enough: what was held back for want of it is looked at
// again, and only that counts as taken.
func TestKeyAddedLater(t *testing.T) {
	who(t)
	remote := newRemote(t)
	key, public := sshKey(t, "ann")
	signers := filepath.Join(t.TempDir(), "signers")
	ann := named(newClone(t, remote), "Ann", "ann@example.org", share.Policy{})
	for k, v := range map[string]string{"gpg.format": "ssh", "user.signingKey": key, "commit.gpgSign": "true"} {
		ann.Git("config", k, v)
	}
	ann.know("one", "two")
	ann.push()
	bob := named(newClone(t, remote), "Bob", "bob@example.org", share.Policy{Trust: share.Signed})
	out := bob.pull()
	wantCounts(t, "held", len(out.Held), 2)
	wantCounts(t, "taken", out.Taken, 0)
	wantCounts(t, "held still", len(bob.pull().Withheld), 2)
	if reason := bob.status().Held[0].Reason; reason != share.Unverified {
		t.Error(reason)
	}
	bob.Git("config", "gpg.ssh.allowedSignersFile", signers)
	for _, text := range []string{"", "ann@example.org " + public + "\n"} {
		if err := os.WriteFile(signers, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		want := 0
		if text != "" {
			want = 2
		}
		st := bob.status()
		wantCounts(t, "unpulled", st.Unpulled, want)
		wantCounts(t, "held by status", len(st.Held), 2-want)
		wantCounts(t, "taken", bob.pull().Taken, want)
		wantCounts(t, "known", len(strings.Fields(bob.knows())), want)
	}
	wantCounts(t, "taken again", bob.pull().Taken, 0)
	// Another policy that trusts the same takes over nothing that is here.
	bob.policy = share.Policy{}
	wantCounts(t, "taken by another policy", bob.pull().Taken, 0)
	if st := bob.status(); !st.Current() || len(st.Held) > 0 {
		t.Errorf("%+v", st)
	}
}

// Where commits are signed, so are those of a ledger, and only good signatures count.
func TestSigned(t *testing.T) {
	who(t)
	remote := newRemote(t)
	annKey, annPublic := sshKey(t, "ann")
	eveKey, _ := sshKey(t, "eve")
	signers := filepath.Join(t.TempDir(), "signers")
	if err := os.WriteFile(signers, fmt.Appendf(nil, "ann@example.org %s\n", annPublic), 0o644); err != nil {
		t.Fatal(err)
	}
	signs := func(c *clone, key string) *clone {
		for k, v := range map[string]string{"gpg.format": "ssh", "gpg.ssh.allowedSignersFile": signers, "user.signingKey": key, "commit.gpgSign": fmt.Sprint(key != "")} {
			c.Git("config", k, v)
		}
		return c
	}
	policy := share.Policy{Trust: share.Signed}
	ann := signs(named(newClone(t, remote), "Ann", "ann@example.org", policy), annKey)
	eve := signs(named(newClone(t, remote), "Ann", "ann@example.org", policy), eveKey)
	bob := signs(named(newClone(t, remote), "Bob", "bob@example.org", policy), "")
	ann.know("one", "two")
	ann.push()
	if out := ann.Git("verify-commit", "--raw", ref); strings.Contains(out, "BAD") {
		t.Error(out)
	}
	eve.know("three")
	eve.push()
	out := bob.pull()
	wantCounts(t, "taken", out.Taken, 2)
	wantCounts(t, "held", len(out.Held), 1)
	bob.know("four")
	if _, err := bob.share().Push(t.Context(), share.PushOptions{}); err == nil || fault.HintOf(err) != "git config commit.gpgSign true" {
		t.Errorf("unsigned: %v", err)
	}
	// A union of two that is signed holds nothing back that was not before.
	other := newRemote(t)
	ann.Git("remote", "add", "other", other.URL())
	ann.pull()
	ann.know("five")
	if _, err := ann.share().Push(t.Context(), share.PushOptions{Remote: "other"}); err != nil {
		t.Fatal(err)
	}
	eve.know("six")
	eve.push()
	ann.push()
	if parents := strings.Fields(ann.Git("log", "-1", "--format=%P", ref)); len(parents) != 2 {
		t.Errorf("%d parents", len(parents))
	}
	bob.pull()
	st := bob.status()
	wantCounts(t, "held", len(st.Held), 2)
	wantCounts(t, "known", len(strings.Fields(bob.knows())), 4)
}
