package project

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// A ciStep is a command that a CI workflow runs.
type ciStep struct {
	run     string
	plain   bool // run can be pasted as it is
	dir     repo.Path
	source  repo.Path
	line    int
	purpose purpose
	key     string
	lang    string
}

// ciSteps returns the commands of all workflows whose purpose is known.
func (p *Project) ciSteps() []ciStep {
	if p.readCI {
		return p.steps
	}
	p.readCI = true
	const maxWorkflows = 40
	n := 0
	for _, f := range p.filesUnder(".github/workflows", len(p.files)) {
		ext := path.Ext(f.Base())
		if f.Dir() != ".github/workflows" || ext != ".yml" && ext != ".yaml" || isSideWorkflow(f.Base()) {
			continue
		}
		if n++; n > maxWorkflows {
			break
		}
		root := p.document(f).YAML()
		p.githubSteps(f, root)
	}
	if f := p.firstFile("", ".gitlab-ci.yml"); f != "" {
		root := p.document(f).YAML()
		p.gitlabSteps(f, root)
	}
	return p.steps
}

// isSideWorkflow reports whether a workflow does not check changes.
func isSideWorkflow(base string) bool {
	base = strings.ToLower(base)
	for _, word := range []string{"release", "publish", "deploy", "stale", "label", "lock", "docker", "nightly", "codeql", "scorecard", "docs", "pages", "bump", "backport"} {
		if strings.Contains(base, word) {
			return true
		}
	}
	return false
}

func (p *Project) githubSteps(file repo.Path, root *yaml.Node) {
	env := yamlEnv(nil, manifest.YAMLAt(root, "env"))
	dir := manifest.YAMLText(manifest.YAMLAt(root, "defaults", "run", "working-directory"))
	for _, job := range manifest.YAMLPairs(manifest.YAMLAt(root, "jobs")) {
		jobEnv := yamlEnv(env, manifest.YAMLAt(job, "env"))
		jobDir := dir
		if d := manifest.YAMLText(manifest.YAMLAt(job, "defaults", "run", "working-directory")); d != "" {
			jobDir = d
		}
		for _, step := range manifest.YAMLItems(manifest.YAMLAt(job, "steps")) {
			run := manifest.YAMLAt(step, "run")
			if run == nil {
				continue
			}
			stepDir := jobDir
			if d := manifest.YAMLText(manifest.YAMLAt(step, "working-directory")); d != "" {
				stepDir = d
			}
			p.addSteps(file, run, stepDir, yamlEnv(jobEnv, manifest.YAMLAt(step, "env")))
		}
	}
}

func (p *Project) gitlabSteps(file repo.Path, root *yaml.Node) {
	for key, job := range manifest.YAMLPairs(manifest.YAMLValue(root)) {
		if strings.HasPrefix(key.Value, ".") {
			continue
		}
		for _, line := range manifest.YAMLItems(manifest.YAMLAt(job, "script")) {
			p.addSteps(file, line, "", nil)
		}
	}
}

// yamlEnv adds the variables of a mapping whose values are plain text.
func yamlEnv(outer map[string]string, node *yaml.Node) map[string]string {
	env := make(map[string]string)
	for name, value := range outer {
		env[name] = value
	}
	for key, value := range manifest.YAMLPairs(node) {
		env[key.Value] = manifest.YAMLText(value)
	}
	return env
}

var ciExpression = lazyRegexp(`\$\{\{\s*env\.(\w+)\s*\}\}`)

// addSteps adds the commands of a run step that build, test or lint.
func (p *Project) addSteps(file repo.Path, node *yaml.Node, in string, env map[string]string) {
	const maxSteps = 400
	script := ciExpression().ReplaceAllStringFunc(manifest.YAMLText(node), func(expr string) string {
		value, ok := env[ciExpression().FindStringSubmatch(expr)[1]]
		if !ok || strings.ContainsAny(value, "$\n") {
			return expr
		}
		return value
	})
	dir := repo.Path("")
	if in != "" && in != "." && in != "./" {
		dir = join("", in)
		if dir == "" || !p.isDir(dir) {
			return
		}
	}
	block := node.Style == yaml.LiteralStyle || node.Style == yaml.FoldedStyle
	offset := 0
	for line := range strings.Lines(script) {
		at := node.Line
		if block {
			at += 1 + offset
		}
		offset++
		for _, c := range splitShell(strings.TrimRight(line, "\n")) {
			if c.words[0] == "cd" {
				// The directory of the following commands is uncertain.
				dir = "\x00"
				if len(c.words) == 2 && in == "" && p.isDir(join("", c.words[1])) {
					dir = join("", c.words[1])
				}
				continue
			}
			use, key, lang, ok := classify(c.words)
			if !ok || dir == "\x00" || len(p.steps) >= maxSteps {
				continue
			}
			p.steps = append(p.steps, ciStep{
				run: quoteWords(c.words), plain: c.plain, dir: dir,
				source: file, line: at, purpose: use, key: key, lang: lang,
			})
		}
	}
}

// applyCI moves the commands of a directory that CI runs to the front, and adds those that only CI has.
func (p *Project) applyCI(dir repo.Path, list *[]candidate, add func(candidate)) {
	steps := p.ciSteps()
	own := len(*list)
	for i := range own {
		c := &(*list)[i]
		runs := func(s ciStep) bool { return s.key == c.key && (s.dir == dir || s.dir == "") }
		if slices.ContainsFunc(steps, runs) {
			c.order -= ciBonus
		}
	}
	for _, s := range steps {
		known := func(c candidate) bool { return c.key == s.key && c.purpose == s.purpose }
		if s.dir != dir || !s.plain || slices.ContainsFunc(*list, known) {
			continue
		}
		add(candidate{
			Command: Command{Run: s.run, in: dir, Source: s.source, Line: s.line},
			purpose: s.purpose, lang: s.lang, key: s.key, order: orderCI,
		})
	}
}

// classify returns the purpose of a command, a key of its tool and task, and its language.
func classify(words []string) (use purpose, key, lang string, ok bool) {
	words = toolOf(words)
	if len(words) == 0 {
		return 0, "", "", false
	}
	tool := strings.TrimSuffix(path.Base(words[0]), ".cmd")
	args := words[1:]
	if installs(tool, args) {
		return forInstall, installKey(tool, words), installLanguages[tool], true
	}
	verb := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
			verb = a
			break
		}
	}
	switch tool {
	case "make", "just", "task", "rake", "gmake":
		tool = strings.TrimPrefix(tool, "g")
		for _, flag := range []string{"-C", "-f", "-d", "--directory", "--justfile"} {
			if slices.Contains(args, flag) {
				return 0, "", "", false // another directory's task
			}
		}
		target := firstTarget(args)
		if target == "" {
			return forBuild, tool + ":", "", tool == "make"
		}
		use, _, ok = purposeOf(target)
		if tool == "rake" && target == "spec" {
			use, ok = forTest, true
		}
		return use, tool + ":" + target, "", ok && isName(target)
	case "npm", "pnpm", "yarn", "bun":
		return classifyNode(tool, args)
	case "composer":
		if verb == "run" || verb == "run-script" {
			args = args[slices.Index(args, verb)+1:]
			verb = firstTarget(args)
		}
		use, _, ok = purposeOf(verb)
		return use, "composer:" + verb, "php", ok
	case "gradlew", "gradle":
		return classifyWords("gradle", args, "jvm", map[string]purpose{"build": forBuild, "assemble": forBuild, "test": forTest, "check": forTest, "spotlessCheck": forLint, "checkstyleMain": forLint, "detekt": forLint, "ktlintCheck": forLint})
	case "mvnw", "mvn":
		return classifyWords("mvn", args, "jvm", map[string]purpose{"test": forTest, "verify": forTest, "package": forBuild, "compile": forBuild, "install": forBuild})
	}
	tasks, lang := tasksOf(tool)
	if tasks == nil {
		return 0, "", "", false
	}
	if use, ok := tasks[verb]; ok {
		return use, tool + " " + verb, lang, true
	}
	if use, ok := tasks["*"]; ok {
		return use, tool, lang, true
	}
	return 0, "", "", false
}

// toolTasks has the purposes of the subcommands of tools ("*": all others), and the language of the tools.
var toolTasks = []struct {
	tools, lang string
	tasks       map[string]purpose
}{
	{"go", "go", map[string]purpose{"test": forTest, "build": forBuild, "vet": forLint}},
	{"golangci-lint staticcheck", "go", map[string]purpose{"*": forLint}},
	{"gotestsum", "go", map[string]purpose{"*": forTest}},
	{"cargo", "rust", map[string]purpose{"test": forTest, "nextest": forTest, "build": forBuild, "clippy": forLint, "fmt": forLint}},
	{"pytest tox nox unittest", "python", map[string]purpose{"*": forTest}},
	{"flake8 mypy pyright pylint black isort", "python", map[string]purpose{"*": forLint}},
	{"ruff", "python", map[string]purpose{"check": forLint, "format": forLint}},
	{"pre-commit", "", map[string]purpose{"run": forLint}},
	{"build", "python", map[string]purpose{"*": forBuild}},
	{"hatch", "python", map[string]purpose{"test": forTest, "build": forBuild, "fmt": forLint}},
	{"ctest", "c", map[string]purpose{"*": forTest}},
	{"cmake", "c", map[string]purpose{"*": forBuild}},
	{"meson", "c", map[string]purpose{"test": forTest, "compile": forBuild}},
	{"rspec", "ruby", map[string]purpose{"*": forTest}},
	{"rails", "ruby", map[string]purpose{"test": forTest}},
	{"rubocop standardrb", "ruby", map[string]purpose{"*": forLint}},
	{"phpunit pest", "php", map[string]purpose{"*": forTest}},
	{"phpstan psalm phpcs php-cs-fixer", "php", map[string]purpose{"*": forLint}},
	{"dotnet", "dotnet", map[string]purpose{"test": forTest, "build": forBuild, "format": forLint}},
	{"deno", "js", map[string]purpose{"test": forTest, "lint": forLint, "fmt": forLint}},
	{"vitest jest mocha ava", "js", map[string]purpose{"*": forTest}},
	{"playwright", "js", map[string]purpose{"test": forTest}},
	{"eslint biome oxlint", "js", map[string]purpose{"*": forLint}},
	{"tsc vue-tsc", "js", map[string]purpose{"*": forLint}},
	{"mix", "elixir", map[string]purpose{"test": forTest, "compile": forBuild, "credo": forLint, "format": forLint}},
	{"dart flutter", "dart", map[string]purpose{"test": forTest, "analyze": forLint}},
	{"swift", "swift", map[string]purpose{"test": forTest, "build": forBuild}},
	{"zig", "zig", map[string]purpose{"build": forBuild, "test": forTest}},
	{"bats", "", map[string]purpose{"*": forTest}},
	{"shellcheck", "", map[string]purpose{"*": forLint}},
}

// tasksOf returns the purposes of the subcommands of a tool, nil if it is not known, and its language.
func tasksOf(tool string) (map[string]purpose, string) {
	for _, t := range toolTasks {
		if slices.Contains(strings.Fields(t.tools), tool) {
			return t.tasks, t.lang
		}
	}
	return nil, ""
}

// classifyWords looks for the first argument that is a known task.
func classifyWords(tool string, args []string, lang string, tasks map[string]purpose) (purpose, string, string, bool) {
	for _, a := range args {
		name := a[strings.LastIndexByte(a, ':')+1:]
		if use, ok := tasks[name]; ok {
			return use, tool + " " + name, lang, true
		}
	}
	return 0, "", "", false
}

// firstTarget returns the first argument that is neither a flag nor a variable.
func firstTarget(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.Contains(a, "=") {
			return a
		}
	}
	return ""
}
