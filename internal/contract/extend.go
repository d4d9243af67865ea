package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
