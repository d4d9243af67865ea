package review

import (
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/outline"
	"ken/internal/repo"
)

// hidden adds the removals whose users ken cannot find: names of Python modules that compute their names, fixtures of
// tests, which their users name as parameters, and default exports.
func (j *judge) hidden() error {
	for i := range j.Change.Files {
		f := &j.Change.Files[i]
		if f.Before == nil || f.After == nil {
			continue
		}
		name := defaultExport(f.Before)
		isNamed := name != "" && len(change.ByName(f.After)[name]) > 0 // without its declaration, its uses are broken
		isGone := defaultExport(f.After) == "" && !strings.Contains(string(j.Change.Read(f.Path, false)), "default")
		if isNamed && isGone {
			j.unknown(Unsure, f.OldPath().String()+" has no default export any more; ken does not list its importers", "")
		}
	}
	for i := range j.Change.Removed {
		s := &j.Change.Removed[i]
		name := s.Symbol.FullName() + " of " + s.Path.String()
		switch {
		case strings.Contains(s.Symbol.Signature, "fixture") && outline.LanguageOf(s.Path, nil) == outline.Python:
			j.unknown(Unsure, "ken does not know the tests that use the fixture "+name, "")
		case j.computesNames(s.Path):
			j.unknown(Unsure, "the module may compute "+name+" in __getattr__", "")
		}
	}
	return nil
}

// defaultExport returns the name that a script declares as its default export; "" without one.
func defaultExport(o *outline.Outline) string {
	for _, s := range o.Symbols {
		if strings.HasPrefix(s.Signature, "export default") {
			return s.FullName()
		}
	}
	return ""
}

// computesNames reports whether a Python module that the change edits has names that it does not declare.
func (j *judge) computesNames(old repo.Path) bool {
	if outline.LanguageOf(old, nil) != outline.Python {
		return false
	}
	i := slices.IndexFunc(j.Change.Files, func(f change.File) bool { return f.OldMode != 0 && f.OldPath() == old })
	if i < 0 || j.Change.Files[i].After == nil {
		return false
	}
	return slices.ContainsFunc(j.Change.Files[i].After.Symbols, func(s outline.Symbol) bool {
		return s.FullName() == "__getattr__"
	})
}
