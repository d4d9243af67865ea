package registry_test

import (
	"testing"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

func needed(c *registry.CloseResult) []string {
	list := []string{}
	for _, n := range c.NeedsSummary {
		list = append(list, n.Summary.String()+" "+n.Path)
	}
	return list
}

func results(c *registry.CloseResult) []string {
	list := []string{}
	for _, u := range c.Updated {
		list = append(list, string(u.Result)+" "+u.Path)
	}
	return list
}

func TestClose(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta", "c.go", "gamma", "d.go", "delta", "go.sum", "lock", "still.go", "still")
	w.describe(t, "a.go", "b.go")
	for _, p := range []repo.Path{"a.go", "b.go", "c.go", "go.sum"} {
		w.write(p, "later "+string(p))
	}
	w.remove("d.go")
	w.commitAll()

	c := w.close(t, registry.CloseOptions{Updates: []registry.Update{
		{Path: "nowhere", Text: "x"},
		{Path: "a.go", Text: "about later a", Read: blob("later a.go").String()},
	}})
	same(t, "updated", results(c), []string{"rejected nowhere", "stored a.go"})
	same(t, "needed", needed(c), []string{"stale b.go", "none c.go"})
	if n := c.NeedsSummary[0]; n.ID != blob("later b.go") || n.MD5 != digest("later b.go") {
		t.Errorf("the first file that needs a summary is %+v; want the current content of b.go", n)
	}
	if c.Commit != w.head || c.LastVerified != w.head || c.Unknown != "" {
		t.Errorf("Close returned %+v", c)
	}
	same(t, "counts", c.Counts, registry.Counts{Files: 5, Match: 2, Mismatch: 3, Missing: 1, Fresh: 1, Stale: 1, None: 2, Excluded: 1})
	entered(t, w.status(t, registry.VerifyOptions{}), registry.StateTrust)
}

// A commit of another author in between is verified before it becomes the last verified one.
func TestCloseVerifiesOtherCommits(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.describe(t, "b.go")
	w.put("b.go", "theirs")
	w.commit()
	w.put("a.go", "ours")
	w.commit()
	c := w.close(t, registry.CloseOptions{})
	same(t, "needed, of what was touched", needed(c), []string{"none a.go"})
	if c.Counts.Mismatch != 2 || c.Counts.Stale != 1 {
		t.Errorf("the counts are %+v", c.Counts)
	}
}

func TestCloseByPathsAndByCommit(t *testing.T) {
	at := func() (w *fakeRepo, work repo.ID) {
		w = settled(t, "a.go", "alpha", "b.go", "beta")
		w.put("a.go", "other")
		w.commit()
		work = w.head
		w.put("b.go", "other b")
		w.commit()
		return w, work
	}
	w, work := at() // ids do not depend on the time
	for name, c := range map[string]struct {
		opts   registry.CloseOptions
		commit repo.ID
		want   []string
	}{
		"HEAD":      {registry.CloseOptions{}, w.head, []string{"none b.go"}},
		"a commit":  {registry.CloseOptions{Rev: work.String()}, work, []string{"none a.go"}},
		"paths":     {registry.CloseOptions{Paths: []repo.Path{"b.go", "a.go", "nowhere"}}, w.head, []string{"none b.go", "none a.go"}},
		"no paths":  {registry.CloseOptions{Paths: []repo.Path{}}, w.head, []string{}},
		"all known": {registry.CloseOptions{Paths: []repo.Path{"a.go"}, Updates: []registry.Update{{Path: "a.go", Text: "x"}}}, w.head, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := at()
			got := w.close(t, c.opts)
			same(t, "needed", needed(got), c.want)
			if got.Commit != c.commit || got.LastVerified != w.head {
				t.Errorf("commit %s, verified %s", got.Commit, got.LastVerified)
			}
		})
	}
}

func TestCloseWhereGitCannotTell(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.shallow = true
	c := w.close(t, registry.CloseOptions{Updates: []registry.Update{
		{Path: "a.go", Text: "about a"}, {Path: "b.go", Keep: true}, {Path: "../x", Text: "x", Refused: "outside"},
	}})
	if c.Unknown == "" || c.Commit != w.head {
		t.Errorf("Close returned %+v", c)
	}
	same(t, "updated", results(c), []string{"stored a.go", "rejected b.go", "rejected ../x"})
	same(t, "needed", needed(c), []string{"none b.go"})
	if verdictOf(t, w, "a.go") != fresh.Fresh {
		t.Error("the text was not stored")
	}
	for name, opts := range map[string]registry.CloseOptions{
		"nothing to keep":    {},
		"a commit was named": {Rev: w.head.String(), Updates: []registry.Update{{Path: "a.go", Text: "x"}}},
	} {
		if _, err := w.registry().Close(w.ctx, opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
