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
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	maxBytes = 1 << 20 // of the file
	maxItems = 5_000   // of a list or mapping
)

// A lineError is an error on a line of the file.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// errorAt returns an error on the line of n.
func errorAt(n *yaml.Node, format string, args ...any) error {
	return &lineError{line: max(n.Line, 1), err: fmt.Errorf(format, args...)}
}

// parse reads a project's contract and decodes it onto c. It returns the root of the
// file, an empty node if the file has no content.
func parse(file []byte, c *Contract) (*yaml.Node, error) {
	if len(file) > maxBytes {
		return nil, errorAt(&yaml.Node{}, "larger than %d bytes", maxBytes)
	}
	var document, second yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(file))
	err := dec.Decode(&document)
	if errors.Is(err, io.EOF) {
		return &document, nil
	}
	if err != nil {
		return nil, yamlError(file, err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, errorAt(&second, "a second YAML document; only one is allowed")
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlError(file, err)
	}
	root := document.Content[0]
	if err := checkNode(root, ""); err != nil {
		return nil, err
	}
	dec = yaml.NewDecoder(bytes.NewReader(file))
	dec.KnownFields(true)
	if err := dec.Decode(c); err != nil {
		return nil, yamlError(file, err)
	}
	return root, nil
}

// A fieldRule says which scalars a field may have.
type fieldRule struct {
	tags     string // of YAML
	expected string
	legal    []string // any value when empty
}

var (
	wholeNumber = fieldRule{tags: "!!int", expected: "a whole number"}
	boolean     = fieldRule{tags: "!!bool", expected: "true or false"}
	anyText     = fieldRule{tags: "!!str", expected: "a text; put it in quotes"}
	evictWord   = fieldRule{tags: "!!str", expected: "a text", legal: []string{string(Always), string(Scoped), string(Stays)}}
	keyTypeWord = fieldRule{tags: "!!str", expected: "a text", legal: []string{string(Boolean), string(Number), string(String), string(List)}}
	anyScalar   = fieldRule{tags: "!!str !!bool !!int", expected: "a text, a whole number, true or false"}
)

// fieldRules has the fields that are not any text, by their path in the file.
var fieldRules = map[string]fieldRule{
	".stale_days":      wholeNumber,
	".archive_runs":    wholeNumber,
	".files.dir":       boolean,
	".files.exempt":    boolean,
	".files.log":       boolean,
	".files.evict":     evictWord,
	".patterns.evict":  evictWord,
	".ephemeral.evict": evictWord,
	".keys.type":       keyTypeWord,
	".keys.initial":    anyScalar,
}

// check says what is wrong with a value of the field, "" if nothing is.
func (r fieldRule) check(field string, n *yaml.Node) string {
	if !strings.Contains(r.tags, n.ShortTag()) {
		return "expected " + r.expected
	}
	if len(r.legal) == 0 || slices.Contains(r.legal, n.Value) {
		return ""
	}
	problem, expected := checkWord(field, n.Value, slices.DeleteFunc(slices.Clone(r.legal), func(w string) bool { return w == "" }))
	return problem + ", not " + expected
}

// checkNode refuses what the library would accept: merge keys, very long lists, empty
// list elements, wrong words, and scalars of another type, such as 12 for a text, yes
// for a boolean or 1.5 for an integer. path is made of the names of the fields.
func checkNode(n *yaml.Node, path string) error {
	entries := len(n.Content)
	if n.Kind == yaml.MappingNode {
		entries /= 2
	}
	if entries > maxItems {
		return errorAt(n, "more than %d entries", maxItems)
	}
	if value := follow(n); value.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" {
		rule, ok := fieldRules[path]
		if !ok {
			rule = anyText
		}
		if problem := rule.check(path[strings.LastIndex(path, ".")+1:], value); problem != "" {
			return errorAt(n, "%s", problem)
		}
	}
	for i, child := range n.Content {
		at := path
		switch {
		case child.ShortTag() == "!!merge":
			return errorAt(child, "merge keys (<<) are not supported")
		case n.Kind == yaml.MappingNode && i%2 == 1:
			at = path + "." + n.Content[i-1].Value
		case n.Kind == yaml.SequenceNode && (child.ShortTag() == "!!null" || child.Kind == yaml.ScalarNode && child.Value == ""):
			return errorAt(child, "%s: a value is empty", strings.TrimPrefix(cmp.Or(path, "contract"), "."))
		}
		if err := checkNode(child, at); err != nil {
			return err
		}
	}
	return nil
}

var (
	yamlLine     = regexp.MustCompile(`(?s)\Aline (\d+): (.*)\z`)
	unknownField = regexp.MustCompile(`(?s)\Afield (.*) not found in type contract\.(\w+)\z`)
	wrongType    = regexp.MustCompile(`(?s)\Acannot unmarshal .* into (\S+)\z`)
)

// yamlError turns an error of the YAML library into a lineError.
func yamlError(file []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if all, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = all.Errors[0]
	}
	at := &yaml.Node{Line: badLine(file)}
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		at.Line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	if m := unknownField.FindStringSubmatch(text); m != nil {
		valid := fieldNames(m[2])
		if near, ok := SuggestWord(m[1], valid); ok {
			return errorAt(at, "unknown field %s; did you mean %s? (valid: %s)", show(m[1]), near, strings.Join(valid, ", "))
		}
		return errorAt(at, "unknown field %s (valid: %s)", show(m[1]), strings.Join(valid, ", "))
	}
	if m := wrongType.FindStringSubmatch(text); m != nil {
		switch {
		case strings.HasPrefix(m[1], "[]"):
			text = "expected a list"
		case m[1] == "bool":
			text = "expected true or false"
		case m[1] == "string", m[1] == "contract.Evict", m[1] == "contract.KeyType":
			text = "expected a text"
		default:
			text = "expected fields, as in name: value"
		}
	}
	return errorAt(at, "%s", text)
}

// fieldNames lists the fields of a type that a project may set, in the file's spelling.
func fieldNames(typeName string) []string {
	types := []reflect.Type{
		reflect.TypeFor[Contract](), reflect.TypeFor[Group](), reflect.TypeFor[File](),
		reflect.TypeFor[Schema](), reflect.TypeFor[Pattern](), reflect.TypeFor[Key](),
	}
	var names []string
	for _, t := range types {
		if t.Name() != typeName {
			continue
		}
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
			if name != "" && name != "role" {
				names = append(names, name)
			}
		}
	}
	return names
}

// follow returns the node that an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// badLine returns the line of the first byte that YAML does not allow, which the
// library reports without a line; 1 if there is none.
func badLine(file []byte) int {
	bad := func(r rune) bool {
		return r == utf8.RuneError || unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r)
	}
	i := max(bytes.IndexFunc(file, bad), 0)
	return 1 + bytes.Count(file[:i], []byte("\n"))
}
