package share_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"ken/internal/share"
	"ken/internal/testrepo"
)

// clones makes many clones of one remote that share its objects, to be quick.
func clones(t testing.TB, remote *testrepo.Repo, n int) []*clone {
	t.Helper()
	list := make([]*clone, n)
	for i := range list {
		list[i] = newClone(t, remote, "--shared")
	}
	return list
}

// seeded returns a source of randomness that is told, so that a failure can be had again.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	n := rand.Uint64()
	t.Logf("seed %d", n)
	return rand.New(rand.NewPCG(n, 0))
}

// However many clones push and pull, in whatever order, all know the same in the end,
// and nobody has had a conflict.
func TestUnion(t *testing.T) {
	many, each := 8, 40
	if testing.Short() {
		many, each = 4, 10
	}
	remote := newRemote(t)
	rnd := seeded(t)
	all := clones(t, remote, many)
	left := make([]int, many)
	for i := range left {
		left[i] = each
	}
	for open := many; open > 0; {
		i := rnd.IntN(many)
		c := all[i]
		if left[i] == 0 {
			continue
		}
		for n := min(left[i], 1+each/3+rnd.IntN(each)); n > 0; n-- {
			c.know(fmt.Sprintf("%d of %d", left[i], i))
			left[i]--
		}
		if left[i] == 0 {
			open--
		}
		switch rnd.IntN(4) {
		case 0:
			c.pull()
		default:
			c.push()
		}
	}
	for _, i := range rnd.Perm(many) {
		all[i].push()
	}
	wantCounts(t, "files", len(records(remote, ref)), many*each)
	all[0].pull()
	want := all[0].knows()
	wantCounts(t, "records", strings.Count(want, "\n")+1, many*each)
	for _, i := range rnd.Perm(many) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c := all[i]
			c.t = t
			c.pull()
			if c.knows() != want {
				t.Errorf("clone %d knows something else", i)
			}
			if got := c.Git("status", "--porcelain"); got != "" {
				t.Errorf("git status of clone %d: %s", i, got)
			}
		})
	}
}

// Those who push at the same moment all get through.
func TestPushAtOnce(t *testing.T) {
	remote := newRemote(t)
	all := clones(t, remote, 6)
	var wg sync.WaitGroup
	errs := make([]error, len(all))
	for i, c := range all {
		c.know(fmt.Sprint("first of ", i), fmt.Sprint("second of ", i))
		s := c.share()
		wg.Go(func() { _, errs[i] = s.Push(t.Context(), share.PushOptions{}) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("clone %d: %v", i, err)
		}
	}
	wantCounts(t, "files", len(records(remote, ref)), 12)
	// So do two of one clone.
	c := all[0]
	c.pull()
	c.know("more")
	a, b := c.share(), c.share()
	wg.Go(func() { _, errs[0] = a.Push(t.Context(), share.PushOptions{}) })
	wg.Go(func() { _, errs[1] = b.Push(t.Context(), share.PushOptions{}) })
	wg.Wait()
	if errs[0] != nil || errs[1] != nil {
		t.Errorf("%v, %v", errs[0], errs[1])
	}
	wantCounts(t, "files", len(records(remote, ref)), 13)
	c.pull()
	if st := c.status(); !st.Current() || st.Size.Records != 13 {
		t.Errorf("%+v", st)
	}
}

// Whoever prunes, and whoever pushes before, between and after: what was dropped does
// not come back, all clones agree, and nothing else is lost.
func TestDroppedStaysDropped(t *testing.T) {
	rounds, steps := 3, 25
	if testing.Short() {
		rounds, steps = 1, 6
	}
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			remote := newRemote(t)
			rnd := seeded(t)
			all := clones(t, remote, 4)
			// A second remote, which knows of other prunings.
			other := remote.Clone("--bare")
			for _, c := range all {
				c.Git("remote", "add", "other", other.URL())
			}
			gone := make(map[string]bool)
			prune := func(c *clone, budget int) {
				c.policy.Budget = int64(budget)
				for _, d := range c.push(share.PushOptions{Prune: true}).Dropped {
					gone[d.Name.Path().String()] = true
				}
				c.policy.Budget = 0
			}
			// All have what two of them drop, each for itself.
			all[0].know("1", "22", "333", "4444")
			for _, c := range all {
				for _, c.policy.Remote = range []string{"origin", "other"} {
					c.push()
					c.pull()
				}
			}
			all[0].policy.Remote = "origin"
			prune(all[0], 800)
			prune(all[1], 500)
			if len(gone) < 2 {
				t.Errorf("%d were dropped", len(gone))
			}
			for step := range steps {
				c := all[rnd.IntN(len(all))]
				c.policy.Remote = []string{"origin", "other"}[rnd.IntN(2)]
				switch rnd.IntN(5) {
				case 0:
					c.pull()
				case 1:
					prune(c, 200+rnd.IntN(2000))
				default:
					for range 1 + rnd.IntN(3) {
						c.know(fmt.Sprintf("step %d %d", step, rnd.Uint64()))
					}
					c.push()
				}
			}
			// Everybody tells everybody.
			for range 2 {
				for _, c := range all {
					for _, c.policy.Remote = range []string{"origin", "other"} {
						c.push()
						c.pull()
					}
				}
			}
			want := records(remote, ref)
			for _, path := range want {
				if gone[path] {
					t.Errorf("%s came back", path)
				}
			}
			if got := records(other, ref); !slices.Equal(got, want) {
				t.Errorf("the remotes differ: %d and %d", len(got), len(want))
			}
			known := make(map[string]bool)
			for _, c := range all {
				if got := records(c.Repo, ref); !slices.Equal(got, want) {
					t.Errorf("%s has %d of %d", c.Dir, len(got), len(want))
				}
				for _, name := range strings.Fields(c.knows()) {
					known["records/"+name[:2]+"/"+name[2:]] = true
				}
				if st := c.status(); st.Unpushed+st.Unpulled > 0 || len(st.Quarantined) > 0 || st.Size.Records != len(want) {
					t.Errorf("%+v, want %d", st, len(want))
				}
			}
			for path := range known {
				if !gone[path] && !slices.Contains(want, path) {
					t.Errorf("%s was never dropped, and is lost", path)
				}
			}
			if out := remote.Git("fsck", "--strict"); strings.Contains(out, "error") {
				t.Error(out)
			}
		})
	}
}

// Two who prune without knowing of each other end in one epoch that has both lists, and
// stands on neither.
func TestPrunedApart(t *testing.T) {
	remote := newRemote(t)
	other := remote.Clone("--bare")
	a, b := newClone(t, remote), newClone(t, remote)
	for _, c := range []*clone{a, b} {
		c.Git("remote", "add", "other", other.URL())
	}
	at := func(c *clone, remote string) *clone { c.policy.Remote = remote; return c }
	a.know("1", "22", "333", "4444", "55555", "666666")
	at(a, "origin").push()
	at(a, "other").push()
	at(b, "other").pull()
	prune := func(c *clone, budget int64) int {
		c.policy.Budget = budget
		defer func() { c.policy.Budget = 0 }()
		return len(c.push(share.PushOptions{Prune: true}).Dropped)
	}
	wantCounts(t, "dropped by a", prune(at(a, "origin"), 1200), 2)
	wantCounts(t, "dropped by b", prune(at(b, "other"), 900), 3)
	a.know("of a")
	b.know("of b")
	at(b, "other").push()
	at(a, "other").push()
	wantCounts(t, "records", len(records(other, ref)), 5)
	if n := other.Git("rev-list", "--count", ref); n != "2" { // the new beginning, and what a has learned
		t.Errorf("it stands on %s commits", n)
	}
	for range 2 {
		for _, c := range []*clone{b, a} {
			for _, name := range []string{"origin", "other"} {
				at(c, name).push()
				at(c, name).pull()
			}
		}
	}
	for _, c := range []*clone{a, b} {
		if st := c.status(); st.Epoch != 2 || st.Size.Records != 5 || !st.Current() {
			t.Errorf("%+v", st)
		}
	}
	if !slices.Equal(records(remote, ref), records(other, ref)) {
		t.Error("the remotes differ")
	}
}

// A pull that has made the union of both once makes no other while nobody has pushed it; the
// next push hands that one over.
func TestOneUnion(t *testing.T) {
	who(t)
	mischief := map[string]func(remote *testrepo.Repo, first string){
		"set back": func(remote *testrepo.Repo, first string) { remote.Git("update-ref", ref, first) },
		"taken away": func(remote *testrepo.Repo, _ string) {
			vandal(t, remote, map[string]string{records(remote, ref)[0]: ""})
		},
		"begun anew": func(remote *testrepo.Repo, _ string) {
			eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
			eve.Git("fetch", "--quiet", "origin", ref)
			root := eve.Git("commit-tree", "-m", "anew", "FETCH_HEAD^{tree}")
			eve.Git("push", "--quiet", "--force", "origin", root+":"+ref)
		},
	}
	for what, do := range mischief {
		t.Run(what, func(t *testing.T) {
			remote := newRemote(t)
			eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
			eve.know("of eve")
			eve.push()
			ann := named(newClone(t, remote), "Ann", "ann@example.org", signedOff)
			ann.know("one")
			ann.push()
			first := remote.Git("rev-parse", ref)
			ann.know("two")
			ann.push()
			do(remote, first)
			ann.pull()
			one := ann.Git("rev-parse", ref)
			for range 2 {
				ann.pull()
				if got := ann.Git("rev-parse", ref); got != one {
					t.Errorf("a pull moved the tip from %s to %s", one, got)
				}
				if st := ann.status(); st.Size.Records != 3 || len(st.Held) != 1 || st.Unpushed != 3-len(records(remote, ref)) || len(st.Quarantined) > 0 {
					t.Errorf("%+v", st)
				}
			}
			missing := 3 - len(records(remote, ref))
			out := ann.push()
			if out.Records != missing || out.Held != 1 || out.Size.Records != 3 || remote.Git("rev-parse", ref) != one {
				t.Errorf("%+v", out)
			}
			bob := named(newClone(t, remote), "Bob", "bob@example.org", signedOff).pull()
			wantCounts(t, "taken by one that is new", bob.Taken, 2)
			wantCounts(t, "held by one that is new", len(bob.Held), 1)
		})
	}
}
