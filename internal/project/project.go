// Package project finds out how people work in a repository: the commands that build, test, lint and run
// it, the command that runs one test file, the instruction documents that apply to a path, and its
// entry points. Each answer names its source.
//
// It reads manifests (Makefile, package.json, go.mod, Cargo.toml, pyproject.toml and others), CI
// workflows, and documents such as AGENTS.md. It executes nothing and reads only tracked files,
// through the function that its caller passes. If no file has the answer, the answer is empty:
// unknown.
package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// Commands are the ways to work on a part of a repository, the most likely first, at most three of each.
// An empty list means unknown.
type Commands struct {
	Install, Build, Test, Lint, Run []Command // Install gets the dependencies
}

// A Command is a line for a shell at the root of the repository.
type Command struct {
	Run    string    // one line without control characters
	Dir    repo.Path // the directory whose manifest it comes from; "" for the root
	Source repo.Path // the file that it was found in
	Line   int       // in Source, from 1; 0 for the file as a whole

	in repo.Path // the directory that Run starts in, until atRoot
}

// atRoot returns the command for a shell at the root. It is false if the command cannot be shown on one line.
func (c Command) atRoot() (Command, bool) {
	run, ok := cleanCommand(inDir(c.in, c.Run))
	c.Run, c.in = run, ""
	return c, ok
}

// A Skip is a file that could not be read or parsed, with the reason.
type Skip struct {
	Source repo.Path
	Why    string
}

// A Project answers for one list of files. It is safe for concurrent use.
type Project struct {
	files []repo.Path // sorted
	read  func(repo.Path) ([]byte, error)

	// manifests has the manifests of each directory, sorted.
	manifests map[repo.Path][]repo.Path
	// instructions has the documents with instructions, sorted.
	instructions []repo.Path

	mu      sync.Mutex // guards what follows
	texts   map[repo.Path][]byte
	skipped map[repo.Path]string
	parsed  map[repo.Path]manifest.Document
	poms    map[repo.Path]*pom
	goMods  map[repo.Path]*manifest.GoModule
	nodes   map[repo.Path]*nodePackage
	found   map[repo.Path][]candidate
	steps   []ciStep
	readCI  bool
	pyTests map[repo.Path]pytestConfig
}

// New returns the project of a list of tracked files. It reads the manifests at the root; others
// are read when an answer needs them, so read must stay usable as long as the Project is. New returns an
// error if a manifest at the root is there and cannot be read.
func New(files []repo.Path, read func(repo.Path) ([]byte, error)) (*Project, error) {
	if !slices.IsSorted(files) {
		files = slices.Sorted(slices.Values(files))
	}
	p := &Project{
		files:     files,
		read:      read,
		manifests: make(map[repo.Path][]repo.Path),
		texts:     make(map[repo.Path][]byte),
		skipped:   make(map[repo.Path]string),
		parsed:    make(map[repo.Path]manifest.Document),
		poms:      make(map[repo.Path]*pom),
		goMods:    make(map[repo.Path]*manifest.GoModule),
		nodes:     make(map[repo.Path]*nodePackage),
		found:     make(map[repo.Path][]candidate),
		pyTests:   make(map[repo.Path]pytestConfig),
	}
	for _, f := range files {
		if isManifest(f.Base()) {
			p.manifests[f.Dir()] = append(p.manifests[f.Dir()], f)
		}
		if isInstruction(f) {
			p.instructions = append(p.instructions, f)
		}
	}
	for _, f := range p.manifests[""] {
		data, err := read(f)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read %s: %w", f, err)
		}
		p.remember(f, data, err)
	}
	return p, nil
}

// Skipped lists the files that could not be read or parsed so far, sorted.
func (p *Project) Skipped() []Skip {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Skip
	for source, why := range p.skipped {
		list = append(list, Skip{Source: source, Why: why})
	}
	slices.SortFunc(list, func(a, b Skip) int { return cmp.Compare(a.Source, b.Source) })
	return list
}

// A purpose is the purpose of a command.
type purpose int

const (
	forBuild purpose = iota
	forTest
	forLint
	forRun
	forInstall
	purposes
	forOneTest = purposes // of a toolCommand only
)

// A candidate is a command from a manifest.
type candidate struct {
	Command
	purpose purpose
	lang    string // the language it is for; "" for any
	key     string // the tool and what it does, as CI steps have it
	order   int    // smaller is more likely
}

// The orders of candidates: a smaller one is more likely the command that people use. A CI step that runs the command
// subtracts ciBonus.
const (
	orderNamed   = 10 // a script or target with the usual name
	orderImplied = 15 // the manifest's tool has one way to do it
	orderConfig  = 16 // a configuration file of the tool
	orderCI      = 17 // only CI says it
	orderVariant = 20 // a script or target for a part, such as test:unit
	ciBonus      = 10
)

// maxEach limits each list of [Commands].
const maxEach = 3

// CommandsFor returns the commands for a file or directory. For each purpose it takes those of the nearest directory at
// or above the path whose manifests have one, and prefers commands for the file's own language. If there is no such
// directory, it takes those of the nearest manifests below a directory.
func (p *Project) CommandsFor(path repo.Path) Commands {
	p.mu.Lock()
	defer p.mu.Unlock()
	dir := path
	lang := ""
	if !p.isDir(path) {
		dir = path.Dir()
		lang = languageOf(path)
	}
	var all [purposes][]Command
	for want := range purposes {
		all[want] = p.nearest(dir, lang, want)
	}
	return Commands{Install: all[forInstall], Build: all[forBuild], Test: all[forTest], Lint: all[forLint], Run: all[forRun]}
}

// nearest returns the commands for a purpose of the nearest directory that has some.
func (p *Project) nearest(dir repo.Path, lang string, want purpose) []Command {
	if lang != "" {
		for d := range dir.Upward() {
			if list := pick(p.candidates(d), func(c *candidate) bool {
				return c.purpose == want && (c.lang == lang || c.lang == "")
			}); len(list) > 0 {
				return list
			}
		}
	}
	wanted := func(c *candidate) bool { return c.purpose == want }
	for d := range dir.Upward() {
		if list := pick(p.candidates(d), wanted); len(list) > 0 {
			return list
		}
	}
	var below []candidate
	for _, d := range p.manifestDirsBelow(dir) {
		for _, c := range p.candidates(d) {
			if wanted(&c) {
				below = append(below, c)
				break
			}
		}
	}
	return pick(below, wanted)
}

// pick returns the commands that are wanted, each once.
func pick(list []candidate, wanted func(*candidate) bool) []Command {
	var out []Command
	for i := range list {
		c := &list[i]
		same := func(o Command) bool { return o.Run == c.Run }
		if len(out) < maxEach && wanted(c) && !slices.ContainsFunc(out, same) {
			out = append(out, c.Command)
		}
	}
	return out
}

// candidates returns the commands from the manifests of one directory, the most likely first.
func (p *Project) candidates(dir repo.Path) []candidate {
	if list, ok := p.found[dir]; ok {
		return list
	}
	var list []candidate
	add := func(c candidate) {
		command, ok := c.atRoot()
		if !ok {
			return
		}
		c.Command = command
		c.Dir = dir
		list = append(list, c)
	}
	if len(p.manifests[dir]) > 0 {
		for _, offer := range []func(*Project, repo.Path, func(candidate)){
			(*Project).taskCommands, (*Project).nodeCommands, (*Project).denoCommands, (*Project).goCommands, (*Project).cargoCommands,
			(*Project).pythonCommands, (*Project).gradleCommands, (*Project).mavenCommands, (*Project).nativeCommands,
			(*Project).rubyCommands, (*Project).phpCommands, (*Project).installCommands, (*Project).toolCommands, (*Project).runCommands,
		} {
			offer(p, dir, add)
		}
	}
	p.applyCI(dir, &list, add)
	if dir == "" {
		p.docCommands(&list, add)
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.order, b.order) })
	p.found[dir] = list
	return list
}

// inDir returns a command for the root that runs the words in a directory. A subshell lets the next command start at
// the root again.
func inDir(dir repo.Path, words string) string {
	if dir == "" {
		return words
	}
	return "(cd " + quotePath(dir) + " && " + words + ")"
}

// purposeOf guesses the purpose of a script, target or task from its name, and returns its order.
func purposeOf(name string) (purpose, int, bool) {
	name = strings.ToLower(name)
	name = strings.NewReplacer(":", "-", "_", "-", ".", "-", "/", "-").Replace(name)
	switch name {
	case "setup", "bootstrap", "deps", "dependencies", "install-deps", "install-dependencies", "get-deps", "dev-deps", "dev-setup", "setup-dev", "install-dev", "dev-install":
		return forInstall, orderVariant, true
	}
	for _, part := range strings.Split(name, "-") {
		switch part {
		case "watch", "fix", "ui", "update", "debug", "clean", "install", "deps", "docker", "release", "publish", "deploy", "setup", "generate",
			"profile", "open", "image", "images", "help", "pre", "post", "report", "write":
			return 0, 0, false
		}
	}
	switch name {
	case "build", "compile":
		return forBuild, orderNamed, true
	case "all", "bundle", "build-all":
		return forBuild, orderNamed + 1, true
	case "test", "tests":
		return forTest, orderNamed, true
	case "check":
		return forTest, orderNamed + 2, true
	case "unit", "unit-test", "unit-tests", "unittest", "test-unit", "integration", "e2e":
		return forTest, orderVariant, true
	case "lint":
		return forLint, orderNamed, true
	case "vet", "verify", "typecheck", "type-check", "check-types", "types-check", "typing", "mypy", "eslint", "clippy", "rubocop", "phpstan", "flake8", "ruff",
		"static-analysis", "style", "pre-commit", "precommit", "check-style", "checkstyle", "format-check", "fmt-check", "check-format", "check-fmt", "shellcheck", "golangci-lint":
		return forLint, orderNamed + 3, true
	case "run", "start", "dev", "serve", "server", "develop":
		return forRun, orderNamed, true
	}
	switch {
	case strings.HasPrefix(name, "test-"), strings.HasSuffix(name, "-test"), strings.HasSuffix(name, "-tests"):
		return forTest, orderVariant + 1, true
	case strings.HasPrefix(name, "build-"):
		return forBuild, orderVariant, true
	case strings.HasPrefix(name, "lint-"), strings.HasSuffix(name, "-lint"), strings.HasPrefix(name, "verify-lint"):
		return forLint, orderVariant, true
	}
	return 0, 0, false
}
