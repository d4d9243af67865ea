package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"ken/internal/fault"
)

const (
	maxBytes   = 1 << 20 // of an override: it is written by hand
	maxPattern = 1000    // bytes of a pattern
	maxWork    = 20_000  // steps that a pattern comes to when its repetitions are written out
	maxDays    = 36_500
	maxRuns    = 100_000
)

// projectGroup is where a project's own files stand that name no other group.
var projectGroup = Group{Name: "project", Title: "Of this project"}

// Extend returns base with a project's own contract merged into it by name, and
// leaves base as it was. A field that is given replaces the one there was, and
// one that is not given stays; lists of legal values grow. file names the
// override in errors, each of which begins with file:line.
//
// What ken itself relies on cannot be taken away: roles are not given, and a file
// that has one keeps its nature.
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

// A lineError is what is wrong on a line.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

func wrong(n *yaml.Node, format string, args ...any) error {
	return &lineError{line: n.Line, err: fmt.Errorf(format, args...)}
}

func extend(base *Contract, override []byte) (*Contract, error) {
	doc, err := document(override)
	if err != nil {
		return nil, err
	}
	m := merger{
		c: &Contract{
			Dir: base.Dir, StaleDays: base.StaleDays, ArchiveRuns: base.ArchiveRuns,
			Groups: slices.Clone(base.Groups), Files: slices.Clone(base.Files),
			Patterns: slices.Clone(base.Patterns), Ephemeral: slices.Clone(base.Ephemeral),
			Keys: slices.Clone(base.Keys),
		},
		known: len(base.Keys),
	}
	if doc == nil {
		return m.c, nil
	}
	if err := m.contract(doc); err != nil {
		return nil, err
	}
	for _, check := range m.later {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return m.c, nil
}

// document parses the override's one document, nil if there is nothing in it.
func document(b []byte) (*yaml.Node, error) {
	if len(b) > maxBytes {
		return nil, &lineError{line: 1, err: fmt.Errorf("larger than %d bytes", maxBytes)}
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, unreadable(b, err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, wrong(&more, "a second document; there can be one")
	} else if !errors.Is(err, io.EOF) {
		return nil, unreadable(b, err)
	}
	if len(doc.Content) != 1 || null(doc.Content[0]) {
		return nil, nil
	}
	return doc.Content[0], nil
}

// unreadable finds the line of a complaint of the YAML parser's, which gives it
// in words, or not at all.
func unreadable(b []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				return &lineError{line: max(line, 1), err: errors.New(what)}
			}
		}
	}
	line := 1
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == '\n' {
			line++
		} else if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && r != '\t' && r != '\r' {
			return &lineError{line: line, err: errors.New(text)}
		}
		i += size
	}
	return &lineError{line: 1, err: errors.New(text)}
}

// A merger merges an override into a contract.
type merger struct {
	c     *Contract
	known int            // how many keys the base has
	later []func() error // what can be judged only when all is merged
	seen  int            // values read, aliases counted as often as they are used
}

func (m *merger) contract(n *yaml.Node) error {
	return m.fields(n, "the contract", []field{
		{"dir", m.place(&m.c.Dir)},
		{"stale_days", m.count(&m.c.StaleDays, maxDays)},
		{"archive_runs", m.count(&m.c.ArchiveRuns, maxRuns)},
		{"groups", m.each("groups", "name", m.group)},
		{"files", m.each("files", "name", m.file)},
		{"patterns", m.each("patterns", "pattern", m.pattern(&m.c.Patterns))},
		{"ephemeral", m.each("ephemeral", "pattern", m.pattern(&m.c.Ephemeral))},
		{"keys", m.each("keys", "name", m.key)},
	})
}

func (m *merger) group(n *yaml.Node, name string) error {
	if name == "" {
		return wrong(n, "a group's name is empty")
	}
	i := slices.IndexFunc(m.c.Groups, func(g Group) bool { return g.Name == name })
	if i < 0 {
		i = len(m.c.Groups)
		m.c.Groups = append(m.c.Groups, Group{Name: name, Title: name})
	}
	g := &m.c.Groups[i]
	return m.fields(n, "a group", []field{{"name", ignore}, {"title", m.text(&g.Title)}})
}

func (m *merger) file(n *yaml.Node, name string) error {
	if problem := badName(name); problem != "" {
		return wrong(n, "the file name %q %s", name, problem)
	}
	i := slices.IndexFunc(m.c.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		i = len(m.c.Files)
		m.c.Files = append(m.c.Files, File{Name: name, Group: projectGroup.Name})
	}
	was := m.c.Files[i]
	f := was
	if f.Schema != nil {
		s := *f.Schema
		f.Schema = &s
	}
	err := m.fields(n, "a file", []field{
		{"name", ignore},
		{"group", m.text(&f.Group)},
		{"writer", m.text(&f.Writer)},
		{"purpose", m.text(&f.Purpose)},
		{"role", func(n *yaml.Node) error { return wrong(n, "role is for ken to give") }},
		{"dir", m.flag("dir", &f.Dir)},
		{"exempt", m.flag("exempt", &f.Exempt)},
		{"log", m.flag("log", &f.Log)},
		{"evict", m.evict(&f.Evict)},
		{"status", m.words("status", &f.Status)},
		{"sidecar", m.text(&f.Sidecar)},
		{"schema", m.schema(&f.Schema)},
	})
	if err != nil {
		return err
	}
	if problem := weakened(was, f); problem != "" {
		return wrong(n, "%s %s", name, problem)
	}
	if problem := odd(f); problem != "" {
		return wrong(n, "%s %s", name, problem)
	}
	m.c.Files[i] = f
	m.after(n, func() string {
		if f.Group == projectGroup.Name && !slices.ContainsFunc(m.c.Groups, f.in) {
			m.c.Groups = append(m.c.Groups, projectGroup)
		}
		if !slices.ContainsFunc(m.c.Groups, f.in) {
			return fmt.Sprintf("%s is in the group %s, which is not listed", name, f.Group)
		}
		if f.Sidecar != "" && !m.listed(f.Sidecar) {
			return fmt.Sprintf("the sidecar %s of %s is not listed", f.Sidecar, name)
		}
		return ""
	})
	return nil
}

// in reports whether f stands in the group.
func (f File) in(g Group) bool { return g.Name == f.Group }

// listed reports whether there is a canonical file of that name.
func (m *merger) listed(name string) bool {
	return slices.ContainsFunc(m.c.Files, func(f File) bool { return f.Name == name && !f.Dir })
}

// after has a finding about n judged when everything is merged.
func (m *merger) after(n *yaml.Node, problem func() string) {
	m.later = append(m.later, func() error {
		if p := problem(); p != "" {
			return wrong(n, "%s", p)
		}
		return nil
	})
}

// weakened says which nature of a file that ken itself uses would change.
func weakened(was, f File) string {
	switch {
	case was.Role == "":
		return ""
	case was.Dir != f.Dir || was.Exempt != f.Exempt || was.Log != f.Log || was.Evict != f.Evict:
		return "is ken's own: dir, exempt, log and evict stay as they are"
	case was.Schema != nil:
		for _, field := range was.Schema.Required {
			if !slices.Contains(f.Schema.Required, field) {
				return "is ken's own: it goes on requiring " + strings.Join(was.Schema.Required, ", ")
			}
		}
	}
	return ""
}

// odd says which fields of a file contradict each other or its name.
func odd(f File) string {
	_, ext := split(f.Name)
	switch {
	case f.Dir && (f.Log || len(f.Status) > 0 || f.Sidecar != "" || f.Schema != nil):
		return "is a directory: it has no log, status, sidecar or schema"
	case len(f.Status) > 0 && ext != ".md":
		return "has statuses, which are for Markdown, .md"
	case f.Sidecar != "" && ext != ".md":
		return "has a sidecar, which is for Markdown, .md"
	case f.Schema != nil && ext != ".json":
		return "has a schema, which is for .json"
	case f.Log && f.Evict != Stays:
		return "is a log: it does not leave with a workflow"
	}
	return ""
}

func (m *merger) schema(at **Schema) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if *at == nil {
			*at = new(Schema)
		}
		s := *at
		return m.fields(n, "a schema", []field{
			{"required", m.names("required", &s.Required)},
			{"recommended", m.names("recommended", &s.Recommended)},
			{"enums", func(n *yaml.Node) error { return m.enums(n, s) }},
		})
	}
}

func (m *merger) enums(n *yaml.Node, s *Schema) error {
	merged := make(map[string][]string, len(s.Enums))
	for name, legal := range s.Enums {
		merged[name] = legal
	}
	err := m.pairs(n, "enums", func(key, value *yaml.Node) error {
		if null(value) {
			return nil
		}
		legal := merged[key.Value]
		if err := m.names(key.Value, &legal, legal...)(value); err != nil {
			return err
		}
		if len(legal) > 0 {
			merged[key.Value] = legal
		}
		return nil
	})
	s.Enums = merged
	return err
}

// pattern returns what adds a pattern to a list. Any two are different, the
// ephemeral ones included: a second would never be asked.
func (m *merger) pattern(list *[]Pattern) func(*yaml.Node, string) error {
	return func(n *yaml.Node, text string) error {
		p := Pattern{Pattern: text}
		err := m.fields(n, "a pattern", []field{
			{"pattern", ignore},
			{"example", m.text(&p.Example)},
			{"use", m.text(&p.Use)},
			{"evict", m.evict(&p.Evict)},
			{"base", m.text(&p.Base)},
		})
		if err != nil {
			return err
		}
		same := func(q Pattern) bool { return q.Pattern == text }
		re, err := compilePattern(text)
		switch {
		case err != nil:
			return wrong(n, "%w", err)
		case slices.ContainsFunc(m.c.Patterns, same) || slices.ContainsFunc(m.c.Ephemeral, same):
			return wrong(n, "the pattern %s is there already", text)
		case p.Example != "" && !re.MatchString(p.Example):
			return wrong(n, "the example %s does not match its pattern %s", p.Example, text)
		}
		*list = append(*list, p)
		m.after(n, func() string {
			if p.Base != "" && !m.listed(p.Base+".md") && !m.listed(p.Base+".json") {
				return fmt.Sprintf("no file is called %s.md or %s.json, the base of %s", p.Base, p.Base, text)
			}
			return ""
		})
		return nil
	}
}

// compilePattern makes ready a pattern that must fit the whole of a name.
func compilePattern(text string) (*regexp.Regexp, error) {
	if text == "" || len(text) > maxPattern {
		return nil, fmt.Errorf("a pattern has from 1 to %d bytes", maxPattern)
	}
	// By itself first: between the anchors, a)|(b would pass.
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("bad pattern: %w", err)
	}
	if steps(tree) > maxWork {
		return nil, fmt.Errorf("bad pattern: it repeats too much: %s", text)
	}
	re, err := regexp.Compile(anchored(text))
	if err != nil {
		return nil, fmt.Errorf("bad pattern: %w", err)
	}
	return re, nil
}

// steps counts, up to about maxWork, what a pattern is compiled into.
func steps(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+steps(sub), 2*maxWork)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, 2*maxWork)
}

func (m *merger) key(n *yaml.Node, name string) error {
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) || strings.Contains(name, "=") {
		return wrong(n, "the key %q is empty, or holds an equals sign or a control character", name)
	}
	i := slices.IndexFunc(m.c.Keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		i = len(m.c.Keys)
		m.c.Keys = append(m.c.Keys, Key{Name: name})
	}
	k := m.c.Keys[i]
	was := k.Type
	err := m.fields(n, "a key", []field{
		{"name", ignore},
		{"type", m.word("type", (*string)(&k.Type), string(Boolean), string(Number), string(String), string(List))},
		{"enum", m.names("enum", &k.Enum, m.c.Keys[i].Enum...)},
		{"initial", initial(&k.Initial)},
	})
	switch {
	case err != nil:
		return err
	case k.Type == "":
		return wrong(n, "the key %s has no type", name)
	case i < m.known && k.Type != was:
		return wrong(n, "the key %s is ken's own: its type stays %s", name, was)
	case len(k.Enum) > 0 && k.Type != String:
		return wrong(n, "the key %s is a %s: only a string has an enum", name, k.Type)
	}
	if problem := k.checkInitial(); problem != "" {
		return wrong(n, "%s", problem)
	}
	m.c.Keys[i] = k
	return nil
}

// checkInitial says what is wrong with the key's initial value.
func (k Key) checkInitial() string {
	ok := true
	switch {
	case k.Initial == "":
	case k.Type == Boolean:
		ok = k.Initial == "true" || k.Initial == "false"
	case k.Type == Number:
		_, err := strconv.Atoi(k.Initial)
		ok = err == nil
	case k.Type == List:
		ok = false
	case len(k.Enum) > 0:
		ok = slices.Contains(k.Enum, k.Initial)
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("the key %s cannot begin as %s", k.Name, show(k.Initial))
}

// initial takes any scalar as its text.
func initial(at *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		switch n.ShortTag() {
		case "!!str", "!!bool", "!!int":
			*at = n.Value
			return nil
		}
		return wrong(n, "initial wants a text, a number, true or false")
	}
}
