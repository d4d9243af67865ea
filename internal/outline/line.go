package outline

import (
	"slices"
	"strings"
)

// NameLine returns the line with the name of a symbol, among the lines of its file. The first line of a symbol is that
// of its comment. It returns the first line if no line has the name.
func (s *Symbol) NameLine(lines []string) int {
	first := strings.TrimSpace(s.Signature)
	if i := strings.Index(first, s.Name); i >= 0 {
		first = first[:i+len(s.Name)]
	}
	end := min(s.EndLine, len(lines))
	for n := s.Line; n <= end && first != ""; n++ {
		line := strings.Join(strings.Fields(lines[n-1]), " ")
		if strings.Contains(line, first) && !IsComment(line) {
			return n
		}
	}
	for n := s.Line; n <= end; n++ {
		if line := strings.TrimSpace(lines[n-1]); HasWord(line, s.Name) && !IsComment(line) {
			return n
		}
	}
	return s.Line
}

// IsComment reports whether a line without indentation begins like a comment, in any language.
func IsComment(line string) bool {
	marks := []string{"//", "#", "*", "/*", "--", `"""`, "'''"}
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(line, mark) })
}

// HasWord reports whether a line contains a name that is not part of a longer one.
func HasWord(line, name string) bool { return WordAt(line, name) >= 0 }

// WordAt returns the position of a name in a line that is not part of a longer one, -1 if there is none.
func WordAt(line, name string) int {
	for at := 0; ; {
		i := strings.Index(line[at:], name)
		if i < 0 {
			return -1
		}
		i += at
		end := i + len(name)
		begins := i == 0 || !IsNameByte(line[i-1])
		if begins && (end == len(line) || !IsNameByte(line[end])) {
			return i
		}
		at = end
	}
}

// IsNameByte reports whether a byte may be part of a name in most languages.
func IsNameByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80
}
