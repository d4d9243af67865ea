// Package shell reads the simple commands of a text in the language of the shell: of code in documents, of scripts in
// manifests and CI workflows.
//
// It runs nothing and expands nothing. Such texts are often not quite shell: they have placeholders, prompts and prose.
// A line that cannot be parsed is left out, so that no command is made up.
package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// A Command is one simple command, or a subshell.
type Command struct {
	Words []Word // assignments first; without redirections of output and here documents
	// Plain is set if the command has no expansions, redirections or pipes.
	Plain bool
	// Subshell has the commands in parentheses. There are no Words then.
	Subshell []Command
}

// A Word is a word of a command.
type Word struct {
	Value string // without quotes; expansions as they are written
	// Start and End are the place in the text, without the quotes if all of the word is quoted.
	Start, End int
}

// The parser needs time and memory for nested brackets that grow with the square of their number. Longer texts are read
// by lines, and lines with more brackets are left out.
const (
	maxPart     = 32 << 10
	maxBrackets = 200
)

// Read returns the commands of a text in order. If the text as a whole cannot be parsed, it reads each line.
func Read(text string) []Command {
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	parsable := hidePlaceholders(text)
	if list, ok := parse(parser, text, parsable, 0); ok {
		return list
	}
	var list []Command
	for start := 0; start < len(parsable); {
		end := lineEnd(parsable, start)
		found, _ := parse(parser, text, parsable[start:end], start)
		list = append(list, found...)
		start = end
	}
	return list
}

// lineEnd returns the end of the line that begins at a position. A line goes on after a backslash.
func lineEnd(text string, start int) int {
	for end := start; ; {
		n := strings.IndexByte(text[end:], '\n')
		if n < 0 {
			return len(text)
		}
		line := strings.TrimSuffix(text[end:end+n], "\r")
		end += n + 1
		if !strings.HasSuffix(line, `\`) {
			return end
		}
	}
}

// placeholders are <name> in documents and ${{ name }} in CI workflows. The shell would take them for redirections and
// for bad substitutions.
var placeholders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<[^<>&|;\s][^<>\s]{0,78}>|\$\{\{[^}\n]*\}\}`)
})

// hidePlaceholders replaces each placeholder by an expansion of the same length.
func hidePlaceholders(text string) string {
	return placeholders().ReplaceAllStringFunc(text, func(found string) string {
		return "$" + strings.Repeat("x", len(found)-1)
	})
}

// parse parses a part of a text, which begins at a position. The words have the values of the text.
func parse(parser *syntax.Parser, text, part string, start int) ([]Command, bool) {
	if len(part) > maxPart || brackets(part) > maxBrackets {
		return nil, false
	}
	file, err := parser.Parse(strings.NewReader(part), "")
	if err != nil {
		return nil, false
	}
	r := reader{text: text, start: start}
	syntax.Walk(file, r.visit)
	return r.list, true
}

// brackets counts what may nest.
func brackets(text string) int {
	n := 0
	for i := range len(text) {
		if strings.IndexByte("([{`", text[i]) >= 0 {
			n++
		}
	}
	return n
}

// A reader collects the commands of a parsed part.
type reader struct {
	text   string
	start  int // where the part begins in the text
	joined int // the end of the last pipe or background command
	list   []Command
}

// visit adds the commands of a node. Commands inside of expansions are left out.
func (r *reader) visit(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			r.joined = max(r.joined, int(n.End().Offset()))
		}
	case *syntax.Stmt:
		if n.Background {
			r.joined = max(r.joined, int(n.End().Offset()))
		}
		if call, ok := n.Cmd.(*syntax.CallExpr); ok {
			r.call(call, n.Redirs)
			return false
		}
	case *syntax.Subshell:
		inner := reader{text: r.text, start: r.start, joined: r.joined}
		for _, s := range n.Stmts {
			syntax.Walk(s, inner.visit)
		}
		r.list = append(r.list, Command{Subshell: inner.list})
		return false
	case *syntax.Word, *syntax.Redirect:
		return false
	}
	return true
}

// call adds a simple command.
func (r *reader) call(call *syntax.CallExpr, redirects []*syntax.Redirect) {
	inPipe := int(call.Pos().Offset()) < r.joined
	command := Command{Plain: !inPipe && len(redirects) == 0}
	for _, a := range call.Assigns {
		command.addAssignment(r, a)
	}
	for _, w := range call.Args {
		command.addWord(r, w)
	}
	for _, redirect := range redirects {
		if redirect.Op == syntax.RdrIn {
			command.addWord(r, redirect.Word)
		}
	}
	if len(command.Words) == 0 {
		return
	}
	slices.SortFunc(command.Words, func(a, b Word) int { return a.Start - b.Start })
	r.list = append(r.list, command)
}

// addAssignment adds name=value. Arrays and += are not plain.
func (c *Command) addAssignment(r *reader, a *syntax.Assign) {
	start := r.start + int(a.Pos().Offset())
	end := r.start + int(a.End().Offset())
	value := r.text[start:end]
	isList := a.Array != nil || a.Index != nil || a.Append
	if a.Value != nil && !isList {
		c.addWord(r, a.Value)
		last := &c.Words[len(c.Words)-1]
		value = a.Name.Value + "=" + last.Value
		c.Words = c.Words[:len(c.Words)-1]
	}
	if isList {
		c.Plain = false
	}
	c.Words = append(c.Words, Word{Value: value, Start: start, End: end})
}

func (c *Command) addWord(r *reader, w *syntax.Word) {
	start := r.start + int(w.Pos().Offset())
	end := r.start + int(w.End().Offset())
	var value strings.Builder
	for _, part := range w.Parts {
		if !r.addPart(&value, part, false) {
			c.Plain = false
		}
	}
	if len(w.Parts) == 1 && quoted(w.Parts[0]) {
		start++
		end--
	}
	c.Words = append(c.Words, Word{Value: value.String(), Start: start, End: end})
}

// quoted reports whether a part of a word is in plain quotes.
func quoted(part syntax.WordPart) bool {
	switch q := part.(type) {
	case *syntax.SglQuoted:
		return !q.Dollar
	case *syntax.DblQuoted:
		return !q.Dollar
	}
	return false
}

// addPart adds the value of a part of a word. It reports whether the part has no expansion.
func (r *reader) addPart(value *strings.Builder, part syntax.WordPart, inQuotes bool) bool {
	switch p := part.(type) {
	case *syntax.Lit:
		value.WriteString(unescape(p.Value, inQuotes))
		return true
	case *syntax.SglQuoted:
		value.WriteString(p.Value)
		return !p.Dollar
	case *syntax.DblQuoted:
		plain := !p.Dollar
		for _, inner := range p.Parts {
			plain = r.addPart(value, inner, true) && plain
		}
		return plain
	}
	value.WriteString(r.text[r.start+int(part.Pos().Offset()) : r.start+int(part.End().Offset())])
	return false
}

// unescape removes the backslashes that quote the next character.
func unescape(s string, inQuotes bool) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		isLast := i+1 == len(s)
		if s[i] == '\\' && !isLast && (!inQuotes || strings.IndexByte("$`\"\\", s[i+1]) >= 0) {
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
