package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"ken/internal/registry"
	"ken/internal/repo"
)

func orient(t *testing.T, w *world, budget int) *registry.Orientation {
	t.Helper()
	o, err := w.registry().Orient(w.ctx, budget)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// briefed returns the state and path of every line after the headline.
func briefed(o *registry.Orientation) []string {
	list := []string{}
	for _, line := range strings.Split(strings.TrimSuffix(o.Brief, "\n"), "\n")[1:] {
		words := strings.Fields(line)
		list = append(list, words[0]+" "+words[1])
	}
	return list
}

// crowd returns a world with n described files, one of which was edited since.
func crowd(t *testing.T, n int) *world {
	t.Helper()
	w := newWorld(t)
	for i := range n {
		w.put(repo.Path(fmt.Sprintf("f%02d.go", i)), fmt.Sprint("content ", i))
	}
	w.put("undescribed.go", "x")
	w.commit()
	w.verify(t, registry.VerifyOptions{})
	for p := range w.index {
		if p != "undescribed.go" {
			w.describe(t, p)
		}
	}
	w.write(repo.Path(fmt.Sprintf("f%02d.go", n-1)), "edited")
	return w
}

func TestOrientTellsFirstWhatDoesNotHold(t *testing.T) {
	w := crowd(t, 3)
	o := orient(t, w, 0)
	same(t, "lines", briefed(o), []string{"stale f02.go", "fresh f00.go", "fresh f01.go"})
	if o.State != registry.StateVerify || o.Head != w.head || o.LastVerified != w.head || o.Truncated || o.LeftOut != 0 {
		t.Errorf("%+v", o)
	}
	same(t, "counts", o.Counts, registry.Counts{Files: 4, Match: 3, Mismatch: 1, Fresh: 2, Stale: 1, None: 1})
}

// No brief outgrows its budget, and what it leaves out it counts.
func TestOrientKeepsToItsBudget(t *testing.T) {
	w := crowd(t, 40)
	for budget := registry.MinBudget; budget < 600; budget += 7 {
		o := orient(t, w, budget)
		if o.Tokens > budget || len(o.Brief) > 4*budget {
			t.Errorf("budget %d: %d tokens, %d bytes", budget, o.Tokens, len(o.Brief))
		}
		lines := briefed(o)
		if len(lines)+o.LeftOut != 40 || o.Truncated != (o.LeftOut > 0) {
			t.Errorf("budget %d: %d lines and %d left out, of 40", budget, len(lines), o.LeftOut)
		}
		if len(lines) > 0 && lines[0] != "stale f39.go" {
			t.Errorf("budget %d begins with %s", budget, lines[0])
		}
	}
}

func TestOrientInAnEmptyRepository(t *testing.T) {
	o := orient(t, newWorld(t), 0)
	if o.State != registry.StateNew || len(briefed(o)) != 0 {
		t.Errorf("%+v", o)
	}
}

func TestShorten(t *testing.T) {
	texts := func() []registry.Knowledge {
		return []registry.Knowledge{
			{Text: strings.Repeat("a", 16)}, {Text: strings.Repeat("b", 30), Receipt: "r"}, {Text: strings.Repeat("c", 8)},
		}
	}
	for _, c := range []struct {
		budget, dropped int
		kept            string
	}{
		{0, 0, "abc"},
		{1, 3, ""},
		{4, 2, "a"},
		{6, 1, "ac"},
		{13, 1, "ab"},
		{14, 0, "abc"},
	} {
		known := texts()
		dropped := registry.Shorten(known, c.budget)
		kept := ""
		for _, k := range known {
			if k.Text != "" {
				kept += k.Text[:1]
			} else if len(k.Reasons) != 1 {
				t.Errorf("budget %d: a text left out without a word", c.budget)
			}
		}
		if dropped != c.dropped || kept != c.kept || known[1].Receipt != "r" {
			t.Errorf("budget %d: kept %q and dropped %d, want %q and %d", c.budget, kept, dropped, c.kept, c.dropped)
		}
	}
}

// What comes later does not slip in where something before it had no room.
func TestOrientLeavesOutFromTheEnd(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta", "c.go", "gamma")
	for p, text := range map[repo.Path]string{"a.go": "x", "b.go": strings.Repeat("x", 1000), "c.go": "x"} {
		w.tell(t, registry.Update{Path: p, Text: text})
	}
	o := orient(t, w, 100)
	same(t, "lines", briefed(o), []string{"fresh a.go"})
	if o.LeftOut != 2 || !o.Truncated {
		t.Errorf("%d left out", o.LeftOut)
	}
}
