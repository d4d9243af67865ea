package project

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"ken/internal/repo"
)

var (
	globValue    = lazyRegexp(`\b(include|testMatch|spec|exclude|testIgnore)\s*['"]?\s*:\s*`)
	regexpValue  = lazyRegexp(`\b(testRegex|testPathIgnorePatterns)\s*['"]?\s*:\s*`)
	rootsValue   = lazyRegexp(`\broots\s*['"]?\s*:\s*`)
	rootDirText  = lazyRegexp(`\brootDir\s*['"]?\s*:\s*['"]([^'"\n]+)['"]`)
	quotedText   = lazyRegexp("'([^'\n]*)'|\"([^\"\n]*)\"|`([^`\n$]*)`")
	testDirText  = lazyRegexp(`\btestDir\s*:\s*['"]([^'"\n]+)['"]`)
	dirText      = lazyRegexp(`\bdir\s*:\s*['"]([^'"\n]+)['"]`)
	projectArray = lazyRegexp(`\b(?:projects|workspace)\s*['"]?\s*:\s*\[`)
)

// A testPattern says which files a runner takes. All paths are from the package's directory.
type testPattern struct {
	dir   string           // globs are from here, and other files are not taken
	roots []string         // files outside of them are not taken; none for all files
	globs globList         // of the files
	exprs []*regexp.Regexp // of the files, each with a slash before it; they replace globs
	not   []*regexp.Regexp // of files that are not taken
}

func (t *testPattern) match(file string) bool {
	within := func(dir string) bool { return dir == "" || strings.HasPrefix(file, dir+"/") }
	matches := func(re *regexp.Regexp) bool { return re.MatchString("/" + file) }
	switch {
	case !within(t.dir) || len(t.roots) > 0 && !slices.ContainsFunc(t.roots, within):
		return false
	case slices.ContainsFunc(t.not, matches):
		return false
	case len(t.exprs) > 0:
		return slices.ContainsFunc(t.exprs, matches)
	case t.dir != "":
		file = file[len(t.dir)+1:]
	}
	return t.globs.match(file)
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
	return run.flag("-r", "--root")
}

// setPatterns finds out which files a run takes: those that the script names, else those that the configuration
// lists, else the runner's own.
func (p *Project) setPatterns(pkg *nodePackage, run *testRun) {
	var named []string
	for _, arg := range run.files {
		arg = strings.TrimSuffix(strings.TrimPrefix(arg, "./"), "/")
		if arg == "." {
			arg = "**"
		}
		named = append(named, arg, arg+"/**")
	}
	run.named = compileGlobs(named)

	code, config := p.configCode(pkg, run)
	base, _ := relative(pkg.dir, config.Dir())
	if config == "" || run.runner.name != "jest" && run.runner.name != "playwright" {
		base = "" // the runner starts in the package's directory
	}
	lists := configGlobs(code, run.runner)
	all := testPattern{dir: base}
	dirs := []string{base}
	switch run.runner.name {
	case "vitest":
		dirs = vitestDirs(code, run)
	case "jest":
		all.readJest(code)
		dirs = []string{all.dir}
	case "playwright":
		if found := testDirText().FindAllStringSubmatch(code, 20); found != nil {
			dirs = nil
			for _, m := range found {
				dirs = append(dirs, within(base, m[1]))
			}
		}
	}
	if len(lists) > 0 || len(all.exprs) > 0 || len(all.not) > 0 || len(all.roots) > 0 || !slices.Equal(dirs, []string{""}) {
		run.config = config
	}
	if len(lists) == 0 {
		lists = [][]string{run.runner.patterns}
	}
	for _, dir := range dirs {
		for _, globs := range lists {
			one := all
			own := slices.Clone(globs)
			for i, glob := range own {
				own[i] = strings.TrimPrefix(glob, "<rootDir>/")
			}
			one.dir, one.globs = dir, compileGlobs(own)
			run.patterns = append(run.patterns, one)
		}
	}
}

// within returns a directory that a configuration names, from the package's directory. A name that leads out of the package means
// the package.
func within(base, name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "<rootDir>"), "/")
	dir := path.Join(base, name)
	if dir == "." || dir == ".." || strings.HasPrefix(dir, "../") {
		return ""
	}
	return dir
}

// vitestDirs returns the directories that vitest searches.
func vitestDirs(code string, run *testRun) []string {
	root := within("", run.root())
	if dir := run.flag("--dir"); dir != "" {
		return []string{within("", dir)}
	}
	for _, m := range dirText().FindAllStringSubmatchIndex(code, 20) {
		open := openBrace(code[:m[0]])
		if open >= 0 && strings.HasSuffix(strings.TrimRight(code[:open], " \t\n"), "test:") {
			return []string{within(root, code[m[2]:m[3]])}
		}
	}
	return []string{root}
}

// readJest reads the directories and regular expressions of a configuration of jest. dir is the directory of its file.
func (t *testPattern) readJest(code string) {
	if m := rootDirText().FindStringSubmatch(code); m != nil {
		t.dir = within(t.dir, m[1])
	}
	if m := rootsValue().FindStringIndex(code); m != nil {
		for _, root := range quotedStrings(valueAt(code, m[1])) {
			t.roots = append(t.roots, within(t.dir, root))
		}
	}
	rootDir := ""
	if t.dir != "" {
		rootDir = "/" + regexp.QuoteMeta(t.dir)
	}
	for _, m := range regexpValue().FindAllStringSubmatchIndex(code, 20) {
		for _, expr := range quotedStrings(valueAt(code, m[1])) {
			const longest = 500
			if rest, ok := strings.CutPrefix(expr, "<rootDir>"); ok {
				expr = "^" + rootDir + rest
			}
			re, err := regexp.Compile(expr)
			switch {
			case err != nil || len(expr) > longest:
			case code[m[2]:m[3]] == "testRegex":
				t.exprs = append(t.exprs, re)
			default:
				t.not = append(t.not, re)
			}
		}
	}
}

// configCode returns the configuration of a run as code without comments, and its file: the one that the run names, else a part of
// package.json, else the file with the default name.
func (p *Project) configCode(pkg *nodePackage, run *testRun) (string, repo.Path) {
	name := run.runner.name
	config := repo.Path("")
	switch named := run.flag("-c", "--config"); {
	case run.runner.builtin:
		return "", ""
	case named != "":
		config = join(pkg.dir, path.Join(run.root(), named))
	case slices.Contains(run.flags, "--no-config"):
		return "", ""
	default:
		if section := at(pkg.doc, name); section != nil && (name == "jest" || name == "ava" || name == "mocha") {
			return sectionCode(section), pkg.file
		}
		config = p.runnerConfig(join(pkg.dir, run.root()), name)
	}
	if ext := path.Ext(config.Base()); ext == ".yml" || ext == ".yaml" || name == "mocha" && ext != ".js" && ext != ".cjs" && ext != ".mjs" {
		if spec := textsAt(p.document(config), "spec"); len(spec) > 0 {
			return sectionCode(map[string]any{"spec": spec}), config
		}
	}
	code := withoutComments(string(p.text(config)))
	for _, block := range []string{"coverage", "optimizeDeps", "typecheck", "benchmark"} {
		code = dropBlock(code, block)
	}
	return code, config
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

// configGlobs returns the lists of globs in a configuration; none if it has no list.
func configGlobs(code string, runner *nodeRunner) [][]string {
	own := runner.patterns
	if runner.name == "ava" {
		var section struct{ Files []string }
		if json.Unmarshal([]byte(code), &section) == nil && len(section.Files) > 0 {
			return [][]string{directoryGlobs(section.Files)}
		}
	}
	lists := arrayGlobs(code, own)
	switch runner.name {
	case "mocha", "ts-mocha":
		for i := range lists {
			lists[i] = directoryGlobs(lists[i])
		}
	case "playwright":
		for _, list := range lists {
			for i, glob := range list {
				glob, negated := strings.CutPrefix(glob, "!")
				list[i] = "**/" + strings.TrimPrefix(glob, "**/")
				if negated {
					list[i] = "!" + list[i]
				}
			}
		}
		return lists
	}
	m := projectArray().FindStringIndex(code)
	if m == nil {
		return lists
	}
	// A project may be a directory, or a configuration file in one.
	array := withoutObjects(valueAt(code, m[1]-1))
	names := quotedStrings(array)
	switch computed := ownIfComputed(array, own); {
	case computed == nil && len(names) > 0:
		lists = nil // each project has its own file
	case computed != nil && len(lists) == 0:
		return [][]string{computed}
	}
	for _, s := range names {
		dir := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "<rootDir>/"), "./"), "/")
		if strings.HasPrefix(dir, "!") {
			continue
		}
		if strings.Contains(path.Base(dir), ".config") {
			dir = path.Dir(dir)
		}
		for _, glob := range own {
			lists = append(lists, []string{path.Join(dir, glob)})
		}
	}
	return lists
}

// arrayGlobs returns a list of globs for each object of JavaScript code that has some. An exclude array counts for the
// object that contains it, or for the runner's own globs if no object has others. If the code computes a value, the runner's own
// globs count.
func arrayGlobs(code string, own []string) [][]string {
	const maxArrays = 50
	type object struct {
		in, out []string
	}
	objects := make(map[int]*object)
	var order []int
	for _, m := range globValue().FindAllStringSubmatchIndex(code, maxArrays) {
		value := valueAt(code, m[1])
		if value == "" {
			continue
		}
		at := openBrace(code[:m[0]])
		o := objects[at]
		if o == nil {
			o = new(object)
			objects[at] = o
			order = append(order, at)
		}
		globs := quotedStrings(value)
		if key := code[m[2]:m[3]]; key == "exclude" || key == "testIgnore" {
			for _, glob := range globs {
				o.out = append(o.out, "!"+glob)
			}
			continue
		}
		o.in = append(o.in, globs...)
		o.in = append(o.in, ownIfComputed(value, own)...)
	}
	var lists [][]string
	var out []string
	for _, at := range order {
		o := objects[at]
		out = append(out, o.out...)
		if len(o.in) > 0 {
			lists = append(lists, append(slices.Clone(o.in), o.out...))
		}
	}
	if len(lists) == 0 && len(out) > 0 {
		lists = append(lists, append(slices.Clone(own), out...))
	}
	return lists
}

// ownIfComputed returns the runner's own globs if an array has elements other than string literals.
func ownIfComputed(array string, own []string) []string {
	rest := quotedText().ReplaceAllString(array, "")
	if strings.Trim(rest, "[], \t\r\n") == "" {
		return nil
	}
	return own
}

// literalEnd returns the offset after the string literal that begins at an offset of JavaScript code, the offset itself if none does.
func literalEnd(code string, at int) int {
	quote := code[at]
	if quote != '\'' && quote != '"' && quote != '`' {
		return at
	}
	for i := at + 1; i < len(code); i++ {
		switch {
		case code[i] == '\\':
			i++
		case code[i] == quote:
			return i + 1
		case code[i] == '\n' && quote != '`':
			return i
		}
	}
	return len(code)
}

// withoutComments returns JavaScript code without its comments.
func withoutComments(code string) string {
	var b strings.Builder
	for i := 0; i < len(code); {
		end := literalEnd(code, i)
		switch {
		case end > i:
			b.WriteString(code[i:end])
		case strings.HasPrefix(code[i:], "//"):
			end = len(code)
			if n := strings.IndexByte(code[i:], '\n'); n >= 0 {
				end = i + n
			}
		case strings.HasPrefix(code[i:], "/*"):
			end = len(code)
			if n := strings.Index(code[i+2:], "*/"); n >= 0 {
				end = i + 2 + n + 2
			}
		default:
			end = i + 1
			b.WriteByte(code[i])
		}
		i = end
	}
	return b.String()
}

// valueAt returns the array or string literal that begins at an offset of JavaScript code, "" if none does.
func valueAt(code string, at int) string {
	if at >= len(code) {
		return ""
	}
	if code[at] != '[' {
		return code[at:literalEnd(code, at)]
	}
	depth := 0
	for i := at; i < len(code); {
		switch code[i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			return code[at : i+1]
		}
		i = max(literalEnd(code, i), i+1)
	}
	return ""
}

// withoutObjects returns JavaScript code with a brace in place of each object.
func withoutObjects(code string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(code); {
		end := max(literalEnd(code, i), i+1)
		switch {
		case code[i] == '{':
			if depth == 0 {
				b.WriteByte('{')
			}
			depth++
		case code[i] == '}':
			depth--
		case depth == 0:
			b.WriteString(code[i:end])
		}
		i = end
	}
	return b.String()
}

// openBrace returns the offset of the last brace in code that is not closed again, -1 for none.
func openBrace(code string) int {
	depth := 0
	for i := len(code) - 1; i >= 0; i-- {
		switch code[i] {
		case '}':
			depth++
		case '{':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// directoryGlobs replaces a directory with a glob for its files.
func directoryGlobs(globs []string) []string {
	out := make([]string, len(globs))
	for i, glob := range globs {
		if !strings.Contains(path.Base(glob), ".") && !strings.Contains(path.Base(glob), "*") {
			glob += "/**"
		}
		out[i] = glob
	}
	return out
}

// quotedStrings returns the string literals of JavaScript code.
func quotedStrings(code string) []string {
	var list []string
	for _, m := range quotedText().FindAllStringSubmatch(code, -1) {
		list = append(list, strings.ReplaceAll(m[1]+m[2]+m[3], `\\`, `\`))
	}
	return list
}

// dropBlock removes the first object of a name from JavaScript code.
func dropBlock(code, name string) string {
	i := strings.Index(code, name+":")
	if i < 0 {
		return code
	}
	open := strings.IndexByte(code[i:], '{')
	if open < 0 || strings.TrimSpace(code[i+len(name)+1:i+open]) != "" {
		return code
	}
	depth := 0
	for j := i + open; j < len(code); j++ {
		switch code[j] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return code[:i] + code[j+1:]
		}
	}
	return code[:i]
}

// The values of testRun.fits.
const (
	fitNone    = iota
	fitDefault // by the patterns of the runner or its configuration
	fitNamed   // by a file, directory or glob in the script
)
