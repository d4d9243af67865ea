package manifest

import (
	"cmp"
	"fmt"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// A GoModule is a go.mod.
type GoModule struct {
	Path    string
	Line    int    // of the module directive
	Go      string // the version of Go, "" for none
	GoLine  int
	Replace []GoReplace
}

// A GoWorkspace is a go.work.
type GoWorkspace struct {
	Use     []string // directories
	Replace []GoReplace
}

// A GoReplace is a replace directive. Dir is "" if it names a published module.
type GoReplace struct{ Old, Dir string }

// ParseGoModule reads a go.mod. If it has directives that the go command of a main module refuses, its replace
// directives are left out, as for a dependency.
func ParseGoModule(content []byte) (*GoModule, error) {
	file, err := modfile.Parse("go.mod", content, anyVersion)
	if err != nil {
		if file, err = modfile.ParseLax("go.mod", content, anyVersion); err != nil {
			return nil, fmt.Errorf("not a go.mod: %w", err)
		}
	}
	m := &GoModule{Replace: goReplaces(file.Replace)}
	if file.Module != nil {
		m.Path, m.Line = file.Module.Mod.Path, file.Module.Syntax.Start.Line
	}
	if file.Go != nil {
		m.Go, m.GoLine = file.Go.Version, file.Go.Syntax.Start.Line
	}
	return m, nil
}

// ParseGoWorkspace reads a go.work.
func ParseGoWorkspace(content []byte) (*GoWorkspace, error) {
	file, err := modfile.ParseWork("go.work", content, anyVersion)
	if err != nil {
		return nil, fmt.Errorf("not a go.work: %w", err)
	}
	w := &GoWorkspace{Replace: goReplaces(file.Replace)}
	for _, use := range file.Use {
		w.Use = append(w.Use, use.Path)
	}
	return w, nil
}

// anyVersion replaces each version by one that the path of the module allows: a go.mod with a version that the go
// command refuses is read too, and nothing here depends on versions.
func anyVersion(path, _ string) (string, error) {
	_, major, _ := module.SplitPathVersion(path)
	return cmp.Or(module.PathMajorPrefix(major), "v0") + ".0.0", nil
}

func goReplaces(list []*modfile.Replace) []GoReplace {
	var out []GoReplace
	for _, r := range list {
		replace := GoReplace{Old: r.Old.Path}
		if modfile.IsDirectoryPath(r.New.Path) {
			replace.Dir = r.New.Path
		}
		out = append(out, replace)
	}
	return out
}
