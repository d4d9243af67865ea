package manifest

// A Cargo is a Cargo.toml, of a package, a workspace or both.
type Cargo struct{ Document }

// A CargoTarget is a program, test, example or benchmark of a package. Path is "" if Cargo finds the file by the name.
type CargoTarget struct{ Name, Path string }

// A CargoDependency is a dependency of a package, or one that the members of a workspace inherit.
type CargoDependency struct {
	Path      string // the directory that it comes from, "" for a published version
	Package   string // the name of the package, "" if it is the name of the dependency
	Inherited bool   // the workspace has it
}

// Name returns the name of the package, "" if there is none.
func (c Cargo) Name() string { return c.Text("package", "name") }

// Is2015 reports whether the package is of the edition 2015, which is the default.
func (c Cargo) Is2015() bool { return c.At("package").IsTable() && !c.Has("package", "edition") }

// IsWorkspace reports whether the file has a workspace.
func (c Cargo) IsWorkspace() bool { return c.Has("workspace") }

// Members returns the globs of the directories of a workspace, and those that are excluded.
func (c Cargo) Members() (members, excluded []string) {
	return c.Texts("workspace", "members"), c.Texts("workspace", "exclude")
}

// Targets returns the targets of a kind that the file lists: bin, test, example or bench.
func (c Cargo) Targets(kind string) []CargoTarget {
	var list []CargoTarget
	for _, t := range c.Items(kind) {
		list = append(list, CargoTarget{Name: t.Text("name"), Path: t.Text("path")})
	}
	return list
}

// FindsTargets reports whether Cargo finds programs (bins) or tests of the package that the file does not list.
func (c Cargo) FindsTargets(kind string) bool { return c.At("package", "auto"+kind).Value() != false }

// Library returns the path of the library and its name if the file has one, else the default path and "".
func (c Cargo) Library() (path, name string) {
	path = c.Text("lib", "path")
	if path == "" {
		path = "src/lib.rs"
	}
	return path, c.Text("lib", "name")
}

// Dependencies returns the dependencies of the package of all kinds and targets, by the name that the file has.
func (c Cargo) Dependencies() map[string]CargoDependency {
	deps := make(map[string]CargoDependency)
	addCargoDependencies(deps, c.Document)
	for _, target := range c.Keys("target") {
		addCargoDependencies(deps, c.At("target", target))
	}
	return deps
}

// WorkspaceDependencies returns the dependencies that members of the workspace inherit.
func (c Cargo) WorkspaceDependencies() map[string]CargoDependency {
	deps := make(map[string]CargoDependency)
	addCargoDependencies(deps, c.At("workspace"))
	return deps
}

func addCargoDependencies(deps map[string]CargoDependency, doc Document) {
	for _, kind := range []string{"build-dependencies", "dev-dependencies", "dependencies"} {
		for _, name := range doc.Keys(kind) {
			dep := doc.At(kind, name)
			inherited, _ := dep.At("workspace").Value().(bool)
			deps[name] = CargoDependency{Path: dep.Text("path"), Package: dep.Text("package"), Inherited: inherited}
		}
	}
}
