package web

import (
	"encoding/base64"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Command returns a ken or git command to paste in the directory where the server was
// started. It acts on the page's worktree.
func (pd *pageData) Command(words string) string {
	if pd.inStartDir || pd.dir == "" {
		return words
	}
	program, args, _ := strings.Cut(words, " ")
	return program + " -C " + fault.Quote(pd.dir) + " " + args
}

// pathArg returns a path as an argument of ken. A path that cannot be printed is given
// in base64.
func pathArg(p repo.Path) string {
	if p.String() != string(p) {
		return "--path-b64 " + base64.StdEncoding.EncodeToString([]byte(p))
	}
	return fault.Quote(plainArg(p))
}

// plainArg returns a path that no program takes for a flag.
func plainArg(p repo.Path) string {
	if strings.HasPrefix(string(p), "-") {
		return "./" + string(p)
	}
	return string(p)
}

// A hint has a text, and a command to paste or a page to open.
type hint struct{ Text, Command, Page string }

// Hint parses a hint and adds -C to its command if needed.
func (pd *pageData) Hint(text string) hint {
	h := readHint(text)
	switch program, args, _ := strings.Cut(h.Command, " "); {
	case program != "ken" && program != "git", strings.HasPrefix(args, "-C "):
	default:
		h.Command = pd.Command(h.Command)
	}
	return h
}

// readHint parses a hint. A command is the whole hint, or follows a colon at its end.
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

// Name is the title of the page.
func (h hint) Name() string { return pagesByPath[h.Page] }

// pagesByPath are the pages that a hint may name.
var pagesByPath = map[string]string{"/": "Home", "/map": "the Map", "/files": "Files", "/specs": "Specs", "/documents": "Documents", "/state": "State", "/worktrees": "Worktrees"}

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
