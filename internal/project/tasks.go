package project

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// A task is a target of a Makefile, a recipe of a justfile, or a task of a Taskfile.
type task struct {
	name   string
	source repo.Path
	line   int
}

// taskCommands adds the tasks of a directory whose names show their purpose.
func (p *Project) taskCommands(dir repo.Path, add func(candidate)) {
	if file := p.firstFile(dir, "GNUmakefile", "makefile", "Makefile"); file != "" {
		p.makeCommands(dir, file, add)
	}
	if file := p.firstFile(dir, "justfile", "Justfile", ".justfile"); file != "" {
		for _, t := range justRecipes(file, p.text(file)) {
			addTask(t, "just:", inDir(dir, "just "+t.name), add)
		}
	}
	if file := p.firstFile(dir, "Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"); file != "" {
		tool := "task "
		if dir != "" {
			tool = "task -d " + quotePath(dir) + " "
		}
		root := p.document(file).YAML()
		for _, t := range taskfileTasks(file, root) {
			addTask(t, "task:", tool+t.name, add)
		}
	}
	for _, folder := range []string{"script/", "scripts/", ""} {
		for _, name := range []string{"test", "test.sh", "tests.sh", "run-tests.sh", "run_tests.sh", "lint", "lint.sh", "build", "build.sh"} {
			file := p.firstFile(dir, folder+name)
			shell := p.interpreter(file)
			if shell == "" {
				continue
			}
			stem := strings.TrimPrefix(strings.NewReplacer("run-", "", "run_", "", ".sh", "").Replace(name), "-")
			use, _, ok := purposeOf(stem)
			if ok {
				add(candidate{
					Command: Command{Run: shell + " " + quotePath(file), Source: file, Line: 1},
					purpose: use, key: string(file), order: orderVariant + 2,
				})
			}
		}
	}
	if file := p.firstFile(dir, "compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"); file != "" {
		run := "docker compose up"
		if dir != "" {
			run = "docker compose -f " + quotePath(file) + " up"
		}
		add(candidate{Command: Command{Run: run, Source: file}, purpose: forRun, key: "docker compose", order: orderVariant + 5})
	}
	if file := p.firstFile(dir, ".pre-commit-config.yaml"); file != "" {
		add(candidate{
			Command: Command{Run: "pre-commit run --all-files", in: dir, Source: file},
			purpose: forLint, key: "pre-commit", order: orderConfig,
		})
	}
}

// addTask adds a task if its name shows its purpose.
func addTask(t task, tool, run string, add func(candidate)) {
	purpose, order, ok := purposeOf(t.name)
	if !ok || !isName(t.name) {
		return
	}
	add(candidate{
		Command: Command{Run: run, Source: t.source, Line: t.line},
		purpose: purpose, key: tool + t.name, order: order,
	})
}

func (p *Project) makeCommands(dir, file repo.Path, add func(candidate)) {
	tool := "make"
	if dir != "" {
		tool = "make -C " + quotePath(dir)
	}
	targets := p.makeTargets(dir, file, nil)
	builds := func(t task) bool { return t.name == "build" || t.name == "compile" }
	build := slices.ContainsFunc(targets, builds)
	for i, t := range targets {
		all := t.name == "all" || t.name == "default" || t.name == "build-all"
		if all && build {
			continue
		}
		if all && i == 0 {
			add(candidate{
				Command: Command{Run: tool, Source: t.source, Line: t.line},
				purpose: forBuild, key: "make:", order: orderNamed,
			})
			continue
		}
		addTask(t, "make:", tool+" "+t.name, add)
	}
}

var (
	makeRule    = lazyRegexp(`^([^\s#:=][^#:=]*?)\s*::?(?:[^=:]|$)`)
	makeInclude = lazyRegexp(`^[ \t]*-?s?include\s+([^\s$#]+)\s*$`)
	justRule    = lazyRegexp(`^@?([A-Za-z_][\w-]*)((?:\s[^:]*)?):(?:[^=]|$)`)
)

// makeTargets returns the targets of a Makefile and of those that it includes by a plain name, each once.
func (p *Project) makeTargets(dir, file repo.Path, seen []repo.Path) []task {
	const deepest = 4
	if slices.Contains(seen, file) || len(seen) >= deepest {
		return nil
	}
	seen = append(seen, file)
	var targets []task
	n := 0
	inDefine := false
	continued := false
	for line := range strings.Lines(string(p.text(file))) {
		n++
		line = strings.TrimRight(line, "\n")
		wasContinued := continued
		continued = strings.HasSuffix(line, "\\")
		switch {
		case strings.HasPrefix(line, "define "):
			inDefine = true
		case strings.HasPrefix(line, "endef"):
			inDefine = false
		case inDefine, wasContinued, line == "", line[0] == '\t', line[0] == ' ':
		default:
			if m := makeInclude().FindStringSubmatch(line); m != nil {
				targets = append(targets, p.makeTargets(dir, join(dir, m[1]), seen)...)
				continue
			}
			m := makeRule().FindStringSubmatch(line)
			if m == nil {
				continue
			}
			for name := range strings.FieldsSeq(m[1]) {
				known := func(t task) bool { return t.name == name }
				if len(targets) < 10*maxNames && name[0] != '.' && !strings.ContainsAny(name, "%$(){}") && !slices.ContainsFunc(targets, known) {
					targets = append(targets, task{name, file, n})
				}
			}
		}
	}
	return targets
}

// justRecipes returns the recipes that can be run without an argument.
func justRecipes(file repo.Path, text []byte) []task {
	var recipes []task
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		m := justRule().FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || needsArgument(m[2]) {
			continue
		}
		if len(recipes) < maxNames {
			recipes = append(recipes, task{m[1], file, n})
		}
	}
	return recipes
}

// needsArgument reports whether the parameters of a recipe include one without a default.
func needsArgument(parameters string) bool {
	for parameter := range strings.FieldsSeq(parameters) {
		optional := strings.ContainsAny(parameter, "=") || strings.HasPrefix(parameter, "*")
		if !optional {
			return true
		}
	}
	return false
}

// taskfileTasks returns the tasks of a Taskfile.
func taskfileTasks(file repo.Path, root *yaml.Node) []task {
	var tasks []task
	for key, value := range manifest.YAMLPairs(manifest.YAMLAt(root, "tasks")) {
		if internal := manifest.YAMLAt(value, "internal"); internal != nil && internal.Value == "true" {
			continue
		}
		if len(tasks) < maxNames {
			tasks = append(tasks, task{key.Value, file, key.Line})
		}
	}
	return tasks
}
