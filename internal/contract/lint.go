package contract

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// A Reference is a mention of a file that the contract does not allow.
type Reference struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Name    string `json:"name"`
	Nearest string `json:"nearest,omitempty"`
}

// Lint finds the mentions of files in one of dirs that the contract does not allow, in
// order, each once per line; checked is how many mentions it looked at. It expands braces. A name with a placeholder or a glob is
// allowed if an allowed name matches it, and ignored if it is only a placeholder. For a
// path below a directory, Lint checks the directory.
func (c *Contract) Lint(document string, content []byte, dirs []string) (found []Reference, checked int) {
	in := lintDirs(dirs)
	for number := 1; len(content) > 0; number++ {
		var line []byte
		line, content, _ = bytes.Cut(content, []byte("\n"))
		var said map[string]bool
		for _, m := range mentions(string(line), in) {
			checked++
			for _, name := range expand(m.name) {
				text := name.String()
				if said[text] || !name.hasText() || c.legal(name, m.dir) {
					continue
				}
				if said == nil {
					said = make(map[string]bool)
				}
				said[text] = true
				r := Reference{File: document, Line: number, Name: text}
				if name.plain() {
					r.Nearest, _ = c.SuggestFile(text)
				}
				found = append(found, r)
			}
		}
	}
	return found, checked
}

// A lintDir has the elements of a directory's path.
type lintDir []string

// lintDirs splits directories into their elements.
func lintDirs(dirs []string) []lintDir {
	var out []lintDir
	for _, d := range dirs {
		d = strings.Trim(path.Clean(strings.ReplaceAll(d, `\`, "/")), "/")
		if d != "" && d != "." {
			out = append(out, strings.Split(d, "/"))
		}
	}
	return out
}

// A mention is a name after a directory in a line.
type mention struct {
	name spelling
	dir  bool // the path continues below it
}

// mentions finds the names after one of dirs in a line, in order.
func mentions(line string, dirs []lintDir) []mention {
	var found []mention
	nexts := make([]int, len(dirs)) // the next occurrence of the first element of each directory
	for at := 0; ; {
		next := len(line)
		for i, d := range dirs {
			if nexts[i] < at || at == 0 {
				nexts[i] = len(line)
				if n := strings.Index(line[at:], d[0]); n >= 0 {
					nexts[i] = at + n
				}
			}
			next = min(next, nexts[i])
		}
		if at = next; at == len(line) {
			return found
		}
		end, windows := 0, false
		for _, d := range dirs {
			if e, w := d.prefixLength(line[at:]); e > end {
				end, windows = e, w
			}
		}
		if end == 0 || at > 0 && partOfName(line[at-1]) {
			at++
			continue
		}
		at += end
		name, length := parseSpelling(line[at:], windows)
		at += length
		below := at < len(line) && (line[at] == '/' || windows && line[at] == '\\')
		if !below {
			name = name.trimmed()
		}
		found = append(found, mention{name: name, dir: below})
	}
}

// partOfName reports whether a character before the directory belongs to its name, so
// that it is another directory.
func partOfName(b byte) bool {
	return b == '.' || b == '-' || wordByte(b) && b != '_' || b >= 0x80
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// prefixLength returns the length of the directory and the separator at the beginning of s, 0
// if there is none. Separators may be single or double backslashes.
func (d lintDir) prefixLength(s string) (length int, windows bool) {
	for i, element := range d {
		if i > 0 {
			n, back := separator(s[length:])
			if n == 0 {
				return 0, false
			}
			length, windows = length+n, windows || back
		}
		if !strings.HasPrefix(s[length:], element) {
			return 0, false
		}
		length += len(element)
	}
	n, back := separator(s[length:])
	if n == 0 {
		return 0, false
	}
	return length + n, windows || back
}

// separator returns the length of the path separator at the beginning of s.
func separator(s string) (length int, windows bool) {
	switch {
	case strings.HasPrefix(s, `\\`):
		return 2, true
	case strings.HasPrefix(s, `\`):
		return 1, true
	}
	for strings.HasPrefix(s[length:], "/") {
		length++
	}
	return length, false
}

// legal reports whether the contract allows a name that matches. With dir it must be a
// directory; without, it may be a file too.
func (c *Contract) legal(name spelling, dir bool) bool {
	allows := func(n string) bool {
		return c.DirBucket(n) != AdHoc || !dir && c.Bucket(n) != AdHoc
	}
	if name.plain() {
		return allows(name.String())
	}
	if slices.ContainsFunc(c.Files, func(f File) bool { return f.Dir == dir && name.matches(f.Name) }) {
		return true
	}
	return !dir && (slices.ContainsFunc(c.Patterns, func(p Pattern) bool { return name.matches(p.Example) }) ||
		slices.ContainsFunc(samples, func(s string) bool { return allows(name.with(s)) }))
}

// samples are tried in place of a placeholder.
var samples = []string{"a", "a.md", "a.json", "1"}
