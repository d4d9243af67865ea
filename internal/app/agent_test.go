package app

import (
	"strings"
	"testing"
	"time"

	"ken/internal/agent"
	"ken/internal/content"
	"ken/internal/repo"
	"ken/internal/testrepo"
)

// An agent hears that the gate waits where that is known, and nothing of it where no
// listing was kept or the spec is not too far behind.
func TestAnAgentHearsOfTheGate(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	r.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\n")
	edit := func(n string) {
		r.Write("a.go", "package a\n\nfunc F"+n+"() {}\n")
		r.Commit("edit " + n)
	}
	edit("0")
	hear := func(list bool) string {
		w, err := open(t.Context(), openOptions{dir: r.Dir})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		// By this clock what was just written has been at rest for long.
		later := func() time.Time { return time.Now().Add(time.Minute) }
		w.files = content.Open(r.Dir, content.Options{Format: w.git.ObjectFormat(), Now: later})
		if list {
			if _, err := w.Spec().List(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		h := &hearing{w: w, memory: agent.Remember(nil)}
		said, err := h.governed(t.Context(), []repo.Path{"a.go"})
		if err != nil || !strings.HasPrefix(said, "ken: a.go is governed by spec a (ken spec show a)") {
			t.Errorf("%q, %v", said, err)
		}
		return said
	}
	for _, n := range []string{"1", "2"} {
		edit(n)
		if said := hear(false); strings.Contains(said, "gate") {
			t.Errorf("after %s: %s", n, said)
		}
	}
	if said := hear(true); strings.Contains(said, "gate") {
		t.Errorf("before the threshold: %s", said)
	}
	edit("3")
	if said := hear(false); !strings.Contains(said, "its drift is 3: ken spec gate stops a commit") {
		t.Errorf("at the threshold: %s", said)
	}
}
