package contract

import (
	"bytes"
	"path"
	"regexp"
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
// order, each once per line; checked is how many mentions it looked at. A name that
// continues with a placeholder, a glob or braces is unknown, and Lint says nothing about
// it. For a path below a directory, Lint checks the directory.
func (c *Contract) Lint(document string, content []byte, dirs []string) (found []Reference, checked int) {
	mention := mentionExpr(dirs)
	if mention == nil {
		return nil, 0
	}
	number := 0
	for line := range bytes.Lines(content) {
		number++
		var reported []string
		for _, at := range mention.FindAllSubmatchIndex(line, -1) {
			checked++
			name := string(line[at[2]:at[3]])
			rest := line[at[3]:]
			if !isComplete(name, rest) {
				continue
			}
			below := bytes.HasPrefix(rest, []byte("/"))
			if !below {
				name = strings.TrimRight(name, "."+nameMarks)
			}
			isName := strings.Trim(name, "."+nameMarks) != ""
			if !isName || c.allows(name, below) || slices.Contains(reported, name) {
				continue
			}
			reported = append(reported, name)
			nearest, _ := c.SuggestFile(name)
			found = append(found, Reference{File: document, Line: number, Name: name, Nearest: nearest})
		}
	}
	return found, checked
}

// nameMarks are the characters of a name other than letters, digits and dots. At its end,
// they belong to the sentence.
const nameMarks = "_@+-"

// mentionExpr returns an expression that matches one of dirs and the name after it, which
// may be empty; nil if there are no directories. Separators may be backslashes.
func mentionExpr(dirs []string) *regexp.Regexp {
	const separator = `[/\\]+`
	var alternatives []string
	for _, d := range dirs {
		d = strings.Trim(path.Clean(strings.ReplaceAll(d, `\`, "/")), "/")
		if d != "" && d != "." {
			alternatives = append(alternatives, strings.ReplaceAll(regexp.QuoteMeta(d), "/", separator))
		}
	}
	if alternatives == nil {
		return nil
	}
	return regexp.MustCompile(`(?:^|[^\pL\pN\x{FFFD}.-])` +
		`(?:` + strings.Join(alternatives, "|") + `)` + separator +
		`([\pL\pM\pN.` + nameMarks + `]*)`)
}

// isComplete reports whether all of a name is known. A name before a placeholder, a glob or a
// backslash is complete only with an extension: in **.ken/state/plan.md** it is, in
// .ken/state/plan-* it is not.
func isComplete(name string, rest []byte) bool {
	if len(rest) == 0 || !strings.ContainsRune(`<{[$%*?\`, rune(rest[0])) {
		return true
	}
	_, ext := split(name)
	return ext != "" && isText(ext)
}

// allows reports whether the contract allows a mentioned name. If the path continues
// below it, it must be a directory.
func (c *Contract) allows(name string, below bool) bool {
	if c.DirBucket(name) != AdHoc {
		return true
	}
	return !below && c.Bucket(name) != AdHoc
}
