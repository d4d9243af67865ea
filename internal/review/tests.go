package review

import (
	"slices"
	"strings"

	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/repo"
)

// maxTestArguments is the number of packages or files in a test command. With more, all tests are
// the better choice.
const maxTestArguments = 8

// tests names the tests that use what changed, with one command that runs them and the changed
// tests. It adds no line if the commands of the changed tests run all of them.
func (j *judge) tests() error {
	var changed []find.ChangedFile
	for i := range j.Changes {
		if c := &j.Changes[i]; c.Kind != repo.Deleted && isCode(c.FileKind) && !onlyComments(c.Before, c.After) {
			changed = append(changed, find.ChangedFile{Path: c.Path, Symbols: touchedSymbols(c.Before, c.After)})
		}
	}
	if len(changed) == 0 {
		return nil
	}
	list, commands, err := find.TestsOf(j.ctx, j.Index, j.Tree, changed)
	if err != nil {
		return err
	}
	known := len(commands)
	further := 0
	for _, t := range list {
		if t.Command == "" || !slices.Contains(commands[:known], t.Command) {
			further++
		}
		if t.Command != "" && !slices.Contains(commands, t.Command) {
			commands = append(commands, t.Command)
		}
	}
	if further == 0 {
		return nil
	}
	l := Line{Kind: Tests, Subject: count(len(list), "file")}
	if len(list) == 1 {
		l.PathJSON, l.Subject = list[0].PathJSON, list[0].Path
	}
	verb := "use"
	if len(list) == 1 {
		verb = "uses"
	}
	joined, left := JoinCommands(commands, maxTestArguments)
	l.Command = joined
	switch {
	case joined == "":
		l.setText(said(verb + " what changed; ken does not know how to run them"))
	case left > 0:
		l.setText(said(verb + " what changed; the command runs the nearest"))
	default:
		l.setText(said(verb + " what changed"))
	}
	j.add(l)
	return nil
}

// onlyComments reports whether two versions of a file differ in white space and comments alone.
func onlyComments(before, after *outline.Outline) bool {
	return before != nil && after != nil && !before.Tokens.IsZero() && before.Tokens == after.Tokens
}

// touchedSymbols returns the symbols that differ between two versions of a file, without those that
// differ only inside of a symbol that they contain; nil if that is unknown.
func touchedSymbols(before, after *outline.Outline) map[string]bool {
	if before == nil || after == nil {
		return nil
	}
	was := make(map[string]*outline.Symbol)
	for i := range before.Symbols {
		was[before.Symbols[i].FullName()] = &before.Symbols[i]
	}
	touched := make(map[string]bool)
	for i := range after.Symbols {
		s := &after.Symbols[i]
		old := was[s.FullName()]
		if old == nil || old.Text != s.Text {
			touched[s.FullName()] = true
		}
	}
	for name := range was {
		if !slices.ContainsFunc(after.Symbols, func(s outline.Symbol) bool { return s.FullName() == name }) {
			touched[name] = true
		}
	}
	for i := range after.Symbols {
		s := &after.Symbols[i]
		if !touched[s.FullName()] || was[s.FullName()] == nil || was[s.FullName()].Shape != s.Shape {
			continue
		}
		within := func(o outline.Symbol) bool {
			return o.Depth > s.Depth && o.Line >= s.Line && o.EndLine <= s.EndLine && touched[o.FullName()] && o.FullName() != s.FullName()
		}
		if slices.ContainsFunc(after.Symbols, within) {
			delete(touched, s.FullName())
		}
	}
	return touched
}

// JoinCommands makes one command line of several. Commands that differ only in their last
// argument become one with several arguments. It uses at most some arguments and returns how many
// commands it left out.
func JoinCommands(commands []string, most int) (joined string, left int) {
	var heads []string
	arguments := make(map[string][]string)
	used := 0
	for _, c := range commands {
		if used == most {
			left++
			continue
		}
		used++
		head, last := c, ""
		simple := !strings.ContainsAny(c, "'\"|;&$`\\<>")
		if i := strings.LastIndexByte(c, ' '); simple && i > 0 && joinable(c[:i]) {
			head, last = c[:i], c[i+1:]
		}
		if !slices.Contains(heads, head) {
			heads = append(heads, head)
		}
		if last != "" {
			arguments[head] = append(arguments[head], last)
		}
	}
	parts := make([]string, len(heads))
	for i, head := range heads {
		parts[i] = strings.Join(append([]string{head}, arguments[head]...), " ")
	}
	return strings.Join(parts, " && "), left
}

// joinable reports whether a command takes several files or packages behind this beginning.
func joinable(head string) bool {
	last := head[strings.LastIndexByte(head, ' ')+1:]
	isFlag := strings.HasPrefix(last, "-") && !slices.Contains([]string{"--", "-v"}, last)
	if isFlag {
		return false
	}
	for _, tool := range []string{"go test", "pytest", "vitest", "jest", "mocha", "rspec", "bats", "node --test", "bun test", "ava", "tap"} {
		if strings.Contains(head, tool) {
			return true
		}
	}
	return false
}
