package project

import (
	"encoding/xml"
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
)

// gradleBuild returns the directory of the Gradle build that a directory belongs to: the nearest with settings, else the
// nearest with a build file.
func (p *Project) gradleBuild(dir repo.Path) (repo.Path, bool) {
	for d := range dir.Upward() {
		if p.firstFile(d, "settings.gradle", "settings.gradle.kts") != "" {
			return d, true
		}
	}
	for d := range dir.Upward() {
		if p.firstFile(d, "build.gradle", "build.gradle.kts") != "" {
			return d, true
		}
	}
	return "", false
}

// gradleCall returns how Gradle is called for the project in a directory, up to the name of a task, and where.
func (p *Project) gradleCall(dir repo.Path) (call string, in repo.Path) {
	build, _ := p.gradleBuild(dir)
	module, known := p.gradleModule(build, dir)
	if p.has(join(build, "gradlew")) {
		rel, _ := relative(build, dir)
		if known {
			rel = ""
		}
		return "./gradlew" + gradleIn(repo.Path(rel)) + " " + module, build
	}
	tool := "gradle"
	if p.has("gradlew") {
		tool = "./gradlew"
	}
	if known {
		return tool + gradleIn(build) + " " + module, ""
	}
	return tool + gradleIn(dir) + " ", ""
}

// gradleIn returns the flag that makes Gradle start in a directory.
func gradleIn(dir repo.Path) string {
	if dir == "" {
		return ""
	}
	return " -p " + quotePath(dir)
}

var gradleInclude = lazyRegexp(`["'](:?[\w.:/-]+)["']`)

// gradleModule returns the path of a project of a Gradle build with a colon at its end, such as :core: , and whether the
// settings list it.
func (p *Project) gradleModule(build, dir repo.Path) (string, bool) {
	rel, _ := relative(build, dir)
	if rel == "" {
		return "", true
	}
	name := ":" + strings.ReplaceAll(rel, "/", ":")
	settings := p.text(p.firstFile(build, "settings.gradle", "settings.gradle.kts"))
	for _, m := range gradleInclude().FindAllSubmatch(settings, -1) {
		if ":"+strings.TrimPrefix(string(m[1]), ":") == name {
			return name + ":", isName(name)
		}
	}
	return "", false
}

// gradleCommands adds the usual tasks of a Gradle project.
func (p *Project) gradleCommands(dir repo.Path, add func(candidate)) {
	file := p.firstFile(dir, "build.gradle", "build.gradle.kts")
	if file == "" {
		file = p.firstFile(dir, "settings.gradle", "settings.gradle.kts")
	}
	if file == "" {
		return
	}
	call, in := p.gradleCall(dir)
	text := string(p.text(file))
	for _, t := range []struct {
		use   purpose
		task  string
		when  string
		order int
	}{
		{forBuild, "build", "", orderImplied},
		{forTest, "test", "", orderImplied},
		{forTest, "check", "", orderImplied + 2},
		{forLint, "spotlessCheck", "spotless", orderConfig},
		{forLint, "detekt", "detekt", orderConfig},
		{forLint, "ktlintCheck", "ktlint", orderConfig},
		{forLint, "checkstyleMain", "checkstyle", orderConfig},
		{forRun, "bootRun", "org.springframework.boot", orderImplied},
		{forRun, "run", "application", orderImplied},
	} {
		if t.when == "" || strings.Contains(text, t.when) {
			add(candidate{
				Command: Command{Run: call + t.task, in: in, Source: file},
				purpose: t.use, lang: "jvm", key: "gradle " + t.task, order: t.order,
			})
		}
	}
}

// A pom has the parts of a pom.xml that ken reads.
type pom struct {
	Description string   `xml:"description"`
	Modules     []string `xml:"modules>module"`
	Profiles    []struct {
		Modules []string `xml:"modules>module"`
	} `xml:"profiles>profile"`
}

// pom returns the pom.xml of a directory, nil if it has none that can be read.
func (p *Project) pom(dir repo.Path) *pom {
	file := p.firstFile(dir, "pom.xml")
	text := p.text(file)
	if text == nil {
		return nil
	}
	if read, ok := p.poms[file]; ok {
		return read
	}
	read := new(pom)
	if err := xml.Unmarshal(text, read); err != nil {
		p.skipped[file] = "not XML: " + cleanText(err.Error())
		read = nil
	}
	p.poms[file] = read
	return read
}

// mavenRoot returns the directory of the topmost pom.xml whose modules lead to a directory.
func (p *Project) mavenRoot(dir repo.Path) repo.Path {
	root := dir
	for root != "" {
		found := false
		for d := range root.Dir().Upward() {
			parent := p.pom(d)
			if parent == nil {
				continue
			}
			modules := slices.Clone(parent.Modules)
			for _, profile := range parent.Profiles {
				modules = append(modules, profile.Modules...)
			}
			rel, _ := relative(d, root)
			found = slices.ContainsFunc(modules, func(m string) bool { return path.Clean(strings.TrimSpace(m)) == rel })
			if found {
				root = d
			}
			break
		}
		if !found {
			break
		}
	}
	return root
}

// mavenTool returns how Maven is called for the module of a directory, from the root of the repository.
func (p *Project) mavenTool(dir repo.Path) string {
	root := p.mavenRoot(dir)
	tool := "mvn"
	if p.has("mvnw") {
		tool = "./mvnw"
	}
	if root != "" {
		tool += " -f " + quotePath(join(root, "pom.xml"))
	}
	if rel, _ := relative(root, dir); rel != "" {
		tool += " -pl " + quotePath(repo.Path(rel))
	}
	return tool
}

// mavenCommands adds the usual phases of a Maven module.
func (p *Project) mavenCommands(dir repo.Path, add func(candidate)) {
	if p.pom(dir) == nil {
		return
	}
	file := join(dir, "pom.xml")
	tool := p.mavenTool(dir)
	for _, t := range []struct {
		use   purpose
		phase string
		order int
	}{
		{forBuild, "package", orderImplied},
		{forTest, "test", orderImplied},
		{forTest, "verify", orderImplied + 2},
	} {
		add(candidate{
			Command: Command{Run: tool + " " + t.phase, Source: file},
			purpose: t.use, lang: "jvm", key: "mvn " + t.phase, order: t.order,
		})
	}
	text := string(p.text(file))
	for _, lint := range [][2]string{{"spotless-maven-plugin", "spotless:check"}, {"maven-checkstyle-plugin", "checkstyle:check"}} {
		if strings.Contains(text, lint[0]) {
			add(candidate{
				Command: Command{Run: tool + " " + lint[1], Source: file, Line: lineOf([]byte(text), lint[0])},
				purpose: forLint, lang: "jvm", key: "mvn " + lint[1], order: orderConfig,
			})
		}
	}
}

// jvmTest returns the command that runs one test class.
func (p *Project) jvmTest(test repo.Path) (Command, bool, string) {
	class := strings.TrimSuffix(test.Base(), path.Ext(test.Base()))
	if !isVariable(class) {
		return Command{}, false, "its name is not the name of a class"
	}
	for d := range test.Dir().Upward() {
		rel, _ := relative(d, test)
		if p.pom(d) != nil {
			run := p.mavenTool(d) + " -Dtest=" + class + " test"
			failsafe := strings.Contains(string(p.text(join(d, "pom.xml")))+string(p.text(join(p.mavenRoot(d), "pom.xml"))), "maven-failsafe-plugin")
			if strings.HasSuffix(class, "IT") && failsafe {
				run = p.mavenTool(d) + " -Dit.test=" + class + " verify"
			}
			return Command{Run: run, Dir: d, Source: join(d, "pom.xml")}, true, ""
		}
		file := p.firstFile(d, "build.gradle", "build.gradle.kts")
		if file == "" {
			continue
		}
		call, in := p.gradleCall(d)
		run := call + p.gradleTestTask(file, rel) + " --tests " + quoteWord(p.jvmClass(test, class))
		return Command{Run: run, in: in, Dir: d, Source: file}, true, ""
	}
	return Command{}, false, "no build file above it"
}

// gradleTestTask returns the task that runs the tests of the source set of a file.
func (p *Project) gradleTestTask(file repo.Path, rel string) string {
	set, _, _ := strings.Cut(strings.TrimPrefix(rel, "src/"), "/")
	switch {
	case strings.Contains(string(p.text(file)), "com.android"):
		return "testDebugUnitTest"
	case strings.HasPrefix(rel, "src/") && set != "test" && isVariable(set) && containsWord(string(p.text(file)), set):
		return set
	}
	return "test"
}

// jvmClass returns the name of a class with its package.
func (p *Project) jvmClass(file repo.Path, class string) string {
	if m := jvmPackage().FindSubmatch(p.text(file)); m != nil {
		return string(m[1]) + "." + class
	}
	return "*" + class
}

var jvmPackage = lazyRegexp(`(?m)^\s*package\s+([\w.]+)\s*;?\s*$`)
