package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"ken/internal/cli"
	"ken/internal/testrepo"
)

// notRun are the commands whose examples cannot run here, each with its reason.
var notRun = map[string]string{
	"ken serve":  "it serves until it is interrupted; serve.txtar runs it",
	"ken worker": "it needs the PostgreSQL server of a team; worker_test.go runs it",
}

// notRunLines are single examples that cannot run here, each with its reason.
var notRunLines = map[string]string{
	"--serve":              "it serves until it is interrupted; serve.txtar runs it",
	"--workers":            "it needs the PostgreSQL server of a team; worker_test.go runs it",
	"--provider anthropic": "it needs a key and the network; survey_model_test.go runs it with a local server",
	"docs --ignore":        "it needs a stale mention on that line; docs_ignore.txtar runs it",
	"--lease TOKEN":        "it needs the token that ken survey next prints; survey_lease.txtar runs it",
	"--provider openai":    "it needs a key and the network; survey_model_test.go runs it with a local server",
}

// before prepares the repository for single examples.
var before = map[string]string{
	"ken allow": `mkdir -p .ken
cat > .ken/config.yaml <<'END'
store: postgres://ken@db.example.com/ken
survey: {provider: openai, model: m, base_url: https://api.openai.com/v1}
END`,
	"ken allow --withdraw": `ken allow https://api.openai.com/v1`,
}

// Each command has an example in its help, and each example works when it is pasted at
// the root of a repository. The lines of one command run one after the other. A line whose
// comment is "exit N" ends with that status.
func TestExamples(t *testing.T) {
	t.Parallel()
	prepared := exampleRepository(t)
	walkCommands(cli.Tree("dev"), func(c *cobra.Command) {
		path := c.CommandPath()
		if !c.Runnable() || strings.HasPrefix(path, "ken completion") || c.HasSubCommands() && c.HasParent() && c.Example == "" {
			return
		}
		lines := exampleLines(c.Example)
		if len(lines) == 0 && c.HasParent() {
			t.Errorf("%s --help has no example", path)
		}
		for prefix, reason := range notRun {
			if path == prefix || strings.HasPrefix(path, prefix+" ") {
				t.Logf("not run: %s: %s", path, reason)
				return
			}
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			runExamples(t, prepared, lines)
		})
	})
}

func walkCommands(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		walkCommands(sub, f)
	}
}

type exampleLine struct {
	command string
	status  int
}

var (
	exampleComment = regexp.MustCompile(`\s+# .*$`)
	exampleStatus  = regexp.MustCompile(`# exit (\d+)$`)
)

// exampleLines returns the lines of an example that are commands of ken.
func exampleLines(text string) []exampleLine {
	var list []exampleLine
	for line := range strings.SplitSeq(text, "\n") {
		command := strings.TrimSpace(exampleComment.ReplaceAllString(line, ""))
		if !strings.HasPrefix(line, "  ken") && !strings.Contains(line, "| ken") {
			continue
		}
		e := exampleLine{command: command}
		if m := exampleStatus.FindStringSubmatch(line); m != nil {
			e.status, _ = strconv.Atoi(m[1])
		}
		list = append(list, e)
	}
	return list
}

// runExamples runs the examples of a command in a fresh copy of the prepared repository.
func runExamples(t *testing.T, prepared *testrepo.Repo, lines []exampleLine) {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Dir(prepared.Dir)
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", root+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("copy the repository: %v\n%s", err, out)
	}
	for _, line := range lines {
		line.run(t, prepared, dir)
	}
}

// run runs an example in the repository below dir.
func (e exampleLine) run(t *testing.T, prepared *testrepo.Repo, dir string) {
	t.Helper()
	for part, reason := range notRunLines {
		if strings.Contains(e.command, part) {
			t.Logf("not run: %s", reason)
			return
		}
	}
	script := "set -e\n"
	for _, start := range slices.Sorted(maps.Keys(before)) {
		if strings.HasPrefix(e.command, start) {
			script += before[start] + "\n"
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script+e.command)
	cmd.Dir = filepath.Join(dir, filepath.Base(prepared.Dir))
	cmd.Env = prepared.Env("PATH="+bin+":"+os.Getenv("PATH"), "HOME="+filepath.Join(dir, "home"), "XDG_STATE_HOME="+filepath.Join(dir, "home", "state"))
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != e.status {
		t.Errorf("%s: exit %d, want %d\n%s", e.command, got, e.status, out)
	}
}

// exampleRepository makes the repository that examples run in: a few files, a spec, a
// summary, a directory that an agent described, a workflow, and a remote.
func exampleRepository(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Write("README.md", "# Example\n\nParses words. It begins in `main.go`, see [the guide](docs/guide.md).\n")
	r.Write("docs/guide.md", "# Guide\n\n`internal/parse/parse.go` splits a text into words. Agents keep their plan in `.ken/state/plan.md`.\n")
	r.Write("main.go", "// Command example parses words.\npackage main\n\nfunc main() {}\n")
	r.Write("internal/parse/parse.go", "// Package parse splits texts into words.\npackage parse\n\n// Words returns the words of a text.\nfunc Words(text string) []string { return nil }\n")
	r.Write(".spec/parser/spec.md", "---\ntitle: Parser\ndesc: splits a text into words\ncode: [internal/parse/]\n---\n# Parser\n\nA word has no blanks.\n")
	r.Write(".gitignore", ".ken/state/\n*.txt\n*.json\n")
	r.Commit("first")
	r.Write("internal/parse/parse.go", "// Package parse splits texts into words.\npackage parse\n\nimport \"strings\"\n\n// Words returns the words of a text.\nfunc Words(text string) []string { return strings.Fields(text) }\n")
	r.Commit("parse: split at blanks")
	r.Write("notes.txt", "Parses words.\n")
	r.Write("updates.json", `[{"path": "internal/parse/parse.go", "summary": "Splits a text at blanks."}]`+"\n")
	const remote = "../remote.git"
	r.Git("init", "-q", "--bare", remote)
	r.Git("remote", "add", "origin", remote)
	r.Git("push", "-q", "-u", "origin", "HEAD")
	for _, args := range [][]string{
		{"up"},
		{"summary", "set", "main.go", "-m", "Starts the program."},
		{"state", "init", "--type", "code_review", "task=review"},
		{"share", "push"},
	} {
		mustKen(t, r, args...)
	}
	return r
}
