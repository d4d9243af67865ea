package contract

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ken/internal/fault"
	"ken/internal/suggest"
)

const (
	maxBytes = 64 << 10 // of the file
	maxDays  = 36_500
	maxRuns  = 100_000
)

// FileName is the path of the file in which a project adds to the contract of the workflow directory, from the
// repository root.
const FileName = ".ken/contract.yaml"

// Extend returns the contract of a state directory in a project: the default one with
// what the project's file adds. If dir is "", the directory is the one that the file
// names. name is the file's name in errors, which begin with name:line.
//
// A file adds groups, files, patterns and keys, and values to lists of values. It may set
// the directory and the two numbers, and changes nothing else of the default contract.
func Extend(dir string, file []byte, name string) (*Contract, error) {
	c, err := extend(dir, file)
	if err == nil {
		return c, nil
	}
	at, ok := errors.AsType[*lineError](err)
	if !ok {
		at = &lineError{line: 1, err: err}
	}
	return nil, &fault.Error{
		Hint: "correct " + name + ", or move it aside to use the default contract",
		Err:  fmt.Errorf("%s:%d: %w", name, at.line, at.err),
	}
}

func extend(dir string, file []byte) (*Contract, error) {
	settings := Default()
	more := &Contract{Dir: settings.Dir, StaleDays: settings.StaleDays, ArchiveRuns: settings.ArchiveRuns}
	root, err := decode(file, more)
	if err != nil {
		return nil, err
	}
	if err := more.checkSettings(root); err != nil {
		return nil, err
	}
	base := DefaultFor(cmp.Or(dir, more.Dir))
	c := &Contract{
		Dir: more.Dir, StaleDays: more.StaleDays, ArchiveRuns: more.ArchiveRuns,
		Groups:    slices.Clone(base.Groups),
		Files:     slices.Clone(base.Files),
		Patterns:  slices.Clone(base.Patterns),
		Ephemeral: slices.Clone(base.Ephemeral),
		Keys:      slices.Clone(base.Keys),
		instances: base.instances,
	}
	// Files name groups and other files, and patterns name files.
	return c, cmp.Or(
		addAll(root, "groups", more.Groups, c.addGroup),
		addAll(root, "files", more.Files, c.addFile),
		addAll(root, "files", more.Files, c.checkSidecar),
		addAll(root, "patterns", more.Patterns, c.addPattern(&c.Patterns)),
		addAll(root, "ephemeral", more.Ephemeral, c.addPattern(&c.Ephemeral)),
		addAll(root, "keys", more.Keys, c.addKey),
	)
}

func (c *Contract) checkSettings(root *yaml.Node) error {
	dir := value(root, "dir")
	return cmp.Or(
		checkNumber(value(root, "stale_days"), c.StaleDays, maxDays),
		checkNumber(value(root, "archive_runs"), c.ArchiveRuns, maxRuns),
		onLine(dir, CheckDir(c.Dir)),
	)
}

// checkNumber refuses a number out of range. The library reads 0.5 as 0, so the node
// counts.
func checkNumber(n *yaml.Node, number, most int) error {
	isWhole := n.ShortTag() == "!!int" || n.ShortTag() == "!!null"
	if isWhole && number >= 0 && number <= most {
		return nil
	}
	return onLine(n, fmt.Errorf("expected a whole number from 0 to %d", most))
}

// addAll adds the entries of a list, with the names of the fields that each of them has.
func addAll[T any](root *yaml.Node, list string, entries []T, add func(entry T, fields []string) error) error {
	nodes := value(root, list)
	if len(nodes.Content) != len(entries) {
		return onLine(nodes, fmt.Errorf("%s: a value is empty", list))
	}
	lines := make(map[string]int)
	for i, n := range nodes.Content {
		name := value(n, "name").Value
		if first, ok := lines[name]; ok && name != "" {
			return onLine(n, fmt.Errorf("%s is listed twice, first on line %d", show(name), first))
		}
		lines[name] = n.Line
		if err := add(entries[i], fieldNames(n)); err != nil {
			return onLine(n, err)
		}
	}
	return nil
}

// A lineError is an error on a line of the file.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// onLine adds the line of n to an error.
func onLine(n *yaml.Node, err error) error {
	if err == nil {
		return nil
	}
	return &lineError{line: max(n.Line, 1), err: err}
}

// decode reads a file onto c. It returns the root of the file, which has the lines.
func decode(file []byte, c *Contract) (*yaml.Node, error) {
	if len(file) > maxBytes {
		return nil, fmt.Errorf("larger than %d bytes", maxBytes)
	}
	dec := yaml.NewDecoder(bytes.NewReader(file))
	dec.KnownFields(true)
	err := dec.Decode(c)
	if errors.Is(err, io.EOF) {
		return &yaml.Node{}, nil
	}
	if err != nil {
		return nil, yamlError(err)
	}
	var document, second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, onLine(&second, errors.New("a second YAML document; only one is allowed"))
	}
	if err := yaml.Unmarshal(file, &document); err != nil {
		return nil, yamlError(err)
	}
	return document.Content[0], nil
}

// follow returns the node that an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// value returns the value of a field, an empty node if there is none.
func value(n *yaml.Node, name string) *yaml.Node {
	content := follow(n).Content
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Value == name {
			return follow(content[i+1])
		}
	}
	return &yaml.Node{}
}

// fieldNames lists the fields of an entry that are not null.
func fieldNames(n *yaml.Node) []string {
	var names []string
	content := follow(n).Content
	for i := 0; i+1 < len(content); i += 2 {
		if follow(content[i+1]).ShortTag() != "!!null" {
			names = append(names, content[i].Value)
		}
	}
	return names
}

// UnmarshalYAML refuses other words than the values of Evict.
func (e *Evict) UnmarshalYAML(n *yaml.Node) error {
	return decodeWord(n, "evict", (*string)(e), string(Always), string(Scoped))
}

// UnmarshalYAML refuses other words than the types.
func (t *KeyType) UnmarshalYAML(n *yaml.Node) error {
	return decodeWord(n, "type", (*string)(t), string(Boolean), string(Number), string(String), string(List))
}

// decodeWord reads a legal word or "".
func decodeWord(n *yaml.Node, field string, to *string, legal ...string) error {
	if n.Kind != yaml.ScalarNode {
		return onLine(n, errors.New("expected a text"))
	}
	*to = n.Value
	problem, expected := checkWord(field, n.Value, legal)
	if problem == "" || n.Value == "" {
		return nil
	}
	return onLine(n, errors.New(problem+", not "+expected))
}

// yamlError returns the first error of the YAML library in words for a user.
func yamlError(err error) error {
	if _, ok := errors.AsType[*lineError](err); ok {
		return err
	}
	// Compile the expressions only in case of an error.
	yamlLine := regexp.MustCompile(`(?s)\Aline (\d+): (.*)\z`)
	unknownField := regexp.MustCompile(`(?s)\Afield (.*) not found in type contract\.(\w+)\z`)
	wrongType := regexp.MustCompile(`(?s)\Acannot unmarshal .* into (\S+)\z`)

	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if all, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = all.Errors[0]
	}
	line := 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	if m := unknownField.FindStringSubmatch(text); m != nil {
		text = unknownFieldText(m[1], m[2])
	}
	if m := wrongType.FindStringSubmatch(text); m != nil {
		text = "expected " + describeType(m[1])
	}
	return &lineError{line: line, err: errors.New(text)}
}

// describeType describes the values of a type of Go in YAML.
func describeType(name string) string {
	switch {
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case name == "bool":
		return "true or false"
	case name == "int":
		return "a whole number"
	case name == "string":
		return "a text"
	}
	return "fields, as in name: value"
}

// unknownFieldText lists the fields of a type that a project may give.
func unknownFieldText(name, typeName string) string {
	var valid []string
	for _, v := range []any{Contract{}, Group{}, Entry{}, Schema{}, Pattern{}, Key{}} {
		t := reflect.TypeOf(v)
		for i := 0; t.Name() == typeName && i < t.NumField(); i++ {
			field, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
			if field != "" && field != "role" && field != "-" {
				valid = append(valid, field)
			}
		}
	}
	meant := ""
	if near, ok := suggest.Word(name, valid); ok {
		meant = "; did you mean " + near + "?"
	}
	return fmt.Sprintf("unknown field %s%s (valid: %s)", show(name), meant, strings.Join(valid, ", "))
}
