package parse

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"ken/internal/fault"
	"ken/internal/repo"
)

// An Entry names files that a node governs or refers to: a file, a directory or a glob.
type Entry struct {
	Text   string // as written in the spec
	Path   string // from the repository root, clean, without a symbol; "" is the root
	Symbol string // the governed symbol, "" for the whole file
	Kind   EntryKind
}

// An EntryKind is the kind of an entry.
type EntryKind int

// The kinds of entries.
const (
	FileEntry EntryKind = iota // a file, or a directory without a trailing slash
	DirEntry                   // a directory with a trailing slash
	GlobEntry
)

// ReadEntry parses an entry. It trims white space and a leading ./, and normalizes backslashes and doubled
// slashes. An absolute path, a path out of the repository and an invalid glob are errors with a hint.
//
// A # within a name separates a symbol, as in a.go#New. A # at the beginning or end of a path element is part of
// the name, as in src/c#/a.cs.
func ReadEntry(text string) (Entry, error) {
	text = strings.TrimSpace(text)
	e := Entry{Text: text}
	name, symbol := cutSymbol(text)
	e.Symbol = symbol
	name = strings.ReplaceAll(name, `\`, "/")
	fail := func(hint, format string, args ...any) (Entry, error) {
		return Entry{}, &fault.Error{
			Kind: fault.Usage, Hint: hint,
			Err: fmt.Errorf("entry %s %s", Quote(text), fmt.Sprintf(format, args...)),
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

// cutSymbol splits an entry at the first # that has a name before it and a symbol after it.
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

// hasDrive reports whether a path begins with a Windows drive letter.
func hasDrive(p string) bool {
	return len(p) > 2 && p[1:3] == ":/" && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// maxEntryBytes is the maximal length of a path. No operating system opens a longer one.
const maxEntryBytes = 4096

// String returns the entry in normal form, which ReadEntry parses to the same entry.
func (e Entry) String() string {
	s := e.Path
	if r, _ := utf8.DecodeRuneInString(s); s == "" || unicode.IsSpace(r) || hasDrive(s) {
		s = "./" + s // without the prefix ReadEntry would parse it differently
	}
	if e.Kind == DirEntry && e.Path != "" {
		s += "/"
	}
	if e.Symbol != "" {
		s += "#" + e.Symbol
	}
	return s
}

// Literal returns the path with the symbol: the # may be part of a file name.
func (e Entry) Literal() repo.Path { return repo.Path(e.Path + "#" + e.Symbol) }

// Matches reports whether the entry names a file, regardless of its symbol. A path matches itself and, for a
// directory, everything below it. That is so even if it could be read as a glob: app/[id]/page.tsx names that
// file. An entry a.go#New also matches a file of this name.
func (e Entry) Matches(p repo.Path) bool {
	return p.Under(repo.Path(e.Path)) || e.Symbol != "" && p == e.Literal() ||
		e.Kind == GlobEntry && doublestar.MatchUnvalidated(e.Path, string(p))
}

// MatchesAny reports whether the entry matches any of the paths, which must be sorted.
func (e Entry) MatchesAny(paths []repo.Path) bool {
	i, exact := slices.BinarySearch(paths, repo.Path(e.Path))
	if exact && e.Kind != DirEntry || e.Path == "" && len(paths) > 0 {
		return true
	}
	if _, literal := slices.BinarySearch(paths, e.Literal()); literal && e.Symbol != "" {
		return true
	}
	below := repo.Path(e.Path + "/")
	if j, _ := slices.BinarySearch(paths[i:], below); i+j < len(paths) && strings.HasPrefix(string(paths[i+j]), string(below)) {
		return true
	}
	return e.Kind == GlobEntry && slices.ContainsFunc(e.Among(paths), e.Matches)
}

// Among returns the part of the sorted paths that the entry may match: its base, because lib/** matches lib too,
// and the paths below.
func (e Entry) Among(paths []repo.Path) []repo.Path {
	base := e.Path
	if e.Kind == GlobEntry {
		base, _ = doublestar.SplitPattern(e.Path)
	}
	if base == "" || e.Kind == GlobEntry && base == "." {
		return paths
	}
	first, _ := slices.BinarySearch(paths, repo.Path(base+"/"))
	end, _ := slices.BinarySearch(paths, repo.Path(base+"0")) // the character 0 follows the slash
	if i, there := slices.BinarySearch(paths, repo.Path(base)); there {
		return slices.Concat(paths[i:i+1], paths[first:end])
	}
	return paths[first:end]
}
