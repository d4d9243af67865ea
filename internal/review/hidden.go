package review

import (
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
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
		case s.Symbol.Kind == outline.Method && outline.LanguageOf(s.Path, nil) == outline.Go:
			if err := j.implements(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// goInterfaces are interfaces of the standard library by their only method.
var goInterfaces = map[string]string{
	"Error": "error", "String": "fmt.Stringer", "Format": "fmt.Formatter",
	"Read": "io.Reader", "Write": "io.Writer",
	"Close": "io.Closer", "ServeHTTP": "http.Handler", "MarshalJSON": "json.Marshaler",
	"UnmarshalJSON": "json.Unmarshaler",
	"MarshalText":   "encoding.TextMarshaler", "UnmarshalText": "encoding.TextUnmarshaler", "Scan": "sql.Scanner",
}

// implements adds the interfaces that a Go type implemented by a removed method: ken does not know where a value of the
// type is used as one of them.
func (j *judge) implements(s *change.Symbol) error {
	owner, _ := s.Owner()
	types, err := j.Index.Declarations(j.ctx, owner)
	isHere := func(d searchindex.Declaration) bool {
		return d.Path.Dir() == s.Path.Dir() && d.Symbol.Name == d.Symbol.FullName()
	}
	if err != nil || !slices.ContainsFunc(types, isHere) {
		return err
	}
	again, err := j.Index.Declarations(j.ctx, s.Symbol.Name)
	if err != nil {
		return err
	}
	var names []string
	if std := goInterfaces[s.Symbol.Name]; std != "" {
		names = append(names, std)
	}
	for _, d := range again {
		member := change.Symbol{Path: d.Path, Symbol: d.Symbol}
		name, isMember := member.Owner()
		isGo := isMember && outline.LanguageOf(d.Path, nil) == outline.Go
		if isGo && name == owner && d.Path.Dir() == s.Path.Dir() {
			return nil // in another file of the package
		}
		if !isGo {
			continue
		}
		isInterface, err := j.hadMethods(s.Path.Dir(), owner, d.Path, name)
		if err != nil {
			return err
		}
		if isInterface {
			names = append(names, name+" of "+d.Path.String())
		}
	}
	for _, name := range names {
		j.unknown(Unsure, owner+" of "+s.Path.String()+" no longer has "+s.Symbol.Name+" of the interface "+name, "")
	}
	return nil
}

// hadMethods reports whether a file declares an interface of that name, and a type in a directory had its methods.
func (j *judge) hadMethods(dir repo.Path, owner string, file repo.Path, name string) (bool, error) {
	o, _, _, err := j.Index.Facts(j.ctx, file)
	if err != nil {
		return false, err
	}
	isInterface := false
	for _, m := range o.Symbols {
		method, isMember := strings.CutPrefix(m.FullName(), name+".")
		switch {
		case m.FullName() == name:
			isInterface = m.Kind == outline.Interface
		case isMember && isInterface && !j.had(dir, owner+"."+method):
			return false, nil
		}
	}
	return isInterface, nil
}

// had reports whether a file of a directory had a member before the change, or has it.
func (j *judge) had(dir repo.Path, member string) bool {
	for _, s := range j.Change.Removed {
		if s.Path.Dir() == dir && s.Symbol.FullName() == member {
			return true
		}
	}
	list, err := j.Index.Declarations(j.ctx, member[strings.LastIndexByte(member, '.')+1:])
	return err == nil && slices.ContainsFunc(list, func(d searchindex.Declaration) bool {
		return d.Path.Dir() == dir && d.Symbol.FullName() == member
	})
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
