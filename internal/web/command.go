package web

import (
	"encoding/base64"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Command is a command of ken's or git's to paste where the server was started: about the
// worktree that the page is of, with paths from its root.
func (f *pageData) Command(words string) string {
	if f.atHand || f.dir == "" {
		return words
	}
	program, args, _ := strings.Cut(words, " ")
	return program + " -C " + fault.Quote(f.dir) + " " + args
}

// pathArg names a file to a command of ken's: by its bytes where a terminal or a shell would
// make others of them.
func pathArg(p repo.Path) string {
	if p.String() != string(p) {
		return "--path-b64 " + base64.StdEncoding.EncodeToString([]byte(p))
	}
	return fault.Quote(plainArg(p))
}

// plainArg is a path that is not taken for a flag.
func plainArg(p repo.Path) string {
	if strings.HasPrefix(string(p), "-") {
		return "./" + string(p)
	}
	return string(p)
}

// A hint is what to do next: in words, with the command to paste and the page to go to,
// where it names any.
type hint struct{ Text, Command, Page string }

// Hint takes a hint apart, and has its command act on the worktree that the page is of.
func (f *pageData) Hint(text string) hint {
	h := readHint(text)
	switch program, args, _ := strings.Cut(h.Command, " "); {
	case program != "ken" && program != "git", strings.HasPrefix(args, "-C "):
	default:
		h.Command = f.Command(h.Command)
	}
	return h
}

// readHint takes a hint apart. By custom a command is all of it, or stands behind a colon
// at its end.
func readHint(text string) hint {
	if isCommand(text) {
		return hint{Command: text}
	}
	if words, rest, ok := cutLast(text, ": "); ok && isCommand(rest) {
		return hint{Text: words + ":", Command: rest}
	}
	if words, rest, ok := cutLast(text, " "); ok && pagesByPath[rest] != "" {
		return hint{Text: words, Page: rest}
	}
	return hint{Text: text}
}

// Name is what the page is called.
func (h hint) Name() string { return pagesByPath[h.Page] }

// pagesByPath are those that a hint may lead to.
var pagesByPath = map[string]string{"/": "the Board", "/map": "the Map", "/files": "Files", "/state": "State", "/worktrees": "Worktrees"}

// isCommand reports whether a text is a command and nothing else.
func isCommand(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	switch first {
	case "ken", "git", "cat", "chmod", "curl", "df", "mv", "rm", "psql", "createdb", "createuser", "export":
		return !strings.Contains(text, "; ") && !strings.Contains(text, ", ") && !strings.Contains(text, " (")
	}
	return false
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+len(sep):], true
}
