package review

import (
	"slices"
	"strings"

	"ken/internal/find"
	"ken/internal/repo"
)

// maxTestArguments is the number of packages or files in a test command. With more, all tests are
// the better choice.
const maxTestArguments = 8

// tests names the tests that use the changed files directly, with the command that runs them.
func (j *judge) tests() error {
	var changed []repo.Path
	for i := range j.Changes {
		if c := &j.Changes[i]; c.Kind != repo.Deleted && isCode(c.FileKind) {
			changed = append(changed, c.Path)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	list, err := find.TestsOf(j.ctx, j.Index, j.Tree, changed)
	if err != nil || len(list) == 0 {
		return err
	}
	var commands []string
	for _, t := range list {
		if t.Command != "" && !slices.Contains(commands, t.Command) {
			commands = append(commands, t.Command)
		}
	}
	l := Line{Kind: Tests, Subject: count(len(list), "file")}
	if len(list) == 1 {
		l.PathJSON, l.Subject = list[0].PathJSON, list[0].Path
	}
	joined, left := JoinCommands(commands, maxTestArguments)
	l.Command = joined
	switch {
	case joined == "":
		l.setText(said("use the changed files; ken does not know how to run them"))
	case left > 0:
		l.setText(said("use the changed files; the command runs the nearest of them"))
	case len(list) == 1:
		l.setText(said("tests the changed files"))
	default:
		l.setText(said("test the changed files"))
	}
	j.add(l)
	return nil
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

