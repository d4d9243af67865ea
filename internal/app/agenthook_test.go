package app

import (
	"strings"
	"testing"
	"time"

	"ken/internal/agenthook"
	"ken/internal/content"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/testrepo"
)

// Before an edit, the agent is told that the gate will stop the commit, or that the drift is
// unknown: without a cached listing, or after a timeout.
func TestAgentIsToldOfGate(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	r.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\n")
	edit := func(n string) {
		r.Write("a.go", "package a\n\nfunc F"+n+"() {}\n")
		r.Commit("edit " + n)
	}
	edit("0")
	const unknown = "its drift is unknown, run: ken spec ls"
	memory := agenthook.ParseMemory(nil)
	answerHook := func(list bool, left time.Duration) string {
		w, err := ken.Open(t.Context(), ken.Options{Dir: r.Dir})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		// By this clock what was just written has been at rest for long.
		later := func() time.Time { return time.Now().Add(time.Minute) }
		w.Files = content.Open(r.Dir, content.Options{Format: w.Git.ObjectFormat(), Now: later})
		if list {
			if _, err := w.Spec().List(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		h := &agenthook.Call{Features: hookFeatures(w), Memory: memory, Left: left}
		said, err := h.Answer(t.Context(), agenthook.PreToolUse, agenthook.Input{Access: agenthook.Edit, Paths: []string{"a.go"}})
		if err != nil || !strings.HasPrefix(said, "ken: spec a governs a.go (ken spec show a)") {
			t.Errorf("the hook answered %q, %v; want the spec that governs a.go", said, err)
		}
		memory = agenthook.ParseMemory([]byte(h.NewLines()))
		return said
	}
	const whatItTakes, over = 0, 1
	for _, n := range []string{"1", "2"} {
		edit(n)
		memory = agenthook.ParseMemory(nil)
		if said := answerHook(false, whatItTakes); !strings.HasSuffix(said, unknown) {
			t.Errorf("after edit %s, without a listing: told %q, want that the drift is unknown", n, said)
		}
	}
	if said := answerHook(true, whatItTakes); strings.Contains(said, "gate") || strings.Contains(said, unknown) {
		t.Errorf("before the threshold: told %q, want the spec alone", said)
	}
	memory = agenthook.ParseMemory(nil)
	edit("3")
	if said := answerHook(false, over); !strings.HasSuffix(said, unknown) {
		t.Errorf("out of time: told %q, want that the drift is unknown", said)
	}
	// A session that was told so is told the drift as soon as it is known.
	if said := answerHook(false, whatItTakes); !strings.Contains(said, "its drift is 3, so the gate stops your commit") {
		t.Errorf("at the threshold: told %q, want what the gate does", said)
	}
}

// If the brief takes too long, a session is told the headline and that there is no brief, and an
// agent that edits is told nothing about the file. Both are told when there is time.
func TestAgentIsToldOfNoBrief(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	r.Write("Makefile", "test:\n\ttrue\n")
	r.Write("a.go", "package a\n")
	r.Write("a_test.go", "package a\n")
	r.Write("go.mod", "module a\n")
	r.Commit("first")
	w, err := ken.Open(t.Context(), ken.Options{Dir: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Registry.Verify(t.Context(), registry.VerifyOptions{}); err != nil {
		t.Fatal(err)
	}
	const whatItTakes, over = 0, 1
	for _, tt := range []struct {
		left        time.Duration
		start, edit string
	}{
		{over, agenthook.NoBrief, ""},
		{whatItTakes, "\ntest:\n  \"make test # Makefile:1\"\n", "tests (1 file): \"go test . # a_test.go named for it\""},
	} {
		h := &agenthook.Call{Features: hookFeatures(w), Memory: agenthook.ParseMemory(nil), Left: tt.left}
		said, err := h.Answer(t.Context(), agenthook.SessionStart, agenthook.Input{})
		if err != nil || !strings.HasPrefix(said, "ken: ") || !strings.Contains(said, tt.start) {
			t.Errorf("a session with %v for its start is told %q, %v; want %q", tt.left, said, err, tt.start)
		}
		said, err = h.Answer(t.Context(), agenthook.PreToolUse, agenthook.Input{Access: agenthook.Edit, Paths: []string{"a.go"}})
		if err != nil || !strings.HasSuffix(said, tt.edit) || said != "" && tt.edit == "" {
			t.Errorf("an agent with %v for its edit is told %q, %v; want %q", tt.left, said, err, tt.edit)
		}
	}
}
