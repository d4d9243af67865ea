//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// shells are the interactive shells into which users paste commands. Interactive zsh has no comments.
var shells = [][]string{
	{"bash", "--noprofile", "--norc", "-i"},
	{"zsh", "-f", "-i"},
	{"fish", "--no-config", "-i"},
}

// paste runs a text in a shell and returns its output.
func paste(t *testing.T, shell []string, dir, path, text string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shell[0], shell[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "PATH=" + path + ":/usr/bin:/bin", "TERM=dumb", "LC_ALL=C.UTF-8"}
	cmd.Stdin = strings.NewReader(text + "\n")
	out, _ := cmd.CombinedOutput() // most pasted commands fail here
	return string(out)
}

// hostile are parts of names that a careless command would run. Each would make a file whose name begins with PWN.
var hostile = []string{
	"`touch PWN1`", "$(touch PWN2)", "(touch PWN3)", ";touch PWN4;", "';touch PWN5;'", `\';touch PWN6;#`, "&touch PWN7&",
	"=touch PWN8", "|touch PWN9", "\"$(touch PWN10)\"", "a(e:'touch PWN11':)", `x\`,
}

// commandIn finds the command in a line that ken printed.
var commandIn = regexp.MustCompile(`(?:^\s*|: )((?:ken|go|git|python3?|pytest|npx|npm|node|make|cargo|\(cd|cd) .*)$`)

// isSentence matches what is no command, though it begins with the name of a program.
var isSentence = regexp.MustCompile(`^(?:git tracks|ken (?:can|does|found|ignores)) `)

// A command that ken prints runs nothing that the name of a file or directory contains, with all that follows it in
// its line.
func TestPastedCommandsRunNoNames(t *testing.T) {
	r := testrepo.New(t)
	r.Write("go.mod", "module example.com/m\n\ngo 1.24\n")
	r.Write("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\".\"]\n")
	var paths []string
	for _, name := range hostile {
		paths = append(paths, name, name+"/x.go", name+"/x_test.go", "py/"+name+".py", "py/test_"+name+".py")
		r.Write(name+"/x.go", "package x\n\nfunc X() {}\n")
		r.Write(name+"/x_test.go", "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { X() }\n")
		r.Write("py/"+name+".py", "def f():\n    pass\n")
		r.Write("py/test_"+name+".py", "def test_f():\n    pass\n")
		r.Write(".spec/"+name+"/spec.md", "---\ntitle: T\ncode:\n  - py/nothing.py\n---\nText.\n")
	}
	r.Commit("begin")
	mustKen(t, r, "summary", "set", hostile[0]+"/x.go", "-m", "It is x.")
	r.Write(hostile[0]+"/x.go", "package x\n\nfunc X() int { return 1 }\n")
	var said strings.Builder
	ask := func(args ...string) {
		o := ken(t, r, nil, args...)
		said.WriteString(o.stdout + o.stderr)
	}
	ask("brief")
	ask("status")
	ask("review")
	ask("spec", "lint")
	ask("spec", "ls")
	ask("doctor")
	for _, path := range paths {
		for _, command := range []string{"brief", "uses"} {
			ask(command, path)
		}
		for _, verb := range []string{"show", "diff", "confirm"} {
			ask("summary", verb, path)
		}
		ask("spec", "owner", path)
	}
	var commands []string
	for line := range strings.Lines(said.String()) {
		if found := commandIn.FindStringSubmatch(strings.TrimRight(line, "\n")); found != nil && !isSentence.MatchString(found[1]) {
			commands = append(commands, found[1])
		}
	}
	slices.Sort(commands)
	commands = slices.Compact(commands)
	if len(commands) < 40 {
		t.Fatalf("ken printed only %d commands; this test proves little:\n%s", len(commands), said.String())
	}
	stubs, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"ken", "go", "git", "python", "python3", "pytest", "npx", "npm", "node", "make", "cargo"} {
		if err := os.WriteFile(filepath.Join(stubs, name), []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, shell := range shells {
		// One shell for all, and one for each of them if a file appeared.
		if made := pasteAll(t, shell, dir, stubs, commands); made == "" {
			continue
		}
		for _, command := range commands {
			if made := pasteAll(t, shell, dir, stubs, []string{command}); made != "" {
				t.Errorf("pasted into %s, this made %s:\n%s", shell[0], made, command)
			}
		}
		if !t.Failed() {
			t.Errorf("pasted into %s, the commands together run a name", shell[0])
		}
	}
}

// pasteAll pastes commands into a shell, and returns the files that they made.
func pasteAll(t *testing.T, shell []string, dir, stubs string, commands []string) string {
	t.Helper()
	paste(t, shell, dir, stubs, strings.Join(commands, "\n"))
	made, err := filepath.Glob(filepath.Join(dir, "PWN*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range made {
		_ = os.Remove(name)
	}
	return strings.Join(made, " ")
}
