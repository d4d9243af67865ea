package project

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"ken/internal/repo"
)

// maxConfig limits how much of a configuration is read: the expressions below take long for more.
const maxConfig = 32 << 10

// A fit says whether a run takes a file.
type fit int

const (
	fitNone    fit = iota
	fitUnknown     // the configuration decides by more than literal strings
	fitDefault     // by the patterns of the runner or its configuration
	fitNamed       // by a file, directory or glob in the script
)

// A testFiles says which files of a package a run takes, as far as its words and the literal strings of its
// configuration do. Patterns match a path from the package's directory with a slash before it.
type testFiles struct {
	named  bool // the words of the run name them
	globs  globList
	dirs   []repo.Path // other files are not taken
	maybe  globList    // files that a computed part of the configuration may take
	config repo.Path   // the file with the settings; "" if the runner's own patterns decide
}

func (t *testFiles) fit(file string) fit {
	contains := func(dir repo.Path) bool { return repo.Path(file).Under(dir) }
	switch taken := t.globs.match("/" + file); {
	case !slices.ContainsFunc(t.dirs, contains):
		return fitNone
	case taken && t.named:
		return fitNamed
	case taken:
		return fitDefault
	case t.maybe.match("/" + file):
		return fitUnknown
	}
	return fitNone
}

// flag returns the value of the first of the flags that a run has, "" for none.
func (run *testRun) flag(names ...string) string {
	for i, f := range run.flags {
		name, value, ok := strings.Cut(f, "=")
		switch {
		case !slices.Contains(names, name):
		case ok:
			return value
		case i+1 < len(run.flags):
			return run.flags[i+1]
		}
	}
	return ""
}

// root returns the directory in which vitest starts according to its flags, "" for the directory of the package.
func (run *testRun) root() string {
	if run.runner.name != "vitest" {
		return ""
	}
	return within("", run.flag("-r", "--root"))
}

// testFiles finds out which files a run takes: those that the script names, else those that the configuration lists,
// else the runner's own.
func (p *Project) testFiles(pkg *nodePackage, run *testRun) testFiles {
	r := run.runner
	if len(run.files) > 0 {
		return testFiles{named: true, globs: compileGlobs(rooted("", run.files)), dirs: []repo.Path{""}}
	}
	code, config := p.configCode(pkg, run)
	isLong := len(code) > maxConfig
	settings := make(map[string]*setting)
	readSettings(code[:min(len(code), maxConfig)], settings)
	base := run.base(pkg, code, config, settings)
	include := settings[r.include]
	computed := isLong || include.isComputed()
	projects := settings["projects"]
	own := rooted(base, r.patterns)

	takes := testFiles{}
	for _, dir := range settings[r.dirs].literals() {
		takes.dirs = append(takes.dirs, repo.Path(within(base, dir)))
	}
	if len(takes.dirs) == 0 {
		takes.dirs = []repo.Path{repo.Path(base)}
	}
	globs := rooted(base, include.literals())
	for _, dir := range projects.literals() {
		if strings.Contains(path.Base(dir), ".config") {
			dir = path.Dir(dir)
		}
		globs = append(globs, rooted(within(base, dir), r.patterns)...)
	}
	exprs := jestExprs(base, settings["testRegex"])
	listed := len(globs)+len(exprs) > 0 || computed
	if !listed {
		globs = own
	}
	if computed || projects.isComputed() {
		takes.maybe = compileGlobs(slices.Concat(own, globs))
	}
	for _, glob := range rooted(base, settings[r.exclude].literals()) {
		globs = append(globs, "!"+glob)
	}
	takes.globs = compileGlobs(globs)
	takes.globs.in = append(takes.globs.in, exprs...)
	takes.globs.out = append(takes.globs.out, jestExprs(base, settings["testPathIgnorePatterns"])...)
	if len(settings) > 0 || base != "" || isLong {
		takes.config = config
	}
	return takes
}

// base returns the directory from which a runner looks for files.
func (run *testRun) base(pkg *nodePackage, code string, config repo.Path, settings map[string]*setting) string {
	switch run.runner.name {
	case "vitest":
		if dir := run.flag("--dir"); dir != "" {
			return within("", dir)
		}
		if m := vitestDir().FindStringSubmatch(code); m != nil {
			return within(run.root(), unquote(m[1]))
		}
		return run.root()
	case "jest", "playwright":
		base := ""
		if config != "" {
			base, _ = relative(pkg.dir, config.Dir())
		}
		if dirs := settings["rootDir"].literals(); len(dirs) > 0 {
			return within(base, dirs[0])
		}
		return base
	}
	return ""
}

// within returns a directory that a configuration names, from the package's directory. A name that leads out of the
// package means the package.
func within(base, name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "<rootDir>"), "/")
	dir := path.Join(base, name)
	if dir == "." || dir == ".." || strings.HasPrefix(dir, "../") {
		return ""
	}
	return dir
}

// rooted returns globs of a directory as globs of paths that begin with a slash at the package's directory. One that
// names a directory takes its files.
func rooted(base string, globs []string) []string {
	var list []string
	for _, glob := range globs {
		glob, negated := strings.CutPrefix(glob, "!")
		glob = path.Join("/", base, strings.TrimPrefix(glob, "<rootDir>/"))
		if negated {
			glob = "!" + glob
		}
		list = append(list, glob, glob+"/**")
	}
	return list
}

// jestExprs returns the regular expressions of a setting of jest. It leaves out those that are malformed or long.
func jestExprs(base string, s *setting) []*regexp.Regexp {
	const longest = 500
	root := "^"
	if base != "" {
		root += "/" + regexp.QuoteMeta(base)
	}
	var list []*regexp.Regexp
	for _, expr := range s.literals() {
		if rest, ok := strings.CutPrefix(expr, "<rootDir>"); ok {
			expr = root + rest
		}
		if re, err := regexp.Compile(expr); err == nil && len(expr) <= longest {
			list = append(list, re)
		}
	}
	return list
}

// configCode returns the configuration of a run as code without comments, and its file: the one that the run names,
// else a part of package.json, else the file with the default name.
func (p *Project) configCode(pkg *nodePackage, run *testRun) (string, repo.Path) {
	name := run.runner.name
	named := run.flag("-c", "--config")
	config := repo.Path("")
	switch {
	case run.runner.builtin || slices.Contains(run.flags, "--no-config"):
		return "", ""
	case named != "":
		config = join(pkg.dir, path.Join(run.root(), named))
	case name == "jest" || name == "ava" || name == "mocha":
		if section := pkg.doc.At(name); section.Exists() {
			return sectionCode(section.Value()), pkg.file
		}
		config = p.runnerConfig(pkg.dir, run.runner)
	default:
		config = p.runnerConfig(join(pkg.dir, run.root()), run.runner)
	}
	code := jsComment().ReplaceAllString(string(p.text(config)), "$1")
	return otherBlock().ReplaceAllString(code, ""), config
}

// sectionCode returns a part of a document as JSON.
func sectionCode(section any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(section) != nil {
		return ""
	}
	return b.String()
}

const quoted = `'[^'\n]*'|"(?:[^"\\\n]|\\.)*"|` + "`[^`]*`"

var (
	jsComment = lazyRegexp(`(` + quoted + `)|//[^\n]*|(?s:/\*.*?\*/)`)
	// otherBlock matches settings about files that are not the tests to run.
	otherBlock  = lazyRegexp(`\b(?:coverage|optimizeDeps|typecheck|benchmark)\s*:\s*` + nested(`\{`, `\}`))
	jsObject    = lazyRegexp(nested(`\{`, `\}`))
	settingText = lazyRegexp(`\b(include|exclude|testMatch|testIgnore|testRegex|testPathIgnorePatterns` +
		`|roots|rootDir|testDir|spec|specPattern|files|projects|workspace)` +
		`['"]?\s*:\s*(` + nested(`\[`, `\]`) + `|` + quoted + `)?`)
	vitestDir    = lazyRegexp(`\btest\s*:\s*\{[^{}]*?\bdir\s*:\s*(` + quoted + `)`)
	quotedString = lazyRegexp(quoted)
	defaultsOf   = lazyRegexp(`\.\.\.\(?(?:configDefaults|defaultExclude|defaultInclude)\b[\w.]*`)
)

// nested returns an expression for a pair of brackets with what it contains, at most four levels deep.
func nested(open, end string) string {
	inside := quoted + "|[^'\"`" + open + end + "]"
	expr := open + `(?:` + inside + `)*` + end
	for range 3 {
		expr = open + `(?:` + inside + `|` + expr + `)*` + end
	}
	return expr
}

// A setting has the values of one key in a configuration. Its methods accept nil, for a key that is not there.
type setting struct {
	texts    []string // the string literals
	computed bool     // there are other values
}

func (s *setting) literals() []string {
	if s == nil {
		return nil
	}
	return s.texts
}

func (s *setting) isComputed() bool { return s != nil && s.computed }

// readSettings adds the settings of JavaScript or JSON code that say which files are tests. Of projects, the strings
// are the names and the objects have settings of their own.
func readSettings(code string, settings map[string]*setting) {
	for _, m := range settingText().FindAllStringSubmatch(code, maxNames) {
		key, value := m[1], m[2]
		if key == "workspace" {
			key = "projects"
		}
		s := settings[key]
		if s == nil {
			s = new(setting)
			settings[key] = s
		}
		if key == "projects" {
			readSettings(value, settings)
			objects := jsObject().ReplaceAllString(value, "")
			s.computed = s.computed || objects != value
			value = objects
		}
		for _, text := range quotedString().FindAllString(value, -1) {
			s.texts = append(s.texts, unquote(text))
		}
		rest := defaultsOf().ReplaceAllString(quotedString().ReplaceAllString(value, ""), "")
		s.computed = s.computed || value == "" || strings.Trim(rest, "[], \t\r\n") != ""
	}
}

// unquote returns the text of a string literal.
func unquote(literal string) string { return strings.ReplaceAll(literal[1:len(literal)-1], `\\`, `\`) }

// quotedStrings returns the string literals of code.
func quotedStrings(code string) []string {
	var list []string
	for _, text := range quotedString().FindAllString(code, -1) {
		list = append(list, unquote(text))
	}
	return list
}
