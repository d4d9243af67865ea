package review

import (
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/outline"
	"ken/internal/repo"
)

// hidden adds the removals whose users ken cannot find: names of Python modules that compute their names, and
// fixtures of tests, which their users name as parameters.
func (j *judge) hidden() error {
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
