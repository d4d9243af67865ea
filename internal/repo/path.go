package repo

import (
	"encoding/base64"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Path names a tracked file by its bytes, from the repository root, with
// slashes. It is never assumed to be UTF-8.
type Path string

// String returns the path for people, on one line: as it is, or Go-quoted when it is not
// UTF-8, contains a misleading character, or looks like a quoted path.
func (p Path) String() string {
	if !p.plain() {
		return strconv.Quote(string(p))
	}
	return string(p)
}

func (p Path) plain() bool {
	if !utf8.ValidString(string(p)) || strings.HasPrefix(string(p), `"`) {
		return false
	}
	return !strings.ContainsFunc(string(p), IsMisleading)
}

// A PathJSON is how a path stands in a document: as text, and in base64 beside
// it when the text is only a rendering. Embed it where a document names a path.
type PathJSON struct {
	Path string `json:"path"`
	B64  string `json:"path_b64,omitempty"`
}

// JSON returns the path's form in documents.
func (p Path) JSON() PathJSON {
	// A name that could be taken for a quoted one is no ordinary name either.
	if _, quoted := Unquote(string(p)); utf8.ValidString(string(p)) && !quoted {
		return PathJSON{Path: string(p)}
	}
	return PathJSON{Path: strconv.Quote(string(p)), B64: base64.StdEncoding.EncodeToString([]byte(p))}
}

// Raw returns the path of a JSON document.
func (j PathJSON) Raw() (Path, error) {
	if j.B64 == "" {
		return Path(j.Path), nil
	}
	return PathFromBase64(j.B64)
}

// Display returns the path as a line of text shows it.
func (j PathJSON) Display() string {
	raw, err := j.Raw()
	if err != nil {
		return j.Path
	}
	return raw.String()
}

// PathFromBase64 reads the path_b64 form.
func PathFromBase64(s string) (Path, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return "", fmt.Errorf("path in base64 %q: %w", s, err)
	}
	return Path(b), nil
}

// Unquote reads the Go-quoted form that String prints; ok is false when s is
// not in that form.
func Unquote(s string) (p Path, ok bool) {
	if len(s) < 2 || s[0] != '"' {
		return "", false
	}
	u, err := strconv.Unquote(s)
	return Path(u), err == nil
}

// Dir returns the path of the directory that holds p, "" for the root.
func (p Path) Dir() Path {
	i := strings.LastIndexByte(string(p), '/')
	if i < 0 {
		return ""
	}
	return p[:i]
}

// Upward yields a directory and the directories above it, the root last.
func (p Path) Upward() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		for dir := p; yield(dir) && dir != ""; dir = dir.Dir() {
		}
	}
}

// DirLabel returns how ken writes the path of a directory: the root is a dot.
func DirLabel(p Path) Path {
	if p == "" {
		return "."
	}
	return p
}

// Base returns the last element of the path.
func (p Path) Base() string { return string(p[strings.LastIndexByte(string(p), '/')+1:]) }

// Under reports whether p is dir or lies below it. Everything is under "".
func (p Path) Under(dir Path) bool {
	return dir == "" || p == dir ||
		len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir
}
