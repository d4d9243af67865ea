//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"ken/internal/shell"
	"ken/internal/testrepo"
)

// Every command that ken prints about a repository can run there: the repository names its program, and the
// directories, files, packages, scripts and tests in it exist. Test commands whose program is on this machine are run,
// and have to run a test.
func TestPrintedCommandsRun(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/commands/*.txtar")
	if err != nil || len(archives) < 20 {
		t.Fatalf("%d repositories in testdata/commands: %v", len(archives), err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			r := &builtRepo{Repo: testrepo.New(t), t: t, settings: make(map[string]string)}
			for line := range strings.Lines(string(archive.Comment)) {
				if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
					r.settings[key] = value
				}
			}
			for _, f := range archive.Files {
				r.Write(f.Name, string(f.Data))
				r.files = append(r.files, f.Name)
			}
			r.Commit("begin")
			r.collect()
			for _, command := range strings.Split(r.settings["prints"], " ; ") {
				if !slices.Contains(r.commands, command) {
					t.Errorf("ken did not print %q, but %q", command, r.commands)
				}
			}
			for _, command := range r.commands {
				r.check(command)
			}
			if r.settings["run"] == "yes" && !testing.Short() {
				for _, command := range r.tests {
					r.run(command)
				}
			}
		})
	}
}

// A builtRepo is a repository with a build system. Its settings are the lines before the files of its archive:
// programs are those that may start a command, prints has commands that ken must print, run says whether to run those
// that test, and source is a file whose change is reviewed.
type builtRepo struct {
	*testrepo.Repo
	t        *testing.T
	settings map[string]string
	files    []string
	commands []string // all that ken printed
	tests    []string // those that run tests
}

// collect asks ken for all its commands.
func (r *builtRepo) collect() {
	r.answer("", "brief", "--json", "--budget", "20000")
	for _, f := range r.files {
		if _, isCode := codeMark[path.Ext(f)]; !isCode {
			continue
		}
		r.answer("tests", "brief", f, "--json", "--budget", "20000")
		r.answer("tests", "uses", f, "--tests", "--json")
		for _, m := range declared.FindAllStringSubmatch(r.Read(f), -1) {
			if o := ken(r.t, r.Repo, nil, "uses", f+"#"+m[1], "--tests", "--json"); o.status == 0 {
				r.gather("tests", o.stdout)
			}
		}
	}
	source := r.settings["source"]
	r.Write(source, strings.ReplaceAll(r.Read(source), "41", "42 - 1"))
	r.answer("tests", "review", "--json")
	r.Git("checkout", "-q", ".")
	slices.Sort(r.commands)
	r.commands = slices.Compact(r.commands)
	slices.Sort(r.tests)
	r.tests = slices.Compact(r.tests)
}

var declared = regexp.MustCompile(`(?m)^\s*(?:pub |export |public |static |async |def self\.)*(?:func|def|fn|function|class|int|public static int) (\w+)`)

// codeMark has the extensions of code, with an expression for the declaration of a test. %s is its name.
var codeMark = map[string]string{
	".go": `func %s\(`, ".rs": `\b(?:fn|mod) %s\b`, ".py": `(?:def|class) %s\b`, ".js": `%s`, ".ts": `%s`, ".tsx": `%s`, ".mjs": `%s`,
	".java": `\b%s\b`, ".kt": `\b%s\b`, ".c": `\b%s\b`, ".cs": `class %s\b`, ".rb": `\b%s\b`, ".php": `\b%s\b`,
}

func (r *builtRepo) answer(kind string, args ...string) {
	r.gather(kind, mustKen(r.t, r.Repo, args...))
}

// gather adds the commands in a JSON document.
func (r *builtRepo) gather(kind, document string) {
	var visit func(value any, kind string)
	visit = func(value any, kind string) {
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				visit(item, kind)
			}
		case map[string]any:
			subject, _ := v["subject"].(string)
			if subject == "test" || strings.HasPrefix(subject, "run one test") {
				kind = "tests"
			}
			for key, item := range v {
				command, ok := item.(string)
				if !ok || !strings.HasSuffix(key, "command") {
					visit(item, kind)
					continue
				}
				r.commands = append(r.commands, command)
				if kind == "tests" {
					r.tests = append(r.tests, command)
				}
			}
		}
	}
	visit(decode[any](r.t, document), kind)
}

// check reports what in a command does not exist.
func (r *builtRepo) check(command string) {
	for _, c := range shell.Read(command) {
		if c.Subshell == nil {
			r.checkWords(command, "", values(c.Words))
			continue
		}
		dir := ""
		for _, inner := range c.Subshell {
			words := values(inner.Words)
			if words[0] == "cd" {
				dir = path.Join(dir, words[1])
				r.must(command, r.exists(dir), "the directory %s", dir)
				continue
			}
			r.checkWords(command, dir, words)
		}
	}
}

func values(words []shell.Word) []string {
	var list []string
	for _, w := range words {
		list = append(list, w.Value)
	}
	return list
}

func (r *builtRepo) must(command string, ok bool, format string, args ...any) {
	r.t.Helper()
	if !ok {
		r.t.Errorf("%s\nhas no %s", command, fmt.Sprintf(format, args...))
	}
}

func (r *builtRepo) exists(name string) bool {
	_, err := os.Stat(r.Path(name))
	return err == nil
}

var (
	nameFlag   = regexp.MustCompile(`^(?:-run|-bench|-t|-g|--test-name-pattern|--filter|-n|-R|--tests|--example)$`)
	inPlace    = regexp.MustCompile(`(?::\d+)+$`)
	punctuated = regexp.MustCompile(`[\^$()|/\\?+*=]+|FullyQualifiedName~|::|\bb\b`)
)

// checkWords reports what in a simple command does not exist.
func (r *builtRepo) checkWords(command, dir string, words []string) {
	for strings.Contains(words[0], "=") {
		words = words[1:]
	}
	program := words[0]
	programs := strings.Fields(r.settings["programs"])
	r.must(command, program != "cd" && slices.Contains(programs, program), "program of this repository (%q)", programs)
	if strings.HasPrefix(program, "./") {
		r.must(command, r.exists(path.Join(dir, program)), "program %s", program)
	}
	var names []string // of tests
	for i, word := range words[1:] {
		before := words[i]
		switch {
		case before == "-C":
			dir = path.Join(dir, word)
			r.must(command, r.exists(dir), "directory %s", dir)
		case before == "-B", before == "--build", before == "--test-dir":
		case before == "-p" && program == "cargo", before == "--filter" && program == "pnpm",
			before == "--bin", before == "-w", before == "workspace":
			r.must(command, r.mentions(`(?m)name"?\s*[=:]\s*"`+regexp.QuoteMeta(word)+`"`), "package or program %s", word)
		case nameFlag.MatchString(before):
			names = append(names, word)
		case before == "--test":
			if program == "cargo" {
				r.must(command, r.mentions(`(?m)^name = "`+word+`"`) || r.fileNamed("tests/"+word+".rs"), "test target %s", word)
			}
		case strings.HasPrefix(word, "-Dtest="), strings.HasPrefix(word, "-Dit.test="):
			_, value, _ := strings.Cut(word, "=")
			class, methods, _ := strings.Cut(value, "#")
			r.must(command, r.fileNamed(class+".java"), "class %s", class)
			names = append(names, strings.Split(methods, "+")...)
		case strings.HasPrefix(word, "-"):
		default:
			names = append(names, r.checkArgument(command, dir, words, i+1)...)
		}
	}
	for _, name := range names {
		for part := range strings.FieldsSeq(punctuated.ReplaceAllString(name, " ")) {
			part = part[strings.LastIndexByte(part, '.')+1:]
			found := slices.ContainsFunc(r.files, func(f string) bool {
				mark, isCode := codeMark[path.Ext(f)]
				if path.Base(f) == "CMakeLists.txt" {
					mark, isCode = `NAME %s\b`, true
				}
				return isCode && regexp.MustCompile(fmt.Sprintf(mark, regexp.QuoteMeta(part))).MatchString(r.Read(f))
			})
			r.must(command, found || r.fileNamed(part+".rs"), "test %s", part)
		}
	}
}

// checkArgument reports whether an argument that is no flag exists: a file, a package, a script or a task. It returns
// the names of tests that it contains.
func (r *builtRepo) checkArgument(command, dir string, words []string, i int) (tests []string) {
	word := words[i]
	file, rest, _ := strings.Cut(inPlace.ReplaceAllString(word, ""), "::")
	_, isCode := codeMark[path.Ext(file)]
	switch {
	case strings.HasSuffix(file, "/...") || isCode || strings.HasPrefix(word, "./"):
		file = strings.TrimSuffix(file, "...")
		r.must(command, r.exists(path.Join(dir, file)), "file %s", path.Join(dir, file))
		return strings.Split(rest, "::")
	case words[0] == "cargo" && i > 1 && words[1] == "test":
		return []string{word}
	case slices.Contains(words, "unittest") && strings.Contains(word, "."):
		return strings.Split(word, ".")[strings.Count(word, ".")-1:]
	case words[0] == "make" || words[0] == "just":
		r.must(command, r.mentions(`(?m)^`+word+`:`), "target %s", word)
	case word == "run" || word == "test" || words[i-1] == "run":
		isManager := slices.Contains([]string{"npm", "pnpm", "yarn"}, words[0])
		if name := word; isManager && name != "run" {
			r.must(command, r.mentions(`"`+name+`"\s*:`), "script %s", name)
		}
	case words[i-1] == "-e" && words[0] == "tox":
		r.must(command, r.mentions(`\[testenv:`+word+`\]`), "environment %s", word)
	case words[i-1] == "-s" && words[0] == "nox":
		r.must(command, r.mentions(`def `+word+`\(`), "session %s", word)
	}
	return nil
}

// mentions reports whether a file that is no code has a text.
func (r *builtRepo) mentions(expr string) bool {
	re := regexp.MustCompile(expr)
	return slices.ContainsFunc(r.files, func(f string) bool { return re.MatchString(r.Read(f)) })
}

func (r *builtRepo) fileNamed(name string) bool {
	return slices.ContainsFunc(r.files, func(f string) bool { return strings.HasSuffix("/"+f, "/"+name) })
}

var (
	ranSome = regexp.MustCompile(`(?m)^ok\s|\b[1-9]\d* passed|pass [1-9]|Ran [1-9]|^PASS`)
	ranNone = regexp.MustCompile(`no tests to run|no test files`)
)

// run runs a command that tests, if its program is on this machine.
func (r *builtRepo) run(command string) {
	program := strings.Fields(strings.TrimPrefix(command, "GOWORK=off "))[0]
	if _, err := exec.LookPath(program); err != nil {
		r.t.Logf("not run, %s is missing: %s", program, command)
		return
	}
	cmd := exec.CommandContext(r.t.Context(), "sh", "-c", command)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "CARGO_NET_OFFLINE=true", "CARGO_TARGET_DIR="+r.t.TempDir(), "GOFLAGS=", "GOWORK=")
	out, err := cmd.CombinedOutput()
	if err != nil || !ranSome.Match(out) || ranNone.Match(out) {
		r.t.Errorf("%s\nran no test: %v\n%s", command, err, out)
	}
}
