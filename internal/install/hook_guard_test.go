package install

import (
	"encoding/json"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// On a machine without ken the hooks in a repository's files succeed and print no answer.
func TestHooksWithoutKen(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("no POSIX shell")
		}
		t.Fatal(err)
	}
	ran := 0
	for _, c := range Clients() {
		for _, f := range c.In(Project) {
			for _, p := range f.Parts {
				if p.Event == "" {
					continue
				}
				for _, command := range commandsOf(t, p.Value) {
					cmd := exec.CommandContext(t.Context(), sh, "-c", command)
					cmd.Env = []string{"PATH=" + t.TempDir()}
					out, err := cmd.Output()
					if err != nil || len(out) > 0 {
						t.Errorf("%s: %q answers %q, %v; expected success without an answer", c.Name, command, out, err)
					}
					ran++
				}
			}
		}
	}
	if ran < 10 {
		t.Errorf("%d hooks ran; expected those of all clients", ran)
	}
}

// Cursor runs a hook in PowerShell on Windows, which has neither || nor command -v.
func TestCursorHookSuitsPowerShell(t *testing.T) {
	for _, p := range cursorHooks() {
		for _, command := range commandsOf(t, p.Value) {
			if strings.ContainsAny(command, "|&!>$") {
				t.Errorf("PowerShell cannot run %q", command)
			}
		}
	}
}

// commandsOf returns the commands of a hook for a POSIX shell.
func commandsOf(t *testing.T, value string) []string {
	t.Helper()
	var hook struct {
		Command string
		Hooks   []struct{ Command string }
	}
	if err := json.Unmarshal([]byte(value), &hook); err != nil {
		t.Fatalf("the hook %s is not JSON: %v", value, err)
	}
	var all []string
	if hook.Command != "" {
		all = append(all, hook.Command)
	}
	for _, h := range hook.Hooks {
		all = append(all, h.Command)
	}
	return all
}
