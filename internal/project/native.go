package project

import (
	"path"
	"regexp"
	"strings"

	"ken/internal/repo"
)

// nativeCommands adds the steps of CMake and autotools. A plain Makefile is read with the other task files.
func (p *Project) nativeCommands(dir repo.Path, add func(candidate)) {
	offer := func(use purpose, run string, source repo.Path, line int, key string) {
		add(candidate{
			Command: Command{Run: run, Source: source, Line: line},
			purpose: use, lang: "c", key: key, order: orderImplied,
		})
	}
	if file := p.firstFile(dir, "CMakeLists.txt"); file != "" && cmakeProject().Match(p.text(file)) {
		line := lineOf(p.text(file), `(?i)^\s*project\s*\(`)
		build := quotePath(join(dir, "build"))
		offer(forBuild, cmakeConfigure(dir)+" && cmake --build "+build, file, line, "cmake")
		if line := lineOf(p.text(file), `(?i)^\s*(enable_testing\s*\(|include\s*\(\s*CTest\s*\)|add_test\s*\()`); line > 0 {
			offer(forTest, "ctest --test-dir "+build+" --no-tests=error", file, line, "ctest")
		}
	}
	conf := p.firstFile(dir, "configure.ac", "configure.in")
	if conf == "" {
		return
	}
	start := "autoreconf -i"
	for _, script := range []string{"autogen.sh", "bootstrap", "bootstrap.sh"} {
		if p.has(join(dir, script)) {
			start = "./" + script
			break
		}
	}
	if p.has(join(dir, "configure")) {
		start = ""
	} else {
		start += " && "
	}
	offer(forBuild, inDir(dir, start+"./configure && make"), conf, 0, "make:")
	if file := p.firstFile(dir, "Makefile.am"); file != "" {
		if line := p.automakeTests(dir); line > 0 || p.manifestBelowHasTests(dir) {
			offer(forTest, inDir(dir, "make check"), file, line, "make:check")
		}
	}
}

// cmakeConfigure returns the command that makes the build directory of a project.
func cmakeConfigure(dir repo.Path) string {
	build := " -B " + quotePath(join(dir, "build"))
	if dir == "" {
		return "cmake" + build
	}
	return "cmake -S " + quotePath(dir) + build
}

var cmakeProject = lazyRegexp(`(?im)^\s*project\s*\(`)

// automakeTests returns the line of a directory's Makefile.am that lists tests, 0 for none.
func (p *Project) automakeTests(dir repo.Path) int {
	return lineOf(p.text(p.firstFile(dir, "Makefile.am")), `^[ \t]*(TESTS|check_PROGRAMS|dist_check_SCRIPTS)\s*\+?=`)
}

// manifestBelowHasTests reports whether a Makefile.am below a directory lists tests.
func (p *Project) manifestBelowHasTests(dir repo.Path) bool {
	for d := range p.manifests {
		if d != dir && d.Under(dir) && p.automakeTests(d) > 0 {
			return true
		}
	}
	return false
}

// nativeTest returns the command that runs one C or C++ test program.
func (p *Project) nativeTest(test repo.Path) (Command, bool, string) {
	stem := strings.TrimSuffix(test.Base(), path.Ext(test.Base()))
	for d := range test.Dir().Upward() {
		rel, _ := relative(d, test)
		if file := p.firstFile(d, "CMakeLists.txt"); file != "" {
			if cmd, ok := p.cmakeTest(file, rel); ok {
				return cmd, true, ""
			}
		}
		if file := p.firstFile(d, "Makefile.am"); file != "" && isName(stem) {
			if line := lineOf(p.text(file), `\b`+regexp.QuoteMeta(stem)+`\b`); line > 0 && p.automakeTests(d) > 0 {
				tool := "make"
				if d != "" {
					tool += " -C " + quotePath(d)
				}
				return Command{Run: tool + " check TESTS=" + stem, Dir: d, Source: file, Line: line}, true, ""
			}
		}
	}
	return Command{}, false, "no build file says how to run it alone"
}

// cmakeTest returns the command that builds and runs the test program that a CMakeLists.txt makes of a file.
func (p *Project) cmakeTest(file repo.Path, rel string) (Command, bool) {
	text := p.text(file)
	program, err := regexp.Compile(`(?is)\badd_executable\s*\(\s*([\w.+-]+)[^()]*?[\s/"]` + regexp.QuoteMeta(rel) + `[\s")]`)
	if err != nil {
		return Command{}, false
	}
	m := program.FindSubmatchIndex(text)
	if m == nil {
		return Command{}, false
	}
	target := string(text[m[2]:m[3]])
	// ctest knows a program only by the name of its test.
	test, err := regexp.Compile(`(?is)\badd_test\s*\(\s*(?:NAME\s+([\w.+-]+)\s+COMMAND|([\w.+-]+))\s+` + regexp.QuoteMeta(target) + `[\s)]`)
	if err != nil {
		return Command{}, false
	}
	name := lastGroup(test, string(text))
	top := file.Dir()
	for d := range file.Dir().Upward() {
		if cmakeProject().Match(p.text(p.firstFile(d, "CMakeLists.txt"))) {
			top = d
		}
	}
	if !isName(name) || !isName(target) {
		return Command{}, false
	}
	build := quotePath(join(top, "build"))
	run := cmakeConfigure(top) + " && cmake --build " + build + " --target " + target +
		" && ctest --test-dir " + build + " --no-tests=error -R " + quoteWord("^"+regexp.QuoteMeta(name)+"$")
	return Command{Run: run, Dir: top, Source: file, Line: lineAt(text, m[0])}, true
}
