package share_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ken/internal/share"
	"ken/internal/store"
	"ken/internal/store/storetest"
)

// Clones with different policies push, pull and prune in any order, and someone sets the remote
// back. No record is lost once every clone has pushed, and no clone takes over a record that only
// untrusted committers committed.
func TestNothingLost(t *testing.T) {
	who(t)
	runs := []struct {
		seed uint64
		acts int // kinds of acts
	}{{0, 7}, {29, 7}, {10, 8}} // these seeds found bugs
	if testing.Short() {
		runs = runs[:1]
	}
	for _, run := range runs {
		t.Run(fmt.Sprint(run.seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(run.seed, 7))
			remote := newRemote(t)
			strict := signedOff
			clones := []*clone{
				named(newClone(t, remote), "Ann", "ann@example.org", strict),
				named(newClone(t, remote), "Bob", "bob@example.org", strict),
				named(newClone(t, remote), "Eve", "eve@example.com", share.Policy{}),
				named(newClone(t, remote), "Carl", "carl@example.com", strict),
			}
			all := 0
			trusted := make(map[string]bool)
			var log, tips []string
			for i := range 30 {
				k := r.IntN(len(clones))
				c := clones[k]
				act := r.IntN(run.acts)
				log = append(log, fmt.Sprint(k, ".", act))
				switch act {
				case 0, 1, 2:
					c.know(fmt.Sprintf("%s %d", c.Git("config", "user.name"), i))
					c.push()
					all++
					if k < 2 {
						list := everything(t, c)
						trusted[share.NameOf(share.Encode(list[len(list)-1])).Path().String()] = true
					}
				case 3, 4:
					c.pull()
				case 5:
					if len(records(remote, ref)) > 0 {
						pushFiles(t, remote, map[string]string{fmt.Sprint("junk", i): "junk"})
						c.pull()
						if k == 3 {
							if _, err := c.share().Push(t.Context(), share.PushOptions{Prune: true}); err == nil || !strings.Contains(err.Error(), "does not trust you") {
								t.Errorf("a prune by an untrusted committer: %v", err)
							}
							break
						}
						c.push(share.PushOptions{Prune: true})
					}
				case 6:
					c.forget()
				case 7:
					if len(tips) > 0 {
						remote.Git("update-ref", ref, tips[r.IntN(len(tips))])
						c.pull()
						for _, c := range clones {
							c.push()
						}
					}
				}
				if tip, err := remote.Try("rev-parse", ref); err == nil {
					tips = append(tips, strings.TrimSpace(tip))
				}
				if got := len(records(remote, ref)); got != all {
					t.Fatalf("%v: the remote has %d of %d records", log, got, all)
				}
			}
			honest := func(c *clone) {
				for _, rec := range everything(t, c) {
					if p := string(rec.Path()); strings.HasPrefix(p, "Eve") || strings.HasPrefix(p, "Carl") {
						t.Errorf("%v: an honest clone has the record of %s", log, p)
					}
				}
			}
			for _, c := range clones[:2] {
				c.pull()
				for _, h := range c.status().Untrusted {
					if strings.Contains(h.Committer, "example.org") {
						t.Errorf("%v: an honest commit is not trusted: %+v", log, h)
					}
				}
				honest(c)
			}
			for _, c := range clones[:2] {
				c.push()
			}
			dan := named(newClone(t, remote), "Dan", "dan@example.org", strict)
			dan.pull()
			honest(dan)
			for _, h := range dan.status().Untrusted {
				if trusted[h.Name.Path().String()] {
					t.Errorf("%v: the record of a trusted committer is ignored, and blamed on %s", log, h.Committer)
				}
			}
			clones[2].pull()
			if got := len(everything(t, clones[2])); got != all {
				t.Errorf("%v: Eve has %d of %d", log, got, all)
			}
		})
	}
}

func everything(t *testing.T, c *clone) []store.Record {
	t.Helper()
	all, _ := storetest.Since(t, c.store, "", 1000)
	return all
}
