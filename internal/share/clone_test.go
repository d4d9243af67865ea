package share_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/store"
	"ken/internal/store/local"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
	"ken/internal/testrepo"
)

func TestMain(m *testing.M) {
	restore := testrepo.Isolate()
	code := m.Run()
	restore()
	os.Exit(code)
}

// A clone is a clone of the remote with its own store.
type clone struct {
	*testrepo.Repo
	t      testing.TB
	store  *sqlite.Store
	policy share.Policy
	log    string // a log of the contacts with origin
	// stateFile says how far the clone has read the records of remotes.
	stateFile local.ShareFile
}

// forget makes the next command read all records again.
func (c *clone) forget() {
	c.t.Helper()
	if err := c.stateFile.Remove(); err != nil {
		c.t.Fatal(err)
	}
}

// newRemote returns a bare repository with one commit.
func newRemote(t testing.TB, opts ...testrepo.Option) *testrepo.Repo {
	t.Helper()
	seed := testrepo.New(t, opts...)
	seed.Write("a.txt", "a\n")
	seed.Commit("first")
	remote := seed.Clone("--bare")
	// Otherwise git would run gc after some pushes.
	remote.Git("config", "gc.auto", "0")
	remote.Git("config", "pack.window", "0")
	return remote
}

// newStore returns an empty store.
func newStore(t testing.TB) *sqlite.Store {
	t.Helper()
	s := sqlite.Open(sqlite.InMemory, sqlite.Options{})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newClone(t testing.TB, remote *testrepo.Repo, args ...string) *clone {
	t.Helper()
	c := &clone{Repo: remote.Clone(args...), t: t, store: newStore(t), log: filepath.Join(t.TempDir(), "log"), stateFile: local.OpenShareFile(t.TempDir())}
	c.Git("config", "remote.origin.uploadpack", "echo fetch >>'"+c.log+"'; git-upload-pack")
	c.Git("config", "remote.origin.receivepack", "echo push >>'"+c.log+"'; git-receive-pack")
	return c
}

// contacts counts how often git fetched from and pushed to origin since the last call.
func (c *clone) contacts() (fetches, pushes int) {
	c.t.Helper()
	b, err := os.ReadFile(c.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatalf("read the log of git's contacts: %v", err)
	}
	os.Remove(c.log)
	return strings.Count(string(b), "fetch\n"), strings.Count(string(b), "push\n")
}

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func (c *clone) share() *share.Share {
	c.t.Helper()
	g, _, err := git.OpenAllowBare(c.t.Context(), c.Dir)
	if err != nil {
		c.t.Fatal(err)
	}
	return share.New(g, c.store, c.stateFile, share.Options{
		Policy: c.policy, Now: func() time.Time { return now },
		Wait: func(ctx context.Context, tries int) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(rand.N(5<<min(tries, 6))) * time.Millisecond):
				return nil
			}
		},
	})
}

// know stores records with these texts.
func (c *clone) know(texts ...string) {
	c.t.Helper()
	for _, text := range texts {
		r := storetest.Record("about "+text, text, len(text))
		r.Path = repo.Path(text)
		storetest.AddRecords(c.t, c.store, file(r))
	}
}

func (c *clone) push(opts ...share.PushOptions) *share.PushResult {
	c.t.Helper()
	out, err := c.share().Push(c.t.Context(), append(opts, share.PushOptions{})[0])
	if err != nil {
		c.t.Fatalf("Push returned the error %v", err)
	}
	return out
}

func (c *clone) pull() *share.PullResult {
	c.t.Helper()
	out, err := c.share().Pull(c.t.Context(), "")
	if err != nil {
		c.t.Fatalf("Pull returned the error %v", err)
	}
	return out
}

func (c *clone) status() *share.Status {
	c.t.Helper()
	out, err := c.share().Status(c.t.Context(), "", true)
	if err != nil {
		c.t.Fatalf("Status returned the error %v", err)
	}
	return out
}

// knows returns the records of a clone as one text.
func (c *clone) knows() string {
	c.t.Helper()
	all, _ := storetest.Since(c.t, c.store, "", 1000)
	var texts []string
	for _, r := range all {
		texts = append(texts, share.NameOf(share.Encode(r)).String())
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

// records lists the names of the records in a commit.
func records(r *testrepo.Repo, ref string) []string {
	out, err := r.Try("ls-tree", "-r", "--name-only", ref, "records/")
	if err != nil {
		return nil
	}
	return strings.Fields(out)
}

const (
	ref    = "refs/ken/knowledge"
	merged = "refs/ken/remotes/origin/merged"
)

func wantCounts(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// A fullStore rejects new records.
type fullStore struct{ *sqlite.Store }

func (fullStore) AddRecords(context.Context, []store.Record) error {
	return errors.New("no space left on device")
}

// A pull that the store rejects does not move the mark: the next pull tries the records again.
func TestNoRoomHere(t *testing.T) {
	remote := newRemote(t)
	ann, bob := newClone(t, remote), newClone(t, remote)
	ann.know("a")
	ann.push()
	g, _, err := git.OpenAllowBare(t.Context(), bob.Dir)
	if err != nil {
		t.Fatal(err)
	}
	full := share.New(g, fullStore{bob.store}, bob.stateFile, share.Options{Now: func() time.Time { return now }})
	if out, err := full.Pull(t.Context(), ""); err == nil {
		t.Errorf("%d were taken over without room for any", out.Taken)
	}
	wantCounts(t, "taken once there is room", bob.pull().Taken, 1)
	if bob.knows() != ann.knows() {
		t.Error("they do not know the same")
	}
}

// One clone pushes, the other pulls, and the other way round. A push without new records contacts the remote once,
// and not at all if OnlyIfNew is set.
func TestPushAndPull(t *testing.T) {
	for _, opts := range [][]testrepo.Option{nil, {testrepo.SHA256}} {
		t.Run(fmt.Sprint(opts), func(t *testing.T) {
			remote := newRemote(t, opts...)
			a, b := newClone(t, remote), newClone(t, remote)
			if out := b.pull(); !out.Tip.IsZero() || out.Taken != 0 {
				t.Errorf("pull from a remote without records: %+v", out)
			}
			if st := b.status(); !st.Current() {
				t.Errorf("status of a clone without records should be current: %+v", st)
			}
			a.know("one", "two", "three")
			if st := a.status(); st.Unpushed != 3 || st.Current() || st.Size.Records != 0 {
				t.Errorf("status before the first push: %+v", st)
			}
			if out := a.push(share.PushOptions{DryRun: true}); out.Records != 3 || records(remote, ref) != nil {
				t.Errorf("dry run: %+v", out)
			}
			wantCounts(t, "pushed", a.push().Records, 3)
			wantCounts(t, "pulled", b.pull().Taken, 3)
			if a.knows() != b.knows() {
				t.Errorf("the clones differ:\n%s\nand\n%s", a.knows(), b.knows())
			}
			b.know("four")
			b.contacts()
			out := b.push()
			wantCounts(t, "pushed back", out.Records, 1)
			wantCounts(t, "records", out.Size.Records, 4)
			if fetches, pushes := b.contacts(); fetches != 0 || pushes != 1 {
				t.Errorf("%d fetches and %d pushes; the first push should succeed without a fetch", fetches, pushes)
			}
			a.know("five")
			a.contacts()
			out = a.push()
			wantCounts(t, "pushed after another clone", out.Records, 1)
			wantCounts(t, "taken from that clone", out.Taken, 1)
			if fetches, pushes := a.contacts(); fetches != 1 || pushes != 2 {
				t.Errorf("%d fetches and %d pushes, want a push, a fetch and a push", fetches, pushes)
			}
			wantCounts(t, "pulled again", b.pull().Taken, 1)
			for _, c := range []*clone{a, b} {
				if st := c.status(); !st.Current() || st.Size.Records != 5 || st.Size.Bytes == 0 {
					t.Errorf("status at the end: %+v", st)
				}
				c.contacts()
				wantCounts(t, "pushed without new records", c.push().Records, 0)
				if fetches, pushes := c.contacts(); fetches != 1 || pushes != 0 {
					t.Errorf("%d fetches and %d pushes without new records, want one fetch", fetches, pushes)
				}
				wantCounts(t, "pushed unasked", c.push(share.PushOptions{OnlyIfNew: true}).Records, 0)
				if fetches, pushes := c.contacts(); fetches+pushes > 0 {
					t.Errorf("%d fetches and %d pushes of an unasked push without new records, want none", fetches, pushes)
				}
				if got := c.Git("status", "--porcelain"); got != "" {
					t.Errorf("git status: %s", got)
				}
				if got := c.Git("fsck", "--strict", "--no-dangling"); got != "" {
					t.Errorf("git fsck: %s", got)
				}
				if got := c.Git("for-each-ref", "--format=%(refname)", "refs/ken"); got != "refs/ken/remotes/origin/knowledge\n"+merged {
					t.Errorf("the refs are %s; want the fetched and the merged one", got)
				}
			}
			if a.knows() != b.knows() || a.Git("rev-parse", merged) != b.Git("rev-parse", merged) {
				t.Error("the clones differ at the end")
			}
			// A clone can lose its memory and its store.
			a.forget()
			if st := a.status(); !st.Current() && st.Unpulled != 0 || st.Size.Records != 5 {
				t.Errorf("status without a memory: %+v", st)
			}
			wantCounts(t, "pushed without a memory", a.push().Records, 0)
			before := b.knows()
			b.store = newStore(t)
			b.know("six")
			b.pull()
			wantCounts(t, "pushed from a new store", b.push().Records, 1)
			if got := b.knows(); len(strings.Fields(got)) != len(strings.Fields(before))+1 {
				t.Errorf("the new store has\n%s", got)
			}
		})
	}
}

// A push without new records and without contact does not change the time of the last contact.
func TestFetchedTime(t *testing.T) {
	c := newClone(t, newRemote(t))
	c.know("one")
	c.push()
	before := now
	now = now.Add(time.Hour)
	t.Cleanup(func() { now = before })
	fetched := func() time.Time {
		t.Helper()
		st, err := c.share().Status(t.Context(), "", false)
		if err != nil {
			t.Fatal(err)
		}
		return st.Fetched
	}
	c.push(share.PushOptions{OnlyIfNew: true})
	if got := fetched(); !got.Equal(before) {
		t.Errorf("fetched at %s, want the time of the last contact, %s", got, before)
	}
	c.push()
	if got := fetched(); !got.Equal(now) {
		t.Errorf("fetched at %s after a push that contacts the remote, want %s", got, now)
	}
}
