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

// clones makes many clones of one remote. They share its objects, which is faster.
func clones(t testing.TB, remote *testrepo.Repo, n int) []*clone {
	t.Helper()
	list := make([]*clone, n)
	for i := range list {
		list[i] = newClone(t, remote, "--shared")
	}
	return list
}

// seeded returns random numbers, and logs the seed.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	n := rand.Uint64()
	t.Logf("seed %d", n)
	return rand.New(rand.NewPCG(n, 0))
}

// Clones that push and pull in any order end with the same records.
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
				t.Errorf("clone %d has other records", i)
			}
			if got := c.Git("status", "--porcelain"); got != "" {
				t.Errorf("git status of clone %d: %s", i, got)
			}
		})
	}
}

// Clones that push at the same time all succeed.
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
			t.Errorf("clone %d returned the error %v", i, err)
		}
	}
	wantCounts(t, "files", len(records(remote, ref)), 12)
	// So do two processes of one clone.
	c := all[0]
	c.pull()
	c.know("more")
	a, b := c.share(), c.share()
	wg.Go(func() { _, errs[0] = a.Push(t.Context(), share.PushOptions{}) })
	wg.Go(func() { _, errs[1] = b.Push(t.Context(), share.PushOptions{}) })
	wg.Wait()
	if errs[0] != nil || errs[1] != nil {
		t.Errorf("two pushes at once returned the errors %v, %v", errs[0], errs[1])
	}
	wantCounts(t, "files", len(records(remote, ref)), 13)
	c.pull()
	if st := c.status(); !st.Current() || st.Size.Records != 13 {
		t.Errorf("the status is %+v; want it current, with 13 records", st)
	}
}

// A pruned record does not come back, all clones agree, and no other record is lost.
func TestPrunedStaysPruned(t *testing.T) {
	rounds, steps := 3, 25
	if testing.Short() {
		rounds, steps = 1, 6
	}
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			remote := newRemote(t)
			rnd := seeded(t)
			all := clones(t, remote, 4)
			gone := make(map[string]bool)
			prune := func(c *clone, budget int) {
				c.policy.Budget = share.Bytes(budget)
				for _, d := range c.push(share.PushOptions{Prune: true}).Dropped {
					gone[d.Name.Path().String()] = true
				}
				c.policy.Budget = 0
			}
			all[0].know("1", "22", "333", "4444")
			for _, c := range all {
				c.push()
				c.pull()
			}
			prune(all[0], 800)
			prune(all[1], 500)
			if len(gone) < 2 {
				t.Errorf("the prunes removed %d records, want at least 2", len(gone))
			}
			for step := range steps {
				c := all[rnd.IntN(len(all))]
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
			for range 2 {
				for _, c := range all {
					c.push()
					c.pull()
				}
			}
			want := records(remote, ref)
			for _, path := range want {
				if gone[path] {
					t.Errorf("pruned record %s came back", path)
				}
			}
			for _, c := range all {
				if got := records(c.Repo, merged); !slices.Equal(got, want) {
					t.Errorf("%s has %d of %d records", c.Dir, len(got), len(want))
				}
				if st := c.status(); st.Unpushed+st.Unpulled > 0 || len(st.Quarantined) > 0 || st.Size.Records != len(want) {
					t.Errorf("status %+v, want %d records", st, len(want))
				}
				for _, name := range strings.Fields(c.knows()) {
					path := "records/" + name[:2] + "/" + name[2:]
					if !gone[path] && !slices.Contains(want, path) {
						t.Errorf("record %s is lost, and nobody pruned it", path)
					}
				}
			}
			if out := remote.Git("fsck", "--strict"); strings.Contains(out, "error") {
				t.Errorf("git fsck found errors:\n%s", out)
			}
		})
	}
}

// A remote that loses records without a prune gets them back by the next push of a clone that
// has them, under the committers they had. Pulls before that push change nothing.
func TestRestore(t *testing.T) {
	who(t)
	mischief := map[string]func(remote *testrepo.Repo, first string){
		"set back": func(remote *testrepo.Repo, first string) { remote.Git("update-ref", ref, first) },
		"deleted record": func(remote *testrepo.Repo, _ string) {
			pushFiles(t, remote, map[string]string{records(remote, ref)[0]: ""})
		},
		"new history": func(remote *testrepo.Repo, _ string) {
			eve := named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{})
			eve.Git("fetch", "--quiet", "origin", ref)
			root := eve.Git("commit-tree", "-m", "new", "FETCH_HEAD^{tree}")
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
			one := ann.Git("rev-parse", merged)
			for range 2 {
				ann.pull()
				if got := ann.Git("rev-parse", merged); got != one {
					t.Errorf("a second pull moved the ref from %s to %s", one, got)
				}
				if st := ann.status(); st.Size.Records != 2 || len(st.Untrusted) != 1 || st.Unpushed != 3-len(records(remote, ref)) || len(st.Quarantined) > 0 {
					t.Errorf("status before the push: %+v", st)
				}
			}
			missing := 3 - len(records(remote, ref))
			out := ann.push()
			if out.Records != missing || out.Ignored != 1 || out.Size.Records != 2 || remote.Git("rev-parse", ref) != one {
				t.Errorf("push of %d missing records: %+v", missing, out)
			}
			bob := named(newClone(t, remote), "Bob", "bob@example.org", signedOff).pull()
			wantCounts(t, "taken by a new clone", bob.Taken, 2)
			wantCounts(t, "ignored by a new clone", len(bob.Untrusted), 1)
		})
	}
}

// Another clone can push to refs/ken/knowledge of a clone. The next pull or push merges it.
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
