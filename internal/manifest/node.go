package manifest

// A NodePackage is a package.json.
type NodePackage struct{ Document }

// Dependencies returns the packages that a package depends on, of all kinds, with their versions.
func (k NodePackage) Dependencies() map[string]string {
	deps := make(map[string]string)
	for _, kind := range []string{"peerDependencies", "optionalDependencies", "devDependencies", "dependencies"} {
		for name, value := range k.At(kind).table() {
			if version, ok := value.(string); ok {
				deps[name] = version
			}
		}
	}
	return deps
}

// Workspaces returns the globs of the directories whose packages belong together, by a package.json,
// pnpm-workspace.yaml or lerna.json. One that begins with "!" takes directories out.
func Workspaces(name string, doc Document) []string {
	switch name {
	case "package.json":
		return append(doc.Texts("workspaces"), doc.Texts("workspaces", "packages")...)
	case "pnpm-workspace.yaml":
		var globs []string
		for _, item := range YAMLItems(YAMLAt(doc.YAML(), "packages")) {
			globs = append(globs, YAMLText(item))
		}
		return globs
	case "lerna.json":
		return doc.Texts("packages")
	}
	return nil
}
