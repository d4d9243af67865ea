package manifest

import "strings"

// PythonRoots returns the directories from which modules are imported, as the settings of setuptools, poetry, hatch,
// pdm, pytest and pyright in a manifest name them: pyproject.toml, setup.cfg, pytest.ini or tox.ini. isProject is set
// if the manifest describes a package, and not only how a tool is set up.
func PythonRoots(name string, content []byte) (roots []string, isProject bool) {
	if name == "pyproject.toml" {
		doc, err := Parse(name, content)
		if err != nil {
			return nil, true
		}
		return pyprojectRoots(doc), true
	}
	file := ParseINI(content)
	isProject = file["metadata"] != nil || file["options"] != nil
	for line := range strings.Lines(file["options"]["package_dir"].Text) {
		_, root, ok := strings.Cut(line, "=")
		if !ok {
			root = line
		}
		roots = append(roots, strings.TrimSpace(root))
	}
	for line := range strings.Lines(file["options.packages.find"]["where"].Text) {
		roots = append(roots, strings.TrimSpace(line))
	}
	for _, section := range []string{"pytest", "tool:pytest"} {
		roots = append(roots, strings.Fields(file[section]["pythonpath"].Text)...)
	}
	return roots, isProject
}

func pyprojectRoots(doc Document) []string {
	var roots []string
	for _, name := range doc.Keys("tool", "setuptools", "package-dir") {
		roots = append(roots, doc.Texts("tool", "setuptools", "package-dir", name)...)
	}
	for _, keys := range [][]string{
		{"tool", "setuptools", "packages", "find", "where"},
		{"tool", "pdm", "build", "package-dir"},
		{"tool", "pytest", "ini_options", "pythonpath"},
		{"tool", "pyright", "extraPaths"},
		{"tool", "hatch", "build", "targets", "wheel", "sources"},
	} {
		roots = append(roots, doc.Texts(keys...)...)
	}
	for _, p := range doc.Items("tool", "poetry", "packages") {
		roots = append(roots, p.Texts("from")...)
	}
	return roots
}
