package uses

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"ken/internal/repo"
)

// pythonConfigs has the source roots that Python manifests name.
type pythonConfigs struct {
	projects []repo.Path               // directories with a manifest
	extra    map[repo.Path][]repo.Path // roots that a directory's manifests name
}

// addPyproject reads package directories of setuptools, poetry, hatch and pdm, and the
// pythonpath of pytest.
func (c *pythonConfigs) addPyproject(dir repo.Path, content []byte) {
	c.addProject(dir)
	var doc map[string]any
	if toml.Unmarshal(content, &doc) != nil {
		return
	}
	for _, v := range tableAt(doc, "tool", "setuptools", "package-dir") {
		c.addRoots(dir, v)
	}
	c.addRoots(dir, tableAt(doc, "tool", "setuptools", "packages", "find")["where"])
	c.addRoots(dir, tableAt(doc, "tool", "pdm", "build")["package-dir"])
	c.addRoots(dir, tableAt(doc, "tool", "pytest", "ini_options")["pythonpath"])
	c.addRoots(dir, tableAt(doc, "tool", "pyright")["extraPaths"])
	c.addRoots(dir, tableAt(doc, "tool", "hatch", "build", "targets", "wheel")["sources"])
	packages, _ := tableAt(doc, "tool", "poetry")["packages"].([]any)
	for _, p := range packages {
		if table, ok := p.(map[string]any); ok {
			c.addRoots(dir, table["from"])
		}
	}
}

// addConfig reads setup.cfg, pytest.ini and tox.ini.
func (c *pythonConfigs) addConfig(dir repo.Path, content []byte) {
	section, key := "", ""
	for line := range bytes.Lines(content) {
		text := strings.TrimRight(string(line), " \t\r\n")
		switch {
		case text == "" || strings.HasPrefix(text, "#") || strings.HasPrefix(text, ";"):
			continue
		case strings.HasPrefix(text, "["):
			section, key = strings.Trim(text, "[] \t"), ""
			if section == "metadata" || section == "options" {
				c.addProject(dir)
			}
			continue
		case text[0] != ' ' && text[0] != '\t':
			name, value, _ := strings.Cut(text, "=")
			key, text = strings.TrimSpace(name), value
		}
		c.addSetting(dir, section, key, strings.TrimSpace(text))
	}
}

func (c *pythonConfigs) addSetting(dir repo.Path, section, key, value string) {
	switch {
	case section == "options" && key == "package_dir":
		if _, root, ok := strings.Cut(value, "="); ok {
			value = root
		}
		c.addRoots(dir, strings.TrimSpace(value))
	case section == "options.packages.find" && key == "where":
		c.addRoots(dir, value)
	case (section == "pytest" || section == "tool:pytest") && key == "pythonpath":
		for word := range strings.FieldsSeq(value) {
			c.addRoots(dir, word)
		}
	}
}

func (c *pythonConfigs) addProject(dir repo.Path) {
	if !slices.Contains(c.projects, dir) {
		c.projects = append(c.projects, dir)
	}
}

// addRoots adds the directories that a setting names, which is a string or a list.
func (c *pythonConfigs) addRoots(dir repo.Path, v any) {
	for _, rel := range stringsOf(v) {
		root, ok := join(dir, rel)
		if rel == "" || !ok || slices.Contains(c.extra[dir], root) {
			continue
		}
		if c.extra == nil {
			c.extra = make(map[repo.Path][]repo.Path)
		}
		c.extra[dir] = append(c.extra[dir], root)
	}
}

func (r *Resolver) readPyProjectRoots() []repo.Path {
	var roots []repo.Path
	for _, dir := range r.python.projects {
		if isFixture(dir) {
			continue
		}
		roots = append(roots, dir)
		if src := under(dir, "src"); !r.isPackage(src) {
			roots = append(roots, src)
		}
		roots = append(roots, r.python.extra[dir]...)
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// tableAt returns a table inside of tables, nil when one of them is missing.
func tableAt(doc map[string]any, names ...string) map[string]any {
	for _, name := range names {
		next, ok := doc[name].(map[string]any)
		if !ok {
			return nil
		}
		doc = next
	}
	return doc
}
