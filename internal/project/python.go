package project

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// pythonCommands adds the tools that the manifests of a Python project configure.
func (p *Project) pythonCommands(dir repo.Path, add func(candidate)) {
	prefix := p.pythonPrefix(dir)
	doc := p.document(p.firstFile(dir, "pyproject.toml"))
	if conf := p.pytest(dir); conf.source != "" {
		c := candidate{
			Command: Command{Run: prefix + "pytest", in: dir, Source: conf.source, Line: conf.line},
			purpose: forTest, lang: "python", key: "pytest", order: orderImplied,
		}
		// tox and nox run pytest for each version, so CI that runs them confirms it.
		for _, s := range p.ciSteps() {
			if s.dir == dir && (s.key == "tox" || s.key == "nox") {
				c.order -= ciBonus
				break
			}
		}
		add(c)
	}
	p.pythonScripts(dir, doc, add)
	p.toxCommands(dir, doc, add)
	p.noxCommands(dir, add)
	if file := p.firstFile(dir, "manage.py"); file != "" && p.pytest(dir).source == "" {
		add(candidate{
			Command: Command{Run: prefix + "python manage.py test", in: dir, Source: file},
			purpose: forTest, lang: "python", key: "python", order: orderImplied + 1,
		})
	}
	p.pythonLinters(dir, doc, prefix, add)
	p.pythonBuild(dir, doc, prefix, add)
}

// A pythonManager is a program that installs the dependencies of a Python project, and runs its tools.
type pythonManager struct{ name, lock, install string }

var pythonManagers = []pythonManager{
	{"uv", "uv.lock", "uv sync"},
	{"poetry", "poetry.lock", "poetry install"},
	{"pdm", "pdm.lock", "pdm install"},
	{"rye", "requirements-dev.lock", "rye sync"},
}

// usesManager returns the lock file or pyproject.toml that shows that a directory uses a manager, "" for none.
func (p *Project) usesManager(dir repo.Path, m pythonManager) repo.Path {
	if lock := p.firstFile(dir, m.lock); lock != "" {
		return lock
	}
	if file := p.firstFile(dir, "pyproject.toml"); p.document(file).Has("tool", m.name) {
		return file
	}
	return ""
}

// pythonPrefix returns the prefix for commands that the project's own tool needs, with a trailing space.
func (p *Project) pythonPrefix(dir repo.Path) string {
	for d := range dir.Upward() {
		doc := p.document(p.firstFile(d, "pyproject.toml"))
		for _, m := range pythonManagers {
			if p.usesManager(d, m) != "" {
				return m.name + " run "
			}
		}
		if p.firstFile(d, "Pipfile", "Pipfile.lock") != "" {
			return "pipenv run "
		}
		if doc.Exists() {
			return ""
		}
	}
	return ""
}

// A pytestConfig is how pytest is set up for a directory.
type pytestConfig struct {
	source    repo.Path // "" if nothing says that pytest is used
	line      int
	testPaths []string
	files     []string // patterns of the names of test files
}

// pytest returns how pytest is set up in a directory.
func (p *Project) pytest(dir repo.Path) pytestConfig {
	if conf, ok := p.pyTests[dir]; ok {
		return conf
	}
	conf := p.findPytest(dir)
	if len(conf.files) == 0 {
		conf.files = []string{"test_*.py", "*_test.py"}
	}
	p.pyTests[dir] = conf
	return conf
}

func (p *Project) findPytest(dir repo.Path) pytestConfig {
	if len(p.manifests[dir]) == 0 {
		return pytestConfig{}
	}
	for _, place := range [][2]string{{"pytest.ini", "pytest"}, {".pytest.ini", "pytest"}, {"tox.ini", "pytest"}, {"setup.cfg", "tool:pytest"}} {
		file := p.firstFile(dir, place[0])
		section, ok := manifest.ParseINI(p.text(file))[place[1]]
		if file == "" || !ok && place[0] != "pytest.ini" {
			continue
		}
		return pytestConfig{
			source: file, line: section[""].Line,
			testPaths: strings.Fields(section["testpaths"].Text),
			files:     strings.Fields(section["python_files"].Text),
		}
	}
	file := p.firstFile(dir, "pyproject.toml")
	doc := p.document(file)
	for _, key := range []string{"ini_options", ""} {
		section := []string{"tool", "pytest"}
		name := "tool.pytest"
		if key != "" {
			section = append(section, key)
			name += "." + key
		}
		if !doc.Has(section...) {
			continue
		}
		return pytestConfig{
			source: file, line: lineOf(p.text(file), `^[ \t]*\[`+regexp.QuoteMeta(name)+`\]`),
			testPaths: fieldsAt(doc, append(section, "testpaths")...),
			files:     fieldsAt(doc, append(section, "python_files")...),
		}
	}
	if name, line := p.pythonDependency(dir, "pytest"); name != "" {
		return pytestConfig{source: name, line: line}
	}
	if file := p.firstFile(dir, "conftest.py"); file != "" && p.isPythonRoot(dir) {
		return pytestConfig{source: file}
	}
	if file := p.firstFile(dir, "tests/conftest.py"); file != "" {
		return pytestConfig{source: file}
	}
	for _, s := range p.ciSteps() {
		if s.key == "pytest" && s.dir == dir {
			return pytestConfig{source: s.source, line: s.line}
		}
	}
	return pytestConfig{}
}

// fieldsAt returns a list of words inside of a document that may also be one string.
func fieldsAt(doc manifest.Document, keys ...string) []string {
	var words []string
	for _, text := range doc.Texts(keys...) {
		words = append(words, strings.Fields(text)...)
	}
	return words
}

// isPythonRoot reports whether a directory has a manifest of a Python project.
func (p *Project) isPythonRoot(dir repo.Path) bool {
	return p.firstFile(dir, "pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "noxfile.py", "Pipfile", "manage.py") != "" ||
		p.manifest(dir, "requirements*.txt") != ""
}

// pythonDependency returns the file and line that list a package as a dependency.
func (p *Project) pythonDependency(dir repo.Path, name string) (repo.Path, int) {
	line := `^[ \t]*["']?` + name + `["']?\s*(?:[\[=<>~!;,"']|$)|["']` + name + `\s*(?:[\[=<>~!;][^"']*)?["']`
	for _, f := range p.manifests[dir] {
		base := f.Base()
		deps := base == "pyproject.toml" || base == "setup.cfg" || base == "setup.py" || base == "Pipfile" || strings.HasPrefix(base, "requirements")
		if !deps {
			continue
		}
		if base == "pyproject.toml" && !p.document(f).Exists() {
			continue
		}
		if n := lineOf(p.text(f), line); n > 0 {
			return f, n
		}
	}
	return "", 0
}

// pythonScripts adds the scripts of hatch, pdm, poe and taskipy.
func (p *Project) pythonScripts(dir repo.Path, doc manifest.Document, add func(candidate)) {
	file := join(dir, "pyproject.toml")
	offer := func(name, run string) {
		line := lineOf(p.text(file), `^[ \t]*["']?`+regexp.QuoteMeta(name)+`["']?\s*=`)
		purpose, order, ok := purposeOf(name)
		if !ok || !isName(name) {
			return
		}
		add(candidate{
			Command: Command{Run: run, in: dir, Source: file, Line: line},
			purpose: purpose, lang: "python", key: run, order: order,
		})
	}
	envs := doc.At("tool", "hatch", "envs")
	for _, env := range keysOf(envs) {
		for _, name := range keysOf(envs, env, "scripts") {
			if !isName(env) {
				continue
			}
			if env == "default" {
				offer(name, "hatch run "+name)
			} else {
				offer(name, "hatch run "+env+":"+name)
			}
		}
	}
	for _, runner := range []struct {
		table []string
		run   string
	}{
		{[]string{"tool", "pdm", "scripts"}, "pdm run "},
		{[]string{"tool", "poe", "tasks"}, p.pythonPrefix(dir) + "poe "},
		{[]string{"tool", "taskipy", "tasks"}, p.pythonPrefix(dir) + "task "},
	} {
		for _, name := range keysOf(doc, runner.table...) {
			offer(name, runner.run+name)
		}
	}
}

// toxCommands adds the environments of tox.
func (p *Project) toxCommands(dir repo.Path, doc manifest.Document, add func(candidate)) {
	type env struct {
		name     string
		commands string
		line     int
	}
	var envs []env
	file := p.firstFile(dir, "tox.ini")
	ini := manifest.ParseINI(p.text(file))
	if file == "" && doc.Has("tool", "tox") {
		file = join(dir, "pyproject.toml")
		if legacy := doc.Text("tool", "tox", "legacy_tox_ini"); legacy != "" {
			ini = manifest.ParseINI([]byte(legacy))
		}
		text := p.text(file)
		if base := doc.At("tool", "tox", "env_run_base"); base.Exists() {
			envs = append(envs, env{"", flatText(base.At("commands")), lineOf(text, `^[ \t]*\[tool\.tox\.env_run_base\]`)})
		}
		for _, name := range keysOf(doc, "tool", "tox", "env") {
			commands := flatText(doc.At("tool", "tox", "env", name, "commands"))
			envs = append(envs, env{name, commands, lineOf(text, `^[ \t]*\[tool\.tox\.env\.["']?`+regexp.QuoteMeta(name)+`["']?\]`)})
		}
	}
	if file == "" {
		return
	}
	for _, section := range sortedKeys(ini) {
		if section == "testenv" {
			envs = append(envs, env{"", ini[section]["commands"].Text, ini[section][""].Line})
		} else if name, ok := strings.CutPrefix(section, "testenv:"); ok {
			envs = append(envs, env{name, ini[section]["commands"].Text, ini[section][""].Line})
		}
	}
	tool := "tox"
	if name, _ := p.pythonDependency(dir, "tox"); name != "" {
		tool = p.pythonPrefix(dir) + "tox"
	}
	for _, e := range envs {
		if e.name == "" {
			if strings.Contains(e.commands, "test") || strings.Contains(e.commands, "coverage") {
				add(candidate{
					Command: Command{Run: tool, in: dir, Source: file, Line: e.line},
					purpose: forTest, lang: "python", key: "tox", order: orderImplied + 3,
				})
			}
			continue
		}
		if use, order, ok := purposeOf(e.name); ok && isName(e.name) && use == forLint {
			add(candidate{
				Command: Command{Run: tool + " -e " + e.name, in: dir, Source: file, Line: e.line},
				purpose: use, lang: "python", key: "tox -e " + e.name, order: order + 6,
			})
		}
	}
}

// flatText joins all strings of a value.
func flatText(doc manifest.Document) string {
	parts := []string{doc.Text()}
	for _, item := range doc.Items() {
		parts = append(parts, flatText(item))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

var noxSession = lazyRegexp(`(?m)^@(?:nox\.)?session\b[^\n]*(?:\n[^\n]*){0,6}?\ndef\s+(\w+)`)

// noxCommands adds the sessions of nox.
func (p *Project) noxCommands(dir repo.Path, add func(candidate)) {
	file := p.firstFile(dir, "noxfile.py")
	text := p.text(file)
	for _, m := range noxSession().FindAllSubmatchIndex(text, maxNames) {
		name := string(text[m[2]:m[3]])
		use, order, ok := purposeOf(name)
		if !ok {
			continue
		}
		add(candidate{
			Command: Command{Run: "nox -s " + name, in: dir, Source: file, Line: lineAt(text, m[2])},
			purpose: use, lang: "python", key: "nox", order: order + 6,
		})
	}
}

// pythonLinters adds the linters that are configured.
func (p *Project) pythonLinters(dir repo.Path, doc manifest.Document, prefix string, add func(candidate)) {
	pyproject := p.firstFile(dir, "pyproject.toml")
	setup := p.firstFile(dir, "setup.cfg")
	sections := manifest.ParseINI(p.text(setup))
	for _, l := range []struct {
		tool, run string
		files     []string
	}{
		{"ruff", "ruff check", []string{"ruff.toml", ".ruff.toml"}},
		{"flake8", "flake8", []string{".flake8"}},
		{"mypy", "mypy", []string{"mypy.ini", ".mypy.ini"}},
		{"pyright", "pyright", nil},
		{"black", "black --check .", nil},
		{"pylint", "pylint", nil},
	} {
		c := candidate{purpose: forLint, lang: "python", key: l.tool, order: orderConfig + 1}
		if l.tool == "ruff" {
			c.key = l.run
		}
		switch {
		case doc.Has("tool", l.tool):
			c.Source = pyproject
			c.Line = lineOf(p.text(pyproject), `^[ \t]*\[tool\.`+l.tool+`\b`)
		case p.firstFile(dir, l.files...) != "":
			c.Source = p.firstFile(dir, l.files...)
		case sections[l.tool] != nil:
			c.Source, c.Line = setup, sections[l.tool][""].Line
		default:
			continue
		}
		if l.tool == "mypy" && !p.mypyHasFiles(dir, doc, sections) || l.tool == "pylint" {
			continue // it needs arguments
		}
		run := l.run
		if name, _ := p.pythonDependency(dir, l.tool); name != "" {
			run = prefix + run
		}
		c.Run = inDir(dir, run)
		add(c)
	}
}

// mypyHasFiles reports whether the configuration of mypy lists the files to check.
func (p *Project) mypyHasFiles(dir repo.Path, doc manifest.Document, setup manifest.INI) bool {
	if doc.Has("tool", "mypy", "files") || doc.Has("tool", "mypy", "packages") {
		return true
	}
	own := manifest.ParseINI(p.text(p.firstFile(dir, "mypy.ini", ".mypy.ini")))["mypy"]
	return own["files"].Text != "" || own["packages"].Text != "" || setup["mypy"]["files"].Text != ""
}

// pythonBuild adds the build of a package that names its build system.
func (p *Project) pythonBuild(dir repo.Path, doc manifest.Document, prefix string, add func(candidate)) {
	if !doc.Has("build-system") {
		return
	}
	run := "python -m build"
	switch backend := doc.Text("build-system", "build-backend"); {
	case prefix == "uv run " || prefix == "poetry run " || prefix == "pdm run ":
		run = strings.TrimSuffix(prefix, "run ") + "build"
	case strings.HasPrefix(backend, "hatchling"):
		run = "hatch build"
	case strings.HasPrefix(backend, "flit"):
		run = "flit build"
	}
	file := join(dir, "pyproject.toml")
	add(candidate{
		Command: Command{Run: run, in: dir, Source: file, Line: lineOf(p.text(file), `^[ \t]*\[build-system\]`)},
		purpose: forBuild, lang: "python", key: "build", order: orderImplied,
	})
}

// pythonTest returns the command that runs one Python test file.
func (p *Project) pythonTest(test repo.Path) (Command, bool, string) {
	for d := range test.Dir().Upward() {
		rel, _ := relative(d, test)
		conf := p.pytest(d)
		if conf.source != "" && (p.isPythonRoot(d) || d == "") {
			return p.pytestFile(d, conf, rel), true, p.outsideTestPaths(conf, rel)
		}
		if cmd, ok := p.djangoTest(d, rel); ok {
			return cmd, true, ""
		}
	}
	// unittest runs no function outside of a class, and says OK.
	if line := lineOf(p.text(test), `^class \w+\(.*\bTestCase\b`); line > 0 {
		cmd := Command{Source: test, Line: line}
		for _, s := range p.ciSteps() {
			if s.key == "unittest" && test.Under(s.dir) {
				cmd = Command{in: s.dir, Dir: s.dir, Source: s.source, Line: s.line}
				break
			}
		}
		rel, _ := relative(cmd.in, test)
		if strings.Contains(strings.TrimSuffix(rel, ".py"), ".") {
			return Command{}, false, "its path is not the name of a module"
		}
		cmd.Run = p.pythonPrefix(cmd.in) + "python -m unittest " + quotePath(repo.Path(rel))
		return cmd, true, ""
	}
	if line := lineOf(p.text(test), `^[ \t]*(?:import pytest|from pytest\b)`); line > 0 {
		return Command{Run: "pytest " + quotePath(test), Source: test, Line: line}, true, ""
	}
	return Command{}, false, "no file says which program runs it"
}

// pytestFile returns the command that runs a file with pytest, by a script of hatch if that is how the project runs it.
func (p *Project) pytestFile(dir repo.Path, conf pytestConfig, rel string) Command {
	doc := p.document(p.firstFile(dir, "pyproject.toml"))
	envs := doc.At("tool", "hatch", "envs")
	arg := quotePath(repo.Path(rel))
	for _, env := range keysOf(envs) {
		for _, name := range []string{"test", "tests"} {
			script := flatText(envs.At(env, "scripts", name))
			if !strings.Contains(script, "pytest") || !strings.Contains(script, "{args") || !isName(env) {
				continue
			}
			run := "hatch run " + env + ":" + name
			if env == "default" {
				run = "hatch run " + name
			}
			file := join(dir, "pyproject.toml")
			return Command{Run: run + " " + arg, in: dir, Dir: dir, Source: file, Line: lineOf(p.text(file), `^[ \t]*`+name+`\s*=`)}
		}
	}
	return Command{Run: p.pythonPrefix(dir) + "pytest " + arg, in: dir, Dir: dir, Source: conf.source, Line: conf.line}
}

// outsideTestPaths returns a note if pytest without arguments does not run a file, "" if it does.
func (p *Project) outsideTestPaths(conf pytestConfig, rel string) string {
	if len(conf.testPaths) == 0 {
		return ""
	}
	for _, t := range conf.testPaths {
		t = strings.TrimSuffix(path.Clean(t), "/")
		if t == "." || matchesAny([]string{t, t + "/**"}, rel) {
			return ""
		}
	}
	return "pytest without arguments runs " + cleanText(strings.Join(conf.testPaths, " ")) + " only"
}

// djangoTest returns the command that runs a test file of a Django project, or of Django itself.
func (p *Project) djangoTest(dir repo.Path, rel string) (Command, bool) {
	module, ok := strings.CutSuffix(rel, ".py")
	module = strings.ReplaceAll(module, "/", ".")
	if !ok || !isName(module) {
		return Command{}, false
	}
	if file := p.firstFile(dir, "manage.py"); file != "" {
		run := p.pythonPrefix(dir) + "python manage.py test " + module
		return Command{Run: run, in: dir, Dir: dir, Source: file}, true
	}
	if file := p.firstFile(dir, "runtests.py"); strings.Contains(string(p.text(file)), "django") {
		return Command{Run: "python runtests.py " + module, in: dir, Dir: dir, Source: file}, true
	}
	return Command{}, false
}

// isPythonTest reports whether a Python file has the name of a test, by the patterns of pytest if the project has some.
func (p *Project) isPythonTest(file repo.Path) bool {
	for d := range file.Dir().Upward() {
		conf := p.pytest(d)
		if conf.source == "" {
			continue
		}
		base := file.Base()
		return base == "tests.py" || base != "conftest.py" && slices.ContainsFunc(conf.files, func(pattern string) bool {
			ok, _ := path.Match(pattern, base)
			return ok
		})
	}
	return file.IsTest()
}
