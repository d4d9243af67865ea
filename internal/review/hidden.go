package review

import (
	"slices"

	"ken/internal/change"
	"ken/internal/outline"
	"ken/internal/repo"
)

// fixtureDecorator matches the decorator of a fixture, such as @pytest.fixture(scope="module").
var fixtureDecorator = lazyPattern(`@(?:[\w.]+\.)?(?:yield_)?fixture\b`)

// unfindableUsers adds the removals whose users ken cannot find: names of Python modules that compute their names, and
// fixtures of tests, which their users name as parameters.
func (j *judge) unfindableUsers() error {
	for i := range j.Change.Removed {
		s := &j.Change.Removed[i]
		name := s.Symbol.FullName() + " of " + s.Path.String()
		switch {
		case outline.LanguageOf(s.Path, nil) == outline.Python && fixtureDecorator().MatchString(s.Symbol.Signature):
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
