package project

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ken/internal/repo"
)

// A TestCase is a test in a file that a runner can run alone: a function, a method or a block with a name.
type TestCase struct {
	Name string // as the runner takes it, such as TestParse or TestCart::test_total
	Line int    // of its declaration
}

// maxCases limits the tests that one command names. For more tests, the command of the file is better.
const maxCases = 10

// caseRules find the tests of a language. They rely on indentation: a declaration contains the lines below it that are
// indented more.
type caseRules struct {
	// test has the name of a test in its last group that matched.
	test func() *regexp.Regexp
	// mark matches a line above a test, such as @Test; nil if the name alone identifies a test.
	mark func() *regexp.Regexp
	// group is a block around tests whose name belongs to the names of tests, or that can be run itself.
	group func() *regexp.Regexp
	// helper is a function that tests call.
	helper func() *regexp.Regexp
	join   string // between the names of a group and of a test; "" if names stand alone
}

var caseRulesOf = map[string]caseRules{
	"go": {
		test:   lazyRegexp(`^func ((?:Test|Benchmark|Fuzz)\w*)\((?:$|\w+ \*testing\.[TBF]\b)|^func (Example\w*)\(\)`),
		helper: lazyRegexp(`^func (?:\([^)]*\) )?(\w+)`),
	},
	"python": {
		test:   lazyRegexp(`^\s*(?:async )?def (test\w*)`),
		group:  lazyRegexp(`^\s*class (?:(Test\w*)|(\w+)\(.*Test)`),
		helper: lazyRegexp(`^\s*(?:async )?def (\w+)`),
		join:   "::",
	},
	"rust": {
		test:   lazyRegexp(`^\s*(?:pub )?(?:async )?fn ((?:r#)?\w+)|^\s*\w*test\w*!\s*[({]\s*(\w+)\s*,`),
		mark:   lazyRegexp(`#\[(?:\w+::)*(?:test|rstest|test_case|wasm_bindgen_test|quickcheck)\b|^\s*\w*test\w*!\s*[({]`),
		group:  lazyRegexp(`^\s*(?:pub )?mod ((?:r#)?\w+)\s*\{`),
		helper: lazyRegexp(`^\s*(?:pub(?:\([^)]*\))? )?(?:async )?fn ((?:r#)?\w+)`),
		join:   "::",
	},
	"jvm": {
		test:   lazyRegexp(`^\s*(?:(?:public|protected|private|static|final|synchronized|suspend|override|internal)\s+)*(?:fun|<.*>|[\w.]+(?:<.*>)?(?:\[\])*)\s+(\w+)\s*\(`),
		mark:   lazyRegexp(`@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Theory)\b`),
		helper: lazyRegexp(`^\s*(?:(?:public|protected|private|static|final|suspend|internal)\s+)+(?:fun|<.*>|[\w.]+(?:<.*>)?(?:\[\])*)\s+(\w+)\s*\(`),
	},
	"js": {
		test:   lazyRegexp("^\\s*(?:await\\s+)?(?:t\\.|Deno\\.)?(?:it|test|specify)(?:\\.\\w+)*\\(\\s*(?:'((?:[^'\\\\]|\\\\.)+)'|\"((?:[^\"\\\\]|\\\\.)+)\"|`([^`]+)`)"),
		group:  lazyRegexp("^\\s*(?:describe|suite|context)(?:\\.\\w+)*\\(\\s*(?:'((?:[^'\\\\]|\\\\.)+)'|\"((?:[^\"\\\\]|\\\\.)+)\"|`([^`]+)`)"),
		helper: lazyRegexp(`^\s*(?:export )?(?:(?:async )?function\*? (\w+)|const (\w+) = (?:async )?(?:\(|function|\w+ =>))`),
	},
	"ruby": {
		test:   lazyRegexp(`^\s*(?:it|specify|test|scenario)\b\s*\(?\s*["']([^"']+)["']|^\s*def (test_\w+)`),
		group:  lazyRegexp(`^\s*(?:RSpec\.)?(?:describe|context|feature)\b\s*\(?\s*["']?([^"',]+)`),
		helper: lazyRegexp(`^\s*def (\w+)`),
	},
	"php": {
		test:   lazyRegexp(`^\s*(?:(?:public|final)\s+)*function (test\w+)`),
		helper: lazyRegexp(`^\s*(?:(?:public|protected|private|static|final)\s+)*function (\w+)`),
	},
}

// TestCasesAt returns the tests of a file that contain some of its lines, in the order of the file. If no test does, it returns
// those that name a helper with one of the lines. A file that is built only for another system has none.
func (p *Project) TestCasesAt(test repo.Path, lines []int) []TestCase {
	p.mu.Lock()
	text := p.text(test)
	only := ""
	if languageOf(test) == "go" {
		_, only = p.goBuildTags(test)
	}
	p.mu.Unlock()
	rules, ok := caseRulesOf[languageOf(test)]
	if !ok || text == nil || only != "" {
		return nil
	}
	f := &caseFile{rules: rules, lang: languageOf(test), lines: strings.Split(string(text), "\n")}
	var found []TestCase
	var helpers []string
	for _, n := range lines {
		c, helper := f.around(n)
		switch {
		case c.Line > 0:
			found = append(found, c)
		case helper != "" && !slices.Contains(helpers, helper):
			helpers = append(helpers, helper)
		}
	}
	if len(found) > 0 {
		helpers = nil
	}
	for i, line := range f.lines {
		if slices.ContainsFunc(helpers, func(h string) bool { return containsWord(line, h) }) {
			if c, _ := f.around(i + 1); c.Line > 0 {
				found = append(found, c)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b TestCase) int { return a.Line - b.Line })
	return slices.Compact(found)
}

// A caseFile is a test file whose tests are looked for.
type caseFile struct {
	rules caseRules
	lang  string
	lines []string
}

// around returns the test that contains a line, or the name of the function that does.
func (f *caseFile) around(n int) (c TestCase, helper string) {
	if n < 1 || n > len(f.lines) {
		return c, ""
	}
	var groups []TestCase
	indent := indentOf(f.lines[n-1]) + 1 // the line may declare the test itself
	for i := n - 1; i >= 0 && indent > 0; i-- {
		line := f.lines[i]
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || indentOf(line) >= indent || i < n-1 && !f.opens(trimmed) {
			continue
		}
		indent = indentOf(line)
		if strings.ContainsRune("{)}]", rune(trimmed[0])) {
			indent++ // a declaration that began further up
			continue
		}
		if name := lastGroup(f.rules.test(), line); name != "" && f.marked(i) {
			c = TestCase{name, i + 1} // the outermost counts: it runs the others
			groups = nil              // a class inside of a test is no part of its name
			continue
		}
		if f.rules.group != nil {
			if name := lastGroup(f.rules.group(), line); name != "" {
				groups = append(groups, TestCase{name, i + 1})
				continue
			}
		}
		if f.lang == "python" && strings.HasPrefix(trimmed, "class ") {
			c = TestCase{} // pytest does not look into such a class
			continue
		}
		if name := lastGroup(f.rules.helper(), line); name != "" {
			helper = name
		}
	}
	switch {
	case c.Line > 0 && f.rules.join != "":
		for _, g := range groups {
			c.Name = g.Name + f.rules.join + c.Name
		}
	case c.Line == 0 && helper == "" && f.rules.join == "" && len(groups) > 0 && groups[0].Line < n:
		c = groups[0] // the innermost block
	}
	return c, helper
}

// opens reports whether a line can begin a declaration. Go has raw strings that begin at the left margin.
func (f *caseFile) opens(trimmed string) bool {
	if f.lang != "go" {
		return true
	}
	word, _, _ := strings.Cut(trimmed, " ")
	switch word {
	case "func", "var", "type", "const", "import":
		return true
	}
	return false
}

// marked reports whether the lines above a declaration, or the line itself, show that it is a test.
func (f *caseFile) marked(i int) bool {
	if f.rules.mark == nil {
		return true
	}
	for at := i; at >= 0; at-- {
		line := strings.TrimSpace(f.lines[at])
		if f.rules.mark().MatchString(line) {
			return true
		}
		if at < i && !strings.HasPrefix(line, "#[") && !strings.HasPrefix(line, "@") && !strings.HasPrefix(line, "//") {
			return false
		}
	}
	return false
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// lastGroup returns the last group of a match that is not empty.
func lastGroup(re *regexp.Regexp, line string) string {
	m := re.FindStringSubmatch(line)
	for i := len(m) - 1; i > 0; i-- {
		if m[i] != "" {
			return m[i]
		}
	}
	return ""
}

// containsWord reports whether a line contains a name that is not part of a longer one.
func containsWord(line, name string) bool {
	isPart := func(s string) bool { return s != "" && strings.ContainsAny(s, letters+digits+"_") }
	for at := 0; ; {
		i := strings.Index(line[at:], name)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(name)
		if !isPart(line[max(0, i-1):i]) && !isPart(line[end:min(len(line), end+1)]) {
			return true
		}
		at = i + 1
	}
}

// TestCaseCommand returns the command that runs only some tests of a file. Tests of further files that [Project.TestCommand]
// runs by the same command may be among them. It is false if ken does not know such a command, or if it would name too
// many tests.
func (p *Project) TestCaseCommand(test repo.Path, cases []TestCase) (Command, bool) {
	cmd, ok, _ := p.fileCommand(test)
	if !ok || len(cases) == 0 || len(cases) > maxCases {
		return Command{}, false
	}
	cmd.Run, ok = selectCases(cmd.Run, languageOf(test), cases)
	if !ok {
		return Command{}, false
	}
	return cmd.atRoot()
}

// selectCases adds tests to the command that runs their file.
func selectCases(run, lang string, cases []TestCase) (string, bool) {
	cut := strings.LastIndexByte(run, ' ') + 1
	front, last := run[:cut], run[cut:]
	var list []string
	for _, c := range cases {
		list = append(list, c.Name)
	}
	switch lang {
	case "go":
		return goCases(run, list), true
	case "python":
		if module, ok := strings.CutSuffix(last, ".py"); ok && strings.HasSuffix(front, "-m unittest ") {
			module = strings.ReplaceAll(module, "/", ".") + "."
			names := module + strings.ReplaceAll(strings.Join(list, " "+module), "::", ".")
			return front + names, !slices.ContainsFunc(list, func(name string) bool { return !strings.Contains(name, "::") })
		}
		if !strings.Contains(run, "pytest ") || strings.HasSuffix(last, "'") {
			return "", false
		}
		return front + last + "::" + strings.Join(list, " "+last+"::"), true
	case "rust":
		if strings.HasSuffix(last, "::") { // the module of the file
			run = strings.TrimSuffix(front, " ")
			for i := range list {
				list[i] = last + list[i]
			}
		}
		for i := range list {
			list[i] = quoteWord(list[i])
		}
		if len(list) == 1 {
			return run + " " + list[0], true
		}
		return run + " -- " + strings.Join(list, " "), true
	case "jvm":
		return jvmCases(run, list)
	case "js":
		return nodeCases(run, list)
	case "ruby":
		return rubyCases(run, cases)
	case "php":
		if !strings.Contains(run, "phpunit") {
			return "", false
		}
		return run + " --filter " + quoteWord(`/::(`+strings.Join(list, "|")+`)\b/`), true
	}
	return "", false
}

// goCases selects test functions, or benchmarks if there are no others.
func goCases(run string, names []string) string {
	isBenchmark := func(name string) bool { return strings.HasPrefix(name, "Benchmark") }
	tests := slices.DeleteFunc(slices.Clone(names), isBenchmark)
	if len(tests) == 0 {
		return run + " -run '^$' -bench " + quoteWord(alternatives(names))
	}
	return run + " -run " + quoteWord(alternatives(tests))
}

// alternatives returns a regular expression that matches exactly some names.
func alternatives(names []string) string {
	if len(names) == 1 {
		return "^" + names[0] + "$"
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

func jvmCases(run string, names []string) (string, bool) {
	words := strings.Split(run, " ")
	for i, w := range words {
		if strings.HasPrefix(w, "-Dtest=") || strings.HasPrefix(w, "-Dit.test=") {
			words[i] = w + "#" + strings.Join(names, "+")
			return strings.Join(words, " "), true
		}
		if w == "--tests" && i+2 == len(words) && !strings.HasSuffix(words[i+1], "'") {
			class := words[i+1]
			return strings.Join(words[:i], " ") + " --tests " + class + "." + strings.Join(names, " --tests "+class+"."), true
		}
	}
	return "", false
}

var nameSpecial = lazyRegexp(`[.*+?^${}()|\[\]\\/]`)

// nodeCases selects tests by their titles. Parts of a title that are computed are left out.
func nodeCases(run string, names []string) (string, bool) {
	var runner *nodeRunner
	for _, w := range strings.Fields(run) {
		if runner = runnerNamed(w); runner != nil && runner.nameFlag != "" {
			break
		}
	}
	if runner == nil || runner.nameFlag == "" {
		return "", false
	}
	var list []string
	for _, name := range names {
		name, _, _ = strings.Cut(name, "${")
		name, _, _ = strings.Cut(name, "%")
		name, _, _ = strings.Cut(name, "$")
		name = strings.TrimSpace(strings.ReplaceAll(name, `\`, ""))
		if len(name) < 3 {
			return "", false // it would match too much
		}
		if name = nameSpecial().ReplaceAllString(name, `\$0`); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	pattern := strings.Join(list, "|")
	if strings.HasPrefix(pattern, "-") {
		return "", false // it would be a flag
	}
	if runner.name == "deno" {
		pattern = "/" + pattern + "/"
	}
	if runner.name == "node" || runner.name == "tsx" { // flags behind a file are the file's
		cut := strings.LastIndexByte(run, ' ')
		return run[:cut] + " " + runner.nameFlag + " " + quoteWord(pattern) + run[cut:], !strings.HasSuffix(run, "'")
	}
	return run + " " + runner.nameFlag + " " + quoteWord(pattern), true
}

func rubyCases(run string, cases []TestCase) (string, bool) {
	if strings.HasSuffix(run, "'") {
		return "", false
	}
	if strings.Contains(run, "rspec ") || strings.HasPrefix(run, "bin/rails test ") {
		for _, c := range cases {
			run += ":" + strconv.Itoa(c.Line)
		}
		return run, true
	}
	var list []string
	for _, c := range cases {
		if !strings.HasPrefix(c.Name, "test_") {
			return "", false
		}
		list = append(list, c.Name)
	}
	return run + " -n " + quoteWord("/"+alternatives(list)+"/"), true
}
