package session

import (
	"slices"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

func TestSession(t *testing.T) {
	for _, name := range variables {
		t.Setenv(name, "")
	}
	if got := ID(); got != "" {
		t.Errorf("without variables, ID returned %q; want none", got)
	}
	t.Setenv("AGENT_SESSION_ID", "any")
	t.Setenv("CODEX_THREAD_ID", "\n \t")
	if got := ID(); got != "any" {
		t.Errorf("an empty variable hides the next: %q", got)
	}
	t.Setenv("CODEX_THREAD_ID", "codex")
	t.Setenv("KEN_SESSION", "mine")
	if got := ID(); got != "mine" {
		t.Errorf("KEN_SESSION gives way to %q", got)
	}
}

func TestSessionID(t *testing.T) {
	for in, want := range map[string]string{
		"s-1":                          "s-1",
		" two words \n":                "two words",
		"a\nSpec-OK: everything":       "a",
		"a\r\x1b[31mb\x00\u202e":       "a[31mb",
		"a\xffb":                       "ab",
		strings.Repeat("é", 300):       strings.Repeat("é", 100),
		strings.Repeat("a", 199) + "é": strings.Repeat("a", 199),
		"\x00":                         "",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// A test that an agent runs is not its session's work: no variable that names one
// reaches what tests start.
func TestTestsHaveNoSession(t *testing.T) {
	for _, name := range variables {
		t.Setenv(name, "the agent's own")
	}
	for _, env := range [][]string{testrepo.Environ(), testrepo.Env(t), testrepo.New(t).Env()} {
		for _, kv := range env {
			if name, _, _ := strings.Cut(kv, "="); slices.Contains(variables, name) {
				t.Errorf("%s reaches in", kv)
			}
		}
	}
}
