package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"ken/internal/english"
)

// A Problem is content that the contract does not allow.
type Problem struct {
	File     string `json:"file"`
	Problem  string `json:"problem"`
	Expected string `json:"expected"`
}

// Check returns the problems of a file's content. A file whose content the contract does
// not describe has none.
func (c *Contract) Check(name string, content []byte) []Problem {
	f, ok := c.governing(name)
	if !ok {
		return nil
	}
	var found []Problem
	report := func(problem, expected string) {
		if problem != "" {
			found = append(found, Problem{File: name, Problem: problem, Expected: expected})
		}
	}
	if len(f.Status) > 0 {
		report(checkStatus(content, f.Status))
	}
	if f.Schema != nil {
		f.Schema.check(content, report)
	}
	return found
}

// Checks reports whether the contract describes the content of a file of that name.
// If not, Check returns no problems.
func (c *Contract) Checks(name string) bool {
	f, ok := c.governing(name)
	return ok && (len(f.Status) > 0 || f.Schema != nil)
}

// governing returns the canonical file whose rules apply to a name: the file itself, or
// the base of the pattern that allows it.
func (c *Contract) governing(name string) (Entry, bool) {
	if f, ok := c.File(name); ok {
		return f, true
	}
	if c.Bucket(name) != PatternAllowed {
		return Entry{}, false
	}
	p, _ := c.Match(name)
	if p.Base == "" {
		return Entry{}, false
	}
	_, ext := split(name)
	return c.File(p.Base + ext)
}

const (
	statusLines = 100 // in which the status heading must be
	valueLines  = 4   // in which its value must follow
)

var bom = []byte("\xef\xbb\xbf")

// checkStatus returns the problem of the status heading of a Markdown file.
func checkStatus(content []byte, legal []string) (problem, expected string) {
	content = bytes.TrimPrefix(content, bom)
	for range statusLines {
		if len(content) == 0 {
			break
		}
		var line []byte
		line, content, _ = bytes.Cut(content, []byte("\n"))
		rest, ok := statusHeading(line)
		if !ok {
			continue
		}
		if rest == "" {
			rest = following(content)
		}
		word := firstWord(rest)
		if word == "" {
			return "the status heading has no value", english.Or(legal)
		}
		return checkWord("status", word, legal)
	}
	return fmt.Sprintf("no status heading in the first %d lines", statusLines), "## Status: " + english.Or(legal)
}

// statusHeading returns the text after the colon if the line is the heading.
func statusHeading(line []byte) (rest string, ok bool) {
	const word = "status"
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("##")) || len(line) > 2 && line[2] == '#' {
		return "", false
	}
	line = bytes.TrimLeft(line[2:], " \t*_")
	if len(line) < len(word) || !strings.EqualFold(string(line[:len(word)]), word) {
		return "", false
	}
	line = bytes.Trim(line[len(word):], " \t*_#")
	if len(line) == 0 {
		return "", true
	}
	if line[0] != ':' {
		return "", false
	}
	return string(bytes.TrimLeft(line[1:], " \t*_")), true
}

// following returns the first non-empty line after a heading that may have its value,
// "" if that is another heading.
func following(content []byte) string {
	for range valueLines {
		var line []byte
		line, content, _ = bytes.Cut(content, []byte("\n"))
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] == '#' {
			return ""
		}
		return string(line)
	}
	return ""
}

// firstWord returns the first word of a line without Markdown and punctuation.
func firstWord(line string) string {
	line = strings.TrimLeft(line, " \t*_`\"'")
	if i := strings.IndexFunc(line, func(r rune) bool { return r <= ' ' || r == '`' || r == '*' }); i >= 0 {
		line = line[:i]
	}
	return strings.TrimRight(line, "_.,;:!\"'")
}

// check reports the problems of a JSON file.
func (s *Schema) check(content []byte, report func(problem, expected string)) {
	const object = "one JSON object"
	if bytes.HasPrefix(content, bom) {
		report("begins with a byte order mark", "JSON without a byte order mark")
		content = content[len(bom):]
	}
	if len(bytes.TrimSpace(content)) == 0 {
		report("is empty", object)
		return
	}
	if !utf8.Valid(content) {
		report("is not UTF-8", object)
		return
	}
	fields, err := decodeObject(content)
	if err != nil {
		report(err.Error(), object)
		return
	}
	for _, name := range s.Required {
		if values := fields[name]; len(values) == 0 {
			report(name+" is missing", s.expected(name))
		} else if string(values[0]) == "null" {
			report(name+" is null", s.expected(name))
		}
	}
	for _, name := range s.named() {
		values := fields[name]
		if len(values) > 1 {
			report(fmt.Sprintf("%s appears %d times", name, len(values)), "once")
		}
		legal := s.Enums[name]
		if len(values) == 0 || len(legal) == 0 || string(values[0]) == "null" {
			continue
		}
		var v any
		if err := json.Unmarshal(values[0], &v); err != nil {
			report(name+" cannot be read", english.Or(legal))
		} else if word, ok := v.(string); ok {
			report(checkWord(name, word, legal))
		} else {
			report(name+" is "+show(v), english.Or(legal))
		}
	}
}

// named lists the fields of the schema: the required ones in their order, then the
// others by name.
func (s *Schema) named() []string {
	names := slices.Clone(s.Required)
	var more []string
	for name := range s.Enums {
		if !slices.Contains(names, name) {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	return append(names, more...)
}

// expected returns the expected value of a field.
func (s *Schema) expected(field string) string {
	if legal := s.Enums[field]; len(legal) > 0 {
		return english.Or(legal)
	}
	return "a value for " + field
}

// decodeObject returns all values of each field of a JSON object.
func decodeObject(content []byte) (map[string][]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(content))
	open, err := dec.Token()
	if err == nil && open != json.Delim('{') {
		return nil, errors.New("is not an object")
	}
	fields := make(map[string][]json.RawMessage)
	for err == nil && dec.More() {
		var name json.Token
		var value json.RawMessage
		name, err = dec.Token()
		if err == nil {
			err = dec.Decode(&value)
		}
		fields[fmt.Sprint(name)] = append(fields[fmt.Sprint(name)], value)
	}
	if err == nil {
		_, err = dec.Token() // the end of the object
	}
	if err != nil {
		return nil, notJSON(content, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has more after the object")
	}
	return fields, nil
}

// notJSON adds the line to a JSON error.
func notJSON(content []byte, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("is not JSON: unexpected end")
	}
	if syn, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := min(max(int(syn.Offset)-1, 0), len(content))
		return fmt.Errorf("is not JSON: line %d: %w", 1+bytes.Count(content[:at], []byte("\n")), err)
	}
	return fmt.Errorf("is not JSON: %w", err)
}
