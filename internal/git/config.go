package git

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A config is the settings of one or more config files in the order they were
// read. Section and key are in lower case, the subsection between them as it
// stands.
type config struct {
	list []setting
	// includes says that a file refers to others, which were not read.
	includes bool
}

// A setting is one line of a config. Implied marks a key without a value, which
// means true.
type setting struct {
	key, value string
	implied    bool
}

// last returns the value that counts for a key, ok false when there is none.
func (c config) last(key string) (value string, ok bool) {
	for i := len(c.list) - 1; i >= 0; i-- {
		if s := c.list[i]; s.key == key {
			return s.value, true
		}
	}
	return "", false
}

// all returns every value of a key, in order.
func (c config) all(key string) []string {
	var out []string
	for _, s := range c.list {
		if s.key == key {
			out = append(out, s.value)
		}
	}
	return out
}

// flag returns a key's value as a bool, ok false when there is none or it is
// not one.
func (c config) flag(key string) (value, ok bool) {
	for i := len(c.list) - 1; i >= 0; i-- {
		if s := c.list[i]; s.key == key {
			if s.implied {
				return true, true
			}
			return parseBool(s.value)
		}
	}
	return false, false
}

// parseBool reads the words and numbers that git takes for a bool.
func parseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	}
	n, err := strconv.ParseInt(strings.TrimRight(strings.ToLower(s), "kmg"), 0, 64)
	return n != 0, err == nil
}

// parseConfig reads one config file by git's own grammar. What git would refuse
// is an error; include directives are noted and not followed.
func parseConfig(text string) (config, error) {
	p := configParser{rest: strings.TrimPrefix(text, "\ufeff"), line: 1}
	if strings.IndexByte(text, 0) >= 0 {
		return config{}, errors.New("a NUL byte in it")
	}
	var c config
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
				return config{}, err
			}
		case !isAlpha(ch) || section == "":
			return config{}, p.fail("neither a section nor a key")
		default:
			s, err := p.setting(section)
			if err != nil {
				return config{}, err
			}
			if strings.HasPrefix(s.key, "include.") || strings.HasPrefix(s.key, "includeif.") {
				c.includes = true
			}
			c.list = append(c.list, s)
		}
	}
}

type configParser struct {
	rest string
	line int
}

func (p *configParser) fail(what string) error {
	return fmt.Errorf("line %d: %s", p.line, what)
}

// peek returns the next character; CRLF counts as LF, as git has it.
func (p *configParser) peek() (byte, bool) {
	if strings.HasPrefix(p.rest, "\r\n") {
		p.rest = p.rest[1:]
	}
	if p.rest == "" {
		return 0, false
	}
	return p.rest[0], true
}

// next takes a character. The end of the file ends a line too.
func (p *configParser) next() byte {
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

// skipBlank passes over white space, empty lines and comments.
func (p *configParser) skipBlank() {
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

// header reads [section], [section.sub] or [section "sub"].
func (p *configParser) header() (string, error) {
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

func (p *configParser) subsection(section string, ch byte) (string, error) {
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

func (p *configParser) setting(section string) (setting, error) {
	var key strings.Builder
	for ch, ok := p.peek(); ok && isKeyChar(ch); ch, ok = p.peek() {
		key.WriteByte(lower(p.next()))
	}
	s := setting{key: section + "." + key.String()}
	ch := p.next()
	for ch == ' ' || ch == '\t' {
		ch = p.next()
	}
	switch ch {
	case '\n':
		s.implied = true
		return s, nil
	case '=':
		var err error
		s.value, err = p.value()
		return s, err
	}
	return setting{}, p.fail("a key without '='")
}

// value reads up to the end of the line: quotes may start and stop anywhere,
// space is kept inside them and trimmed at either end outside.
func (p *configParser) value() (string, error) {
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

// unescape returns what a backslash and ch stand for in a value.
func unescape(ch byte) (text string, ok bool) {
	switch ch {
	case '\n': // the value goes on in the next line
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
