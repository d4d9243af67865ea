package contract

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// projectGroup is the group of a project's files that name no other.
var projectGroup = Group{Name: "project", Title: "Of this project"}

// onlyAdds refuses an entry of the default contract with other fields than its name and
// its lists of values.
func onlyAdds(name string, fields []string, lists ...string) error {
	for _, field := range fields {
		if field != "name" && !slices.Contains(lists, field) {
			return cannotChange(name, field)
		}
	}
	return nil
}

// cannotChange returns the error for a field that would change an entry of the default contract.
func cannotChange(name, field string) error {
	const text = "%s is in the default contract, so a project cannot change its %s; leave out %[2]s, or list a new name"
	return fmt.Errorf(text, name, field)
}

func (c *Contract) addGroup(g Group, fields []string) error {
	if g.Name == "" {
		return errors.New("the name of a group is empty")
	}
	if slices.ContainsFunc(c.Groups, func(old Group) bool { return old.Name == g.Name }) {
		return onlyAdds("the group "+g.Name, fields)
	}
	g.Title = cmp.Or(g.Title, g.Name)
	c.Groups = append(c.Groups, g)
	return nil
}

// addFile adds a file, or values to those of a listed one.
func (c *Contract) addFile(f Entry, fields []string) error {
	if problem := badName(f.Name); problem != "" {
		return fmt.Errorf("the file name %q %s", f.Name, problem)
	}
	if problem := badFields(f); problem != "" {
		return fmt.Errorf("%s %s", f.Name, problem)
	}
	if i := c.position(f.Name); i >= 0 {
		if err := onlyAdds(f.Name, fields, "status", "schema"); err != nil {
			return err
		}
		return c.Files[i].addValues(f)
	}
	f.Group = cmp.Or(f.Group, projectGroup.Name)
	listed := slices.ContainsFunc(c.Groups, func(g Group) bool { return g.Name == f.Group })
	if !listed && f.Group != projectGroup.Name {
		return fmt.Errorf("%s is in the group %s, which is not listed", f.Name, f.Group)
	}
	if !listed {
		c.Groups = append(c.Groups, projectGroup)
	}
	c.Files = append(c.Files, f)
	return nil
}

// position returns the position of a file or directory in Files, -1 if it is not listed.
// Unlike File, it can be used while files are added.
func (c *Contract) position(name string) int {
	return slices.IndexFunc(c.Files, func(f Entry) bool { return f.Name == name })
}

// hasFile reports whether the contract lists a file of that name.
func (c *Contract) hasFile(name string) bool {
	i := c.position(name)
	return i >= 0 && !c.Files[i].Dir
}

// addValues adds the status values, and the legal values of fields, that more has.
func (f *Entry) addValues(more Entry) error {
	if len(more.Status) > 0 && len(f.Status) == 0 {
		return cannotChange(f.Name, "status")
	}
	f.Status = union(f.Status, more.Status)
	switch {
	case more.Schema == nil:
		return nil
	case f.Schema == nil:
		return cannotChange(f.Name, "schema")
	case more.Schema.Required != nil:
		return cannotChange(f.Name, "schema.required")
	case more.Schema.Recommended != nil:
		return cannotChange(f.Name, "schema.recommended")
	}
	s := *f.Schema
	s.Enums = maps.Clone(s.Enums)
	for field, values := range more.Schema.Enums {
		if len(s.Enums[field]) == 0 {
			return cannotChange(f.Name, "schema.enums."+field)
		}
		s.Enums[field] = union(s.Enums[field], values)
	}
	f.Schema = &s
	return nil
}

// union returns a with the elements of b that it lacks at its end.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// badFields returns why a project cannot list a file with these fields, "" if it can.
func badFields(f Entry) string {
	_, ext := split(f.Name)
	hasStatus := len(f.Status) > 0 || f.Sidecar != ""
	describesContent := f.Log || hasStatus || f.Schema != nil
	switch {
	case f.Role != "":
		return "cannot be given a role: only the default contract assigns them"
	case f.Dir && describesContent:
		return "is a directory: it has no log, status, sidecar or schema"
	case hasStatus && ext != ".md":
		return "has status values or a sidecar, which are for Markdown, .md"
	case f.Schema != nil && ext != ".json":
		return "has a schema, which is for .json"
	case f.Log && f.Evict != Stays:
		return "is a log: it cannot be evicted"
	}
	for _, s := range f.Status {
		if s == "" || firstWord(s) != s {
			return "has the status " + show(s) + ", which is not one plain word"
		}
	}
	return ""
}

// checkSidecar checks that the sidecar of a file is listed. It is called after all files were added, because the
// sidecar may come after its file.
func (c *Contract) checkSidecar(f Entry, _ []string) error {
	if f.Sidecar != "" && !c.hasFile(f.Sidecar) {
		return fmt.Errorf("the sidecar %s of %s is not listed", f.Sidecar, f.Name)
	}
	return nil
}

// addPattern returns a function that adds a pattern to a list. It must differ from those
// of both lists: a second one would never match.
func (c *Contract) addPattern(list *[]Pattern) func(p Pattern, fields []string) error {
	return func(p Pattern, _ []string) error {
		re, err := compilePattern(p.Pattern)
		if err != nil {
			return err
		}
		same := func(q Pattern) bool { return q.Pattern == p.Pattern }
		if slices.ContainsFunc(c.Patterns, same) || slices.ContainsFunc(c.Ephemeral, same) {
			return fmt.Errorf("the pattern %s already exists", p.Pattern)
		}
		if p.Example != "" && !re.MatchString(p.Example) {
			return fmt.Errorf("the example %s does not match its pattern %s", p.Example, p.Pattern)
		}
		if p.Base != "" && !c.hasFile(p.Base+".md") && !c.hasFile(p.Base+".json") {
			return fmt.Errorf("the base of %s is %s, but neither %[2]s.md nor %[2]s.json is listed", p.Pattern, p.Base)
		}
		*list = append(*list, p)
		return nil
	}
}

// addKey adds a key, or legal values to those of a listed one.
func (c *Contract) addKey(k Key, fields []string) error {
	if k.Name == "" || strings.ContainsFunc(k.Name, unicode.IsControl) || strings.Contains(k.Name, "=") {
		return fmt.Errorf("the key %q is empty, or contains an equals sign or a control character", k.Name)
	}
	if i := slices.IndexFunc(c.Keys, func(old Key) bool { return old.Name == k.Name }); i >= 0 {
		old := &c.Keys[i]
		if len(old.Enum) == 0 {
			return onlyAdds("the key "+k.Name, fields)
		}
		old.Enum = union(old.Enum, k.Enum)
		return onlyAdds("the key "+k.Name, fields, "enum")
	}
	if k.Type == "" {
		return fmt.Errorf("the key %s has no type", k.Name)
	}
	if len(k.Enum) > 0 && k.Type != String {
		return fmt.Errorf("the key %s is a %s: only a string has an enum", k.Name, k.Type)
	}
	if problem, expected := k.Check(k.InitialValue()); k.Initial != "" && problem != "" {
		return fmt.Errorf("the key %s cannot start as %s, expected %s", k.Name, show(k.Initial), expected)
	}
	c.Keys = append(c.Keys, k)
	return nil
}
