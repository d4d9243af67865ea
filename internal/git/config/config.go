// Package config parses git's configuration: the text of a config file, or the output of
// `git config --list`. It reads no file and starts no process.
package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Settings are the settings of one or more config files, in their order. The zero value has none.
type Settings struct {
	List []Setting
	// Includes says that a file includes other files. Parse does not read them.
	Includes bool
}

// A Setting is a line of a config file. In its key, section and name are in lower case; the subsection keeps its
// case. Implied marks a key without a value, which means true.
type Setting struct {
	Key, Value string
	Implied    bool
}

// Last returns the last value of a key, which takes precedence; ok is false if there is none.
func (c Settings) Last(key string) (value string, ok bool) {
	for i := len(c.List) - 1; i >= 0; i-- {
		if s := c.List[i]; s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}

// All returns every value of a key, in order.
func (c Settings) All(key string) []string {
	var out []string
	for _, s := range c.List {
		if s.Key == key {
			out = append(out, s.Value)
		}
	}
	return out
}

// Bool returns the last value of a key as a bool; ok is false if there is none or it is not a bool.
func (c Settings) Bool(key string) (value, ok bool) {
	for i := len(c.List) - 1; i >= 0; i-- {
		if s := c.List[i]; s.Key == key {
			if s.Implied {
				return true, true
			}
			return ParseBool(s.Value)
		}
	}
	return false, false
}

// ParseBool parses the words and numbers that git accepts as a bool.
func ParseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	}
	n, err := strconv.ParseInt(strings.TrimRight(strings.ToLower(s), "kmg"), 0, 64)
	return n != 0, err == nil
}

// Parse parses the text of a config file by git's grammar. It returns an error for a text that git refuses.
func Parse(text string) (Settings, error) {
	p := parser{rest: strings.TrimPrefix(text, "\ufeff"), line: 1}
	if strings.IndexByte(text, 0) >= 0 {
		return Settings{}, errors.New("the file contains a NUL byte")
	}
	var c Settings
	section := ""
	for {
		p.skipBlank()
		ch, ok := p.peek()
		switch {
		case !ok:
			return c, nil
		case ch == '[':
			var err error
			if section, err = p.header(); err != nil {
				return Settings{}, err
			}
		case !isAlpha(ch) || section == "":
			return Settings{}, p.fail("neither a section nor a key")
		default:
			s, err := p.setting(section)
			if err != nil {
				return Settings{}, err
			}
			if strings.HasPrefix(s.Key, "include.") || strings.HasPrefix(s.Key, "includeif.") {
				c.Includes = true
			}
			c.List = append(c.List, s)
		}
	}
}

// ParseList parses the output of `git config -z --list`: key, newline, value, NUL. A key without a value has no
// newline.
func ParseList(out string) (Settings, error) {
	var c Settings
	for len(out) > 0 {
		item, rest, ok := strings.Cut(out, "\x00")
		if !ok {
			return Settings{}, errors.New("git config: truncated output")
		}
		key, value, has := strings.Cut(item, "\n")
		if key == "" {
			return Settings{}, errors.New("git config: a setting without a key")
		}
		c.List = append(c.List, Setting{Key: key, Value: value, Implied: !has})
		out = rest
	}
	return c, nil
}

type parser struct {
	rest string
	line int
}

func (p *parser) fail(what string) error {
	return fmt.Errorf("line %d: %s", p.line, what)
}

// peek returns the next character. Like git, it treats CRLF as LF.
func (p *parser) peek() (byte, bool) {
	if strings.HasPrefix(p.rest, "\r\n") {
		p.rest = p.rest[1:]
	}
	if p.rest == "" {
		return 0, false
	}
	return p.rest[0], true
}

// next consumes a character. At the end of the file it returns a newline.
func (p *parser) next() byte {
	ch, ok := p.peek()
	if !ok {
		return '\n'
	}
	p.rest = p.rest[1:]
	if ch == '\n' {
		p.line++
	}
	return ch
}

// skipBlank skips white space, empty lines and comments.
func (p *parser) skipBlank() {
	for {
		ch, ok := p.peek()
		switch {
		case !ok:
			return
		case isSpace(ch):
			p.next()
		case ch == '#' || ch == ';':
			i := strings.IndexByte(p.rest, '\n')
			if i < 0 {
				i = len(p.rest)
			}
			p.rest = p.rest[i:]
		default:
			return
		}
	}
}

// header parses [section], [section.sub] or [section "sub"].
func (p *parser) header() (string, error) {
	p.next()
	var name strings.Builder
	for {
		ch := p.next()
		switch {
		case ch == ']':
			if name.Len() == 0 {
				return "", p.fail("a section without a name")
			}
			return name.String(), nil
		case isSpace(ch):
			return p.subsection(name.String(), ch)
		case !isKeyChar(ch) && ch != '.':
			return "", p.fail("bad section header")
		}
		name.WriteByte(lower(ch))
	}
}

func (p *parser) subsection(section string, ch byte) (string, error) {
	for isSpace(ch) {
		if ch == '\n' {
			return "", p.fail("incomplete section header")
		}
		ch = p.next()
	}
	if ch != '"' || section == "" {
		return "", p.fail("bad section header")
	}
	var name strings.Builder
	for {
		ch = p.next()
		if ch == '"' {
			break
		}
		if ch == '\\' {
			ch = p.next()
		}
		if ch == '\n' {
			return "", p.fail("incomplete section header")
		}
		name.WriteByte(ch)
	}
	if p.next() != ']' {
		return "", p.fail("bad section header")
	}
	return section + "." + name.String(), nil
}

func (p *parser) setting(section string) (Setting, error) {
	var key strings.Builder
	for ch, ok := p.peek(); ok && isKeyChar(ch); ch, ok = p.peek() {
		key.WriteByte(lower(p.next()))
	}
	s := Setting{Key: section + "." + key.String()}
	ch := p.next()
	for ch == ' ' || ch == '\t' {
		ch = p.next()
	}
	switch ch {
	case '\n':
		s.Implied = true
		return s, nil
	case '=':
		var err error
		s.Value, err = p.value()
		return s, err
	}
	return Setting{}, p.fail("a key without '='")
}

// value parses the value up to the end of the line. Quotes may start and end anywhere. White space inside quotes is
// kept; outside it is trimmed at both ends of the value.
func (p *parser) value() (string, error) {
	var v strings.Builder
	space, quoted := 0, false
	for {
		ch := p.next()
		switch {
		case ch == '\n' && quoted:
			return "", p.fail("an open quote")
		case ch == '\n':
			return v.String(), nil
		case isSpace(ch) && !quoted:
			if v.Len() > 0 {
				space++
			}
			continue
		case (ch == '#' || ch == ';') && !quoted:
			for p.next() != '\n' {
			}
			return v.String(), nil
		}
		for ; space > 0; space-- {
			v.WriteByte(' ')
		}
		switch ch {
		case '"':
			quoted = !quoted
		case '\\':
			text, ok := unescape(p.next())
			if !ok {
				return "", p.fail("bad escape in a value")
			}
			v.WriteString(text)
		default:
			v.WriteByte(ch)
		}
	}
}

// unescape returns the meaning of a backslash and ch in a value.
func unescape(ch byte) (text string, ok bool) {
	switch ch {
	case '\n': // the value continues in the next line
		return "", true
	case 't':
		return "\t", true
	case 'b':
		return "\b", true
	case 'n':
		return "\n", true
	case '\\', '"':
		return string(ch), true
	}
	return "", false
}

func isSpace(ch byte) bool { return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r' }

func isAlpha(ch byte) bool { return lower(ch) >= 'a' && lower(ch) <= 'z' }

func isKeyChar(ch byte) bool { return isAlpha(ch) || ch >= '0' && ch <= '9' || ch == '-' }

func lower(ch byte) byte {
	if ch >= 'A' && ch <= 'Z' {
		return ch + 'a' - 'A'
	}
	return ch
}
