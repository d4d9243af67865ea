package share_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/share"
)

// named sets the committer and the policy of a clone.
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
			t.Cleanup(func() { os.Setenv(v, old) }) //nolint:usetesting // it is restored
		}
	}
}

func signedOffBy(who ...string) []repo.Trailer {
	var list []repo.Trailer
	for _, w := range who {
		list = append(list, repo.Trailer{Key: "Signed-off-by", Value: w})
	}
	return list
}

var signedOff = share.Policy{Trust: share.SignedOff, Authors: []string{"*@example.org"}}

func TestTrusts(t *testing.T) {
	ann, bob := "Ann <ann@example.org>", "Bob <bob@example.com>"
	for _, c := range []struct {
		name   string
		policy share.Policy
		v      git.CommitInfo
		want   bool
	}{
		{"anyone", share.Policy{}, git.CommitInfo{Committer: bob}, true},
		{"an author", share.Policy{Authors: []string{"*@example.org"}}, git.CommitInfo{Committer: ann}, true},
		{"no author", share.Policy{Authors: []string{"*@example.org"}}, git.CommitInfo{Committer: bob}, false},
		{"refused", share.Policy{Refuse: []string{"bob@*"}}, git.CommitInfo{Committer: bob}, false},
		{"another is refused", share.Policy{Refuse: []string{"bob@*"}}, git.CommitInfo{Committer: ann}, true},
		{"refused, whoever signed", share.Policy{Trust: share.Signed, Refuse: []string{"bob@*"}}, git.CommitInfo{Committer: bob, Good: true, Signer: "ann@example.org"}, false},
		{"an author by name", share.Policy{Authors: []string{"Bob <*>"}}, git.CommitInfo{Committer: bob}, true},
		{"an address in a name", share.Policy{Authors: []string{"ann@example.org"}}, git.CommitInfo{Committer: "ann@example.org <bob@example.com>"}, false},
		{"signed off", share.Policy{Trust: share.SignedOff}, git.CommitInfo{Committer: ann, Trailers: signedOffBy(bob, ann)}, true},
		{"signed off by another", share.Policy{Trust: share.SignedOff}, git.CommitInfo{Committer: ann, Trailers: signedOffBy(bob)}, false},
		{"not signed off", share.Policy{Trust: share.SignedOff}, git.CommitInfo{Committer: ann}, false},
		{"signed off by no author", share.Policy{Trust: share.SignedOff, Authors: []string{"*@example.org"}}, git.CommitInfo{Committer: bob, Trailers: signedOffBy(bob)}, false},
		{"signed", share.Policy{Trust: share.Signed}, git.CommitInfo{Committer: bob, Good: true, Signer: "ann@example.org"}, true},
		{"not signed", share.Policy{Trust: share.Signed}, git.CommitInfo{Committer: bob, Trailers: signedOffBy(bob)}, false},
		{"signed by no author, whoever it says that it is", share.Policy{Trust: share.Signed, Authors: []string{"ann@*"}}, git.CommitInfo{Committer: ann, Good: true, Signer: "bob@example.com"}, false},
		{"nonsense", share.Policy{Trust: "blind"}, git.CommitInfo{Committer: ann, Good: true}, false},
	} {
		if why := c.policy.DistrustReason(c.v); (why == "") != c.want {
			t.Errorf("%s: the reason for distrust is %q; trusted should be %t", c.name, why, c.want)
		}
	}
}

// ken ignores records of untrusted committers, names the committers, and leaves the records in
// the ref. A change of the policy is enough to use them.
func TestSignedOff(t *testing.T) {
	who(t)
	remote := newRemote(t)
	ann := named(newClone(t, remote), "Ann", "ann@example.org", signedOff)
	eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
	bob := named(newClone(t, remote), "Bob", "bob@example.org", signedOff)
	ann.know("one")
	ann.push()
	eve.know("two", "three")
	eve.push()
	ann.know("four")
	ann.push() // on top of Eve's commit
	out := bob.pull()
	wantCounts(t, "taken", out.Taken, 2)
	wantCounts(t, "ignored", len(out.Untrusted), 2)
	for range 2 {
		st := bob.status()
		if len(st.Untrusted) != 2 || st.Untrusted[0].Committer != "Eve <eve@example.com>" || !strings.Contains(st.Untrusted[0].Reason, "signed off") || st.Size.Records != 2 {
			t.Errorf("status should name Eve for two records: %+v", st)
		}
		if !st.Current() {
			t.Errorf("a clone that ignores untrusted records should be current: %+v", st)
		}
		bob.forget()
	}
	bob.know("five")
	bob.push()
	wantCounts(t, "records of the remote", len(records(remote, ref)), 5)
	cat := named(newClone(t, remote), "Cat", "cat@example.org", signedOff)
	out = cat.pull()
	wantCounts(t, "taken", out.Taken, 3)
	wantCounts(t, "ignored", len(out.Untrusted), 2)
	// A prune by Eve does not count: the next push restores the records and their committers.
	eve.policy.Budget = 600
	if out := eve.push(share.PushOptions{Prune: true}); len(out.Dropped) == 0 {
		t.Error("Eve's prune removed nothing")
	}
	pulled := cat.pull()
	wantCounts(t, "pruned", pulled.Removed, 0)
	cat.push()
	wantCounts(t, "restored", len(records(remote, ref)), 5)
	out = named(newClone(t, remote), "Dan", "dan@example.org", signedOff).pull()
	wantCounts(t, "taken by a new clone", out.Taken, 3)
	wantCounts(t, "ignored by a new clone", len(out.Untrusted), 2)
	cat.policy = share.Policy{}
	wantCounts(t, "taken after a change of the policy", cat.pull().Taken, 2)
	wantCounts(t, "ignored after a change of the policy", len(cat.status().Untrusted), 0)
	wantCounts(t, "known", len(strings.Fields(cat.knows())), 5)
}

// A prune under a policy keeps the untrusted records, and keeps every committer.
func TestPruneKeepsUntrusted(t *testing.T) {
	who(t)
	remote := newRemote(t)
	policy := signedOff
	policy.Budget = 700
	ann := named(newClone(t, remote), "Ann", "ann@example.org", policy)
	eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
	bob := named(newClone(t, remote), "Bob", "bob@example.org", policy)
	eve.know("of eve")
	eve.push()
	ann.pull()
	ann.know("one", "two", "three", "four")
	ann.push()
	dan := named(newClone(t, remote), "Dan", "dan@example.org", policy)
	wantCounts(t, "taken by Dan", dan.pull().Taken, 4)
	removed := 0
	for _, dry := range []bool{true, false} {
		out := ann.push(share.PushOptions{Prune: true, DryRun: dry})
		if len(out.Dropped) == 0 || out.Ignored != 1 || out.Size.Exceeded() {
			t.Errorf("prune with dry run %v: %+v", dry, out)
		}
		removed = len(out.Dropped)
	}
	left := len(records(remote, ref))
	wantCounts(t, "records after the prune", left, 5-removed)
	out := bob.pull()
	wantCounts(t, "ignored", len(out.Untrusted), 1)
	wantCounts(t, "taken", out.Taken, left-1)
	wantCounts(t, "taken by a clone that trusts anyone", newClone(t, remote).pull().Taken, left)
	wantCounts(t, "pruned, as Dan sees it", dan.pull().Removed, removed)
	dan.know("of dan")
	dan.push()
	wantCounts(t, "records after Dan's push", len(records(remote, ref)), left+1)
	wantCounts(t, "taken from Dan", bob.pull().Taken, 1)
	eve.know("more of eve")
	eve.push()
	wantCounts(t, "ignored again", len(bob.pull().Untrusted), 2)
	wantCounts(t, "records after Eve's push", len(records(remote, ref)), left+2)
	// The budget counts only records that this clone uses, and an untrusted committer cannot prune.
	carl := named(newClone(t, remote), "Carl", "carl@example.com", policy)
	carl.pull()
	carl.policy.Budget = 100
	_, err := carl.share().Push(t.Context(), share.PushOptions{Prune: true})
	if err == nil || !strings.Contains(err.Error(), "does not trust you (Carl <carl@example.com>) to prune: committer not in share.authors") || fault.HintOf(err) == "" {
		t.Errorf("a prune by an untrusted committer: %v", err)
	}
}

// sshKey creates a key, and returns its file and the public key.
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

// After the user trusts a key, the next pull takes over the records that it signed.
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
	wantCounts(t, "ignored", len(out.Untrusted), 2)
	wantCounts(t, "taken", out.Taken, 0)
	wantCounts(t, "ignored still", len(bob.pull().Untrusted), 2)
	if reason := bob.status().Untrusted[0].Reason; reason != share.Unverified {
		t.Errorf("the reason is %q; want %q", reason, share.Unverified)
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
		wantCounts(t, "ignored by status", len(st.Untrusted), 2-want)
		wantCounts(t, "taken", bob.pull().Taken, want)
		wantCounts(t, "known", len(strings.Fields(bob.knows())), want)
	}
	wantCounts(t, "taken again", bob.pull().Taken, 0)
	// Another policy that trusts the same records takes over nothing.
	bob.policy = share.Policy{}
	wantCounts(t, "taken by another policy", bob.pull().Taken, 0)
	if st := bob.status(); !st.Current() || len(st.Untrusted) > 0 {
		t.Errorf("the status is %+v; want it current, with nothing untrusted", st)
	}
}

// ken signs its commits if git is configured to, and trusts only good signatures.
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
	if out := ann.Git("verify-commit", "--raw", merged); strings.Contains(out, "BAD") {
		t.Errorf("git verify-commit found a bad signature:\n%s", out)
	}
	eve.know("three")
	eve.push()
	out := bob.pull()
	wantCounts(t, "taken", out.Taken, 2)
	wantCounts(t, "ignored", len(out.Untrusted), 1)
	bob.know("four")
	if _, err := bob.share().Push(t.Context(), share.PushOptions{}); err == nil || fault.HintOf(err) != "git config commit.gpgSign true" {
		t.Errorf("Push without a signature returned the error %v; want a hint to sign commits", err)
	}
	// A merge does not change the committer of any file, signed or not.
	first := remote.Git("rev-parse", ref)
	ann.pull()
	ann.know("five")
	ann.push()
	remote.Git("update-ref", ref, first)
	eve.forget()
	eve.Git("update-ref", "-d", merged)
	eve.know("six")
	eve.push()
	ann.push()
	parents := strings.Fields(remote.Git("log", "-1", "--format=%P", ref))
	wantCounts(t, "parents of the merge", len(parents), 2)
	bob.pull()
	wantCounts(t, "ignored", len(bob.status().Untrusted), 2)
	wantCounts(t, "known", len(strings.Fields(bob.knows())), 4)
}
