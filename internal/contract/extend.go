package contract

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"ken/internal/fault"
)

const (
	maxDays = 36_500
	maxRuns = 100_000
)

// projectGroup is the group of a project's files that name no other.
var projectGroup = Group{Name: "project", Title: "Of this project"}

// Extend merges a project's contract into base by name and returns the result. Base
// stays as it is. A field that the override gives replaces the one in base; lists of
// legal values grow. file names the override in errors, which begin with file:line.
//
// A project cannot assign roles, and cannot change what ken relies on in a file that
// has one.
func Extend(base *Contract, override []byte, file string) (*Contract, error) {
	c, err := extend(base, override)
	if err == nil {
		return c, nil
	}
	at, ok := errors.AsType[*lineError](err)
	if !ok {
		at = &lineError{line: 1, err: err}
	}
	return nil, &fault.Error{
		Hint: "correct " + file + ", or move it aside to use the default contract",
		Err:  fmt.Errorf("%s:%d: %w", file, at.line, at.err),
	}
}

func extend(base *Contract, file []byte) (*Contract, error) {
	given := &Contract{Dir: base.Dir, StaleDays: base.StaleDays, ArchiveRuns: base.ArchiveRuns}
	root, err := parse(file, given)
	if err != nil {
		return nil, err
	}
	m := merger{
		root: root,
		c: &Contract{
			Dir: given.Dir, StaleDays: given.StaleDays, ArchiveRuns: given.ArchiveRuns,
			Groups: slices.Clone(base.Groups), Files: slices.Clone(base.Files),
			Patterns: slices.Clone(base.Patterns), Ephemeral: slices.Clone(base.Ephemeral),
			Keys: slices.Clone(base.Keys),
		},
	}
	if given.Dir != base.Dir {
		if err := CheckDir(given.Dir); err != nil {
			return nil, errorAt(m.value("dir"), "%w", err)
		}
	}
	if err := m.merge(); err != nil {
		return nil, err
	}
	return m.c, nil
}

// A merger merges the entries of a file into a contract. The file has been decoded
// once, so its entries have the right fields and types.
type merger struct {
	root *yaml.Node
	c    *Contract
}

func (m *merger) merge() error {
	if m.c.StaleDays < 0 || m.c.StaleDays > maxDays {
		return errorAt(m.value("stale_days"), "expected a whole number from 0 to %d", maxDays)
	}
	if m.c.ArchiveRuns < 0 || m.c.ArchiveRuns > maxRuns {
		return errorAt(m.value("archive_runs"), "expected a whole number from 0 to %d", maxRuns)
	}
	for _, list := range []struct {
		section, id string
		merge       func(n *yaml.Node, id string) error
	}{
		{"groups", "name", m.group},
		{"files", "name", m.file},
		{"patterns", "pattern", m.pattern(&m.c.Patterns)},
		{"ephemeral", "pattern", m.pattern(&m.c.Ephemeral)},
		{"keys", "name", m.key},
		// A file or pattern may refer to files and groups that are listed later.
		{"files", "name", m.checkFile},
		{"patterns", "pattern", m.checkBase},
		{"ephemeral", "pattern", m.checkBase},
	} {
		if err := m.each(list.section, list.id, list.merge); err != nil {
			return err
		}
	}
	return nil
}

// value returns the value of a field of the file, an empty node if it is absent.
func (m *merger) value(field string) *yaml.Node {
	for i := 0; i+1 < len(m.root.Content); i += 2 {
		if m.root.Content[i].Value == field {
			return follow(m.root.Content[i+1])
		}
	}
	return &yaml.Node{}
}

// each calls merge for every entry of a list, with the value of the field that entries
// are merged by, and adds the line to its error. No two entries may have the same value.
func (m *merger) each(section, id string, merge func(n *yaml.Node, id string) error) error {
	lines := make(map[string]int)
	for _, n := range m.value(section).Content {
		n = follow(n)
		var fields map[string]any
		if err := n.Decode(&fields); err != nil {
			return errorAt(n, "%w", err)
		}
		name, ok := fields[id].(string)
		if !ok {
			return errorAt(n, "an entry of %s has no %s", section, id)
		}
		if first, ok := lines[name]; ok {
			return errorAt(n, "%s is listed twice, first on line %d", show(name), first)
		}
		lines[name] = n.Line
		if err := merge(n, name); err != nil {
			return errorAt(n, "%w", err)
		}
	}
	return nil
}

func (m *merger) group(n *yaml.Node, name string) error {
	if name == "" {
		return errors.New("the name of a group is empty")
	}
	i := slices.IndexFunc(m.c.Groups, func(g Group) bool { return g.Name == name })
	if i < 0 {
		i = len(m.c.Groups)
		m.c.Groups = append(m.c.Groups, Group{Name: name, Title: name})
	}
	return n.Decode(&m.c.Groups[i])
}

func (m *merger) file(n *yaml.Node, name string) error {
	if problem := badName(name); problem != "" {
		return fmt.Errorf("the file name %q %s", name, problem)
	}
	i := slices.IndexFunc(m.c.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		i = len(m.c.Files)
		m.c.Files = append(m.c.Files, File{Name: name, Group: projectGroup.Name})
	}
	was := m.c.Files[i]
	f := was
	f.Status, f.Schema = nil, nil
	if err := n.Decode(&f); err != nil {
		return err
	}
	f.Status = union(was.Status, f.Status)
	f.Schema = was.Schema.merged(f.Schema)
	problem := cmp.Or(badStatus(f.Status), ownPropertyChange(was, f), contradiction(f))
	if problem != "" {
		return fmt.Errorf("%s %s", name, problem)
	}
	m.c.Files[i] = f
	return nil
}

// checkFile checks the group and the sidecar that a file refers to.
func (m *merger) checkFile(_ *yaml.Node, name string) error {
	i := slices.IndexFunc(m.c.Files, func(f File) bool { return f.Name == name })
	f := m.c.Files[i]
	listed := slices.ContainsFunc(m.c.Groups, f.in)
	if !listed && f.Group != projectGroup.Name {
		return fmt.Errorf("%s is in the group %s, which is not listed", name, f.Group)
	}
	if !listed {
		m.c.Groups = append(m.c.Groups, projectGroup)
	}
	if f.Sidecar != "" && !m.listed(f.Sidecar) {
		return fmt.Errorf("the sidecar %s of %s is not listed", f.Sidecar, name)
	}
	return nil
}

// in reports whether f belongs to the group.
func (f File) in(g Group) bool { return g.Name == f.Group }

// listed reports whether name is a canonical file.
func (m *merger) listed(name string) bool {
	return slices.ContainsFunc(m.c.Files, func(f File) bool { return f.Name == name && !f.Dir })
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

// merged returns s with what given contains. Its required and recommended fields
// replace those of s; its legal values are added.
func (s *Schema) merged(given *Schema) *Schema {
	if s == nil || given == nil {
		return cmp.Or(given, s)
	}
	out := Schema{Required: s.Required, Recommended: s.Recommended, Enums: maps.Clone(s.Enums)}
	if given.Required != nil {
		out.Required = given.Required
	}
	if given.Recommended != nil {
		out.Recommended = given.Recommended
	}
	for field, values := range given.Enums {
		if out.Enums == nil {
			out.Enums = make(map[string][]string)
		}
		out.Enums[field] = union(s.Enums[field], values)
	}
	return &out
}

// badStatus says which legal status could never be found in a file.
func badStatus(values []string) string {
	for _, s := range values {
		if firstWord(s) != s {
			return "has the status " + show(s) + ", which is not one plain word"
		}
	}
	return ""
}

// ownPropertyChange says which property of a file that ken itself uses would change.
func ownPropertyChange(was, f File) string {
	switch {
	case was.Role != f.Role:
		return "cannot be given a role: only the default contract assigns them"
	case was.Role == "":
		return ""
	case was.Dir != f.Dir || was.Exempt != f.Exempt || was.Log != f.Log || was.Evict != f.Evict:
		return "is ken's own: its dir, exempt, log and evict cannot change"
	case was.Schema != nil:
		for _, field := range was.Schema.Required {
			if !slices.Contains(f.Schema.Required, field) {
				return "is ken's own: it must require " + strings.Join(was.Schema.Required, ", ")
			}
		}
	}
	return ""
}

// contradiction says which fields of a file contradict each other or its name.
func contradiction(f File) string {
	_, ext := split(f.Name)
	switch {
	case f.Dir && (f.Log || len(f.Status) > 0 || f.Sidecar != "" || f.Schema != nil):
		return "is a directory: it has no log, status, sidecar or schema"
	case len(f.Status) > 0 && ext != ".md":
		return "has status values, which are for Markdown, .md"
	case f.Sidecar != "" && ext != ".md":
		return "has a sidecar, which is for Markdown, .md"
	case f.Schema != nil && ext != ".json":
		return "has a schema, which is for .json"
	case f.Log && f.Evict != Stays:
		return "is a log: it cannot be evicted"
	}
	return ""
}

// pattern returns a function that adds a pattern to a list. It must differ from those
// of both lists: a second one would never match.
func (m *merger) pattern(list *[]Pattern) func(*yaml.Node, string) error {
	return func(n *yaml.Node, text string) error {
		var p Pattern
		if err := n.Decode(&p); err != nil {
			return err
		}
		re, err := compilePattern(text)
		if err != nil {
			return err
		}
		same := func(q Pattern) bool { return q.Pattern == text }
		if slices.ContainsFunc(m.c.Patterns, same) || slices.ContainsFunc(m.c.Ephemeral, same) {
			return fmt.Errorf("the pattern %s already exists", text)
		}
		if p.Example != "" && !re.MatchString(p.Example) {
			return fmt.Errorf("the example %s does not match its pattern %s", p.Example, text)
		}
		*list = append(*list, p)
		return nil
	}
}

// checkBase checks that the file on which a pattern is based is listed.
func (m *merger) checkBase(n *yaml.Node, text string) error {
	var p Pattern
	if err := n.Decode(&p); err != nil {
		return err
	}
	if p.Base != "" && !m.listed(p.Base+".md") && !m.listed(p.Base+".json") {
		return fmt.Errorf("the base of %s is %s, but neither %s.md nor %s.json is listed", text, p.Base, p.Base, p.Base)
	}
	return nil
}

func (m *merger) key(n *yaml.Node, name string) error {
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) || strings.Contains(name, "=") {
		return fmt.Errorf("the key %q is empty, or contains an equals sign or a control character", name)
	}
	i := slices.IndexFunc(m.c.Keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		i = len(m.c.Keys)
		m.c.Keys = append(m.c.Keys, Key{Name: name})
	}
	was := m.c.Keys[i]
	k := was
	k.Enum = nil
	if err := n.Decode(&k); err != nil {
		return err
	}
	k.Enum = union(was.Enum, k.Enum)
	if k.Type == "" {
		return fmt.Errorf("the key %s has no type", name)
	}
	if was.Type != "" && k.Type != was.Type {
		return fmt.Errorf("the key %s is ken's own: its type stays %s", name, was.Type)
	}
	if len(k.Enum) > 0 && k.Type != String {
		return fmt.Errorf("the key %s is a %s: only a string has an enum", name, k.Type)
	}
	if !k.validInitial() {
		return fmt.Errorf("the key %s cannot start as %s", name, show(k.Initial))
	}
	m.c.Keys[i] = k
	return nil
}

// validInitial reports whether the key may start with its initial value.
func (k Key) validInitial() bool {
	switch {
	case k.Initial == "":
		return true
	case k.Type == Boolean:
		return k.Initial == "true" || k.Initial == "false"
	case k.Type == Number:
		_, err := strconv.Atoi(k.Initial)
		return err == nil
	case k.Type == List:
		return false
	}
	return len(k.Enum) == 0 || slices.Contains(k.Enum, k.Initial)
}
