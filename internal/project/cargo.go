package project

import (
	"path"
	"slices"
	"strings"

	"ken/internal/manifest"
	"ken/internal/repo"
)

// cargo returns the Cargo.toml of a directory, without content if there is none.
func (p *Project) cargo(dir repo.Path) manifest.Cargo {
	return manifest.Cargo{Document: p.document(p.firstFile(dir, "Cargo.toml"))}
}

// cargoCommands adds the commands of cargo for the package or workspace of a directory.
func (p *Project) cargoCommands(dir repo.Path, add func(candidate)) {
	if conf := p.firstFile(dir, "rustfmt.toml", ".rustfmt.toml"); conf != "" && p.has(join(dir, "Cargo.toml")) {
		add(candidate{
			Command: Command{Run: "cargo fmt --all --check", in: dir, Source: conf},
			purpose: forLint, lang: "rust", key: "cargo fmt", order: orderConfig + 1,
		})
	}
	file := join(dir, "Cargo.toml")
	cargo := p.cargo(dir)
	if !cargo.Exists() {
		return
	}
	name := cargo.Name()
	line := lineOf(p.text(file), `^[ \t]*\[(package|workspace)\]`)
	offer := func(use purpose, verb, flags string, order int) {
		add(candidate{
			Command: Command{Run: "cargo " + verb + flags, Source: file, Line: line},
			purpose: use, lang: "rust", key: "cargo " + verb, order: order,
		})
	}
	which := p.cargoFlags(dir)
	members, _ := cargo.Members()
	alone := cargo.IsWorkspace() && len(members) == 0
	if alone && name != "" {
		which = p.cargoManifest(dir)
	}
	if cargo.IsWorkspace() && !alone {
		all := which
		if name != "" {
			all = p.cargoManifest(dir) + " --workspace"
		}
		offer(forBuild, "build", all, orderImplied)
		offer(forTest, "test", all, orderImplied)
	} else if name != "" {
		offer(forBuild, "build", which, orderImplied)
		offer(forTest, "test", which, orderImplied)
	}
	for _, bin := range p.cargoBins(dir) {
		flags := which
		if bin.name != name {
			flags += " --bin " + bin.name
		}
		offer(forRun, "run", flags, orderImplied)
	}
}

// cargoManifest returns the flag that names the Cargo.toml of a directory, "" at the root.
func (p *Project) cargoManifest(dir repo.Path) string {
	if dir == "" {
		return ""
	}
	return " --manifest-path " + quotePath(join(dir, "Cargo.toml"))
}

// cargoFlags returns the flags that name the package of a directory, with a space before each.
func (p *Project) cargoFlags(dir repo.Path) string {
	name := p.cargo(dir).Name()
	if !isName(name) {
		return p.cargoManifest(dir)
	}
	root, ok := p.cargoWorkspace(dir)
	if ok {
		return p.cargoManifest(root) + " -p " + name
	}
	return p.cargoManifest(dir)
}

// cargoFeatures returns the flag that switches all features of a package on, if some are off by
// default: a module behind such a feature is not compiled, and its tests do not run.
func (p *Project) cargoFeatures(dir repo.Path) string {
	features := p.cargo(dir).At("features")
	on := make(map[string]bool)
	var add func(name string)
	add = func(name string) {
		if on[name] {
			return
		}
		on[name] = true
		for _, other := range features.Texts(name) {
			add(other)
		}
	}
	add("default")
	for _, name := range features.Keys() {
		if !on[name] && !strings.HasPrefix(name, "__") {
			return " --all-features"
		}
	}
	return ""
}

// cargoWorkspace returns the directory of the workspace that a package directory belongs to.
func (p *Project) cargoWorkspace(dir repo.Path) (repo.Path, bool) {
	for d := range dir.Upward() {
		cargo := p.cargo(d)
		if !cargo.IsWorkspace() {
			continue
		}
		rel, _ := relative(d, dir)
		if rel == "" {
			return d, true
		}
		members, excluded := cargo.Members()
		return d, matchesAny(members, rel) && !matchesAny(excluded, rel)
	}
	return "", false
}

// A cargoTarget is a program, library or integration test of a package.
type cargoTarget struct {
	name string
	file repo.Path
}

// cargoBins returns the programs of the package in a directory.
func (p *Project) cargoBins(dir repo.Path) []cargoTarget {
	cargo := p.cargo(dir)
	name := cargo.Name()
	bins := p.cargoTargets(dir, "bin")
	add := func(t cargoTarget) {
		same := func(o cargoTarget) bool { return o.file == t.file || o.name == t.name }
		if isName(t.name) && p.has(t.file) && !slices.ContainsFunc(bins, same) {
			bins = append(bins, t)
		}
	}
	if !isName(name) || !cargo.FindsTargets("bins") {
		return bins
	}
	add(cargoTarget{name, join(dir, "src/main.rs")})
	for _, f := range p.filesUnder(join(dir, "src/bin"), 1000) {
		rel, _ := relative(join(dir, "src/bin"), f)
		if stem, ok := strings.CutSuffix(rel, ".rs"); ok && !strings.Contains(stem, "/") {
			add(cargoTarget{stem, f})
		} else if stem, ok := strings.CutSuffix(rel, "/main.rs"); ok && !strings.Contains(stem, "/") {
			add(cargoTarget{stem, f})
		}
	}
	return bins
}

// cargoTargets returns the targets of a kind that a Cargo.toml lists with their names.
func (p *Project) cargoTargets(dir repo.Path, kind string) []cargoTarget {
	var targets []cargoTarget
	for _, t := range p.cargo(dir).Targets(kind) {
		name, file := t.Name, t.Path
		if file == "" {
			file = map[string]string{"bin": "src/bin/", "test": "tests/"}[kind] + name + ".rs"
			if kind == "bin" && !p.has(join(dir, file)) {
				file = "src/main.rs"
			}
		}
		if target := (cargoTarget{name, join(dir, file)}); isName(name) && p.has(target.file) {
			targets = append(targets, target)
		}
	}
	return targets
}

// cargoTests returns the integration tests of the package in a directory.
func (p *Project) cargoTests(dir repo.Path) []cargoTarget {
	tests := p.cargoTargets(dir, "test")
	if !p.cargo(dir).FindsTargets("tests") {
		return tests
	}
	folder := join(dir, "tests")
	for _, f := range p.filesUnder(folder, 5000) {
		rel, _ := relative(folder, f)
		stem, ok := strings.CutSuffix(rel, ".rs")
		stem = strings.TrimSuffix(stem, "/main")
		same := func(o cargoTarget) bool { return o.file == f }
		if ok && isName(stem) && !strings.Contains(stem, "/") && !slices.ContainsFunc(tests, same) {
			tests = append(tests, cargoTarget{stem, f})
		}
	}
	return tests
}

// rustTest returns the command that runs the tests in a Rust file.
func (p *Project) rustTest(test repo.Path) (Command, bool, string) {
	for d := range test.Dir().Upward() {
		file := p.firstFile(d, "Cargo.toml")
		if p.cargo(d).Name() == "" {
			continue
		}
		which, ok := p.rustTarget(d, test)
		if !ok {
			return Command{}, false, "no target of " + file.String() + " is known to contain it"
		}
		run := "cargo test" + p.cargoFlags(d) + p.cargoFeatures(d) + which
		return Command{Run: run, Dir: d, Source: file, Line: lineOf(p.text(file), `^[ \t]*\[package\]`)}, true, ""
	}
	return Command{}, false, "no Cargo.toml above it"
}

// rustTarget returns the flags for the target that contains a file, and the filter for its module.
func (p *Project) rustTarget(dir, file repo.Path) (string, bool) {
	tests := p.cargoTests(dir)
	for _, t := range tests {
		if t.file == file {
			return " --test " + t.name, true
		}
	}
	libPath, _ := p.cargo(dir).Library()
	targets := []cargoTarget{{"", join(dir, libPath)}}
	flags := []string{" --lib"}
	for _, t := range tests {
		targets = append(targets, t)
		flags = append(flags, " --test "+t.name)
	}
	for _, t := range p.cargoBins(dir) {
		targets = append(targets, t)
		flags = append(flags, " --bin "+t.name)
	}
	for i, t := range targets {
		if filter, ok := p.rustFilter(t.file, file); ok {
			return flags[i] + filter, true
		}
	}
	return "", false
}

// rustFilter returns the argument that selects the tests of a file in the target with a root, "" for those of the root.
// It is false unless each module on the way declares the next one: a filter that matches nothing is no error for
// cargo.
func (p *Project) rustFilter(root, file repo.Path) (string, bool) {
	if root == file {
		return "", true
	}
	rel, ok := relative(root.Dir(), file)
	module := rustModule(rel)
	if !ok || module == "" {
		return "", false
	}
	declaring := root
	dir := root.Dir()
	for name := range strings.SplitSeq(module, "::") {
		if lineOf(p.text(declaring), `^[ \t]*(pub(\([^)]*\))?\s+)?mod\s+(r#)?`+name+`\s*;`) == 0 {
			return "", false
		}
		dir = join(dir, name)
		declaring = p.firstFile(dir.Dir(), name+".rs", name+"/mod.rs")
	}
	return " " + module + "::", declaring == file
}

// rustModule returns the path of the module in a file, given from the directory of its target: a/b.rs and a/b/mod.rs are
// a::b. It is "" for names that are not modules.
func rustModule(rel string) string {
	stem, ok := strings.CutSuffix(rel, ".rs")
	if !ok {
		return ""
	}
	if path.Base(stem) == "mod" {
		stem = path.Dir(stem)
	}
	for part := range strings.SplitSeq(stem, "/") {
		if !isVariable(part) {
			return ""
		}
	}
	return strings.ReplaceAll(stem, "/", "::")
}

var rustTestMark = lazyRegexp(`(?m)^\s*#\[(?:[\w:]+::)?(?:test|rstest|test_case|proptest|quickcheck)\b|^\s*#\[cfg\((?:all\()?test\b|\b\w*test\w*!\s*[({]`)
