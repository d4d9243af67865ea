package spec

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"ken/internal/fault"
	"ken/internal/repo"
)

// An Entry is what a node governs or refers to: a file, a directory or the files
// that fit a glob.
type Entry struct {
	Text   string // as it was written
	Path   string // from the repository root, clean, without a symbol; "" is the root
	Symbol string // the part of the file that is meant, "" for all
	Kind   EntryKind
}

// An EntryKind is how an entry names its files.
type EntryKind int

// The kinds.
const (
	FileEntry EntryKind = iota // a file, or a directory that is not written as one
	DirEntry                   // a directory, written with a slash at its end
	GlobEntry
)

// ParseEntry reads an entry. White space around it, ./ before it, backslashes and
// doubled slashes are tidied away. A path that is absolute or leads out of the
// repository, and a glob that makes no sense, is an error with a hint.
//
// A # within a name begins a symbol, as in a.go#New; one at either end of a name
// is part of it, as in src/c#/a.cs.
func ParseEntry(text string) (Entry, error) {
	text = strings.TrimSpace(text)
	e := Entry{Text: text}
	name, symbol := cutSymbol(text)
	e.Symbol = symbol
	name = strings.ReplaceAll(name, `\`, "/")
	fail := func(hint, format string, args ...any) (Entry, error) {
		return Entry{}, &fault.Error{
			Kind: fault.Usage, Hint: hint,
			Err: fmt.Errorf("entry %s %s", show(text), fmt.Sprintf(format, args...)),
		}
	}
	const inside = "write a path below the repository root, such as src/a.go"
	switch {
	case name == "":
		return fail(inside, "is not a path")
	case strings.HasPrefix(name, "/") || hasDrive(name):
		return fail(inside, "is absolute")
	case strings.ContainsRune(name, 0):
		return fail(inside, "contains a zero byte")
	case len(name) > maxEntryBytes:
		return fail(inside, "is longer than %d bytes", maxEntryBytes)
	}
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "", ".", "..":
		e.Kind = DirEntry
	}
	e.Path = path.Clean(name)
	switch {
	case e.Path == "..", strings.HasPrefix(e.Path, "../"):
		return fail(inside, "leads out of the repository")
	case e.Path == ".":
		e.Path = ""
	case strings.ContainsAny(e.Path, "*?[{"):
		if err := repo.CheckGlobSize(e.Path); err != nil {
			return fail("split it into several entries", "is refused: %v", err)
		}
		if !doublestar.ValidatePattern(e.Path) {
			return fail("close every [ and {", "is not a valid glob")
		}
		if e.Kind == DirEntry {
			e.Path += "/**"
		}
		e.Kind = GlobEntry
	}
	if e.Kind == DirEntry && e.Symbol != "" {
		return fail("name the file that declares it", "names a symbol in a directory")
	}
	return e, nil
}

// cutSymbol takes an entry apart at the first # that has a name before it and a
// symbol behind.
func cutSymbol(text string) (name, symbol string) {
	for i := range len(text) {
		if text[i] != '#' {
			continue
		}
		name, symbol = strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
		if name != "" && symbol != "" && !strings.ContainsAny(name[len(name)-1:]+symbol[:1], `/\`) {
			return name, symbol
		}
	}
	return text, ""
}

// hasDrive reports whether a path begins with one of Windows' drives.
func hasDrive(p string) bool {
	return len(p) > 2 && p[1:3] == ":/" && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// maxEntryBytes is how long the path of an entry may be; no system opens a longer
// one.
const maxEntryBytes = 4096

// String returns the entry in its tidy spelling, which ParseEntry reads back.
func (e Entry) String() string {
	s := e.Path
	if r, _ := utf8.DecodeRuneInString(s); s == "" || unicode.IsSpace(r) || hasDrive(s) {
		s = "./" + s // else it would be taken for less, or for more
	}
	if e.Kind == DirEntry && e.Path != "" {
		s += "/"
	}
	if e.Symbol != "" {
		s += "#" + e.Symbol
	}
	return s
}

// literal is the file of that name, should there be one: what looks like a symbol may
// be part of a name.
func (e Entry) literal() repo.Path { return repo.Path(e.Path + "#" + e.Symbol) }

// Matches reports whether the entry names a file, whichever symbol of it it
// means. What is written out names itself and, if it is a directory, everything
// below, even where it could be read as a glob: app/[id]/page.tsx is that file.
// A file that is called a.go#New is one, too.
func (e Entry) Matches(p repo.Path) bool {
	return p.Under(repo.Path(e.Path)) || e.Symbol != "" && p == e.literal() ||
		e.Kind == GlobEntry && doublestar.MatchUnvalidated(e.Path, string(p))
}
