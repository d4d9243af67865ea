package review

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ken/internal/change"
	"ken/internal/english"
	"ken/internal/order"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/usage"
)

// maxTestArguments limits the packages or files in a test command. If there are more, running all tests is the
// better choice.
const maxTestArguments = 8

// tests adds a line for the tests that use the changed code, with one command that runs them and the changed
// tests. It adds none if the commands of the changed tests already run all of them.
func (j *judge) tests() error {
	var changed []usage.ChangedFile
	for i := range j.Change.Files {
		if c, ok := j.testedChange(&j.Change.Files[i]); ok {
			changed = append(changed, c)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	list, edited, err := usage.TestsOf(j.ctx, j.Index, j.Tree, changed)
	if err != nil {
		return err
	}
	isPackage := func(t usage.Test) bool { return t.How == "package" }
	packages := slices.DeleteFunc(slices.Clone(list), func(t usage.Test) bool { return !isPackage(t) })
	list = slices.DeleteFunc(list, isPackage)
	slices.SortStableFunc(list, func(a, b usage.Test) int { return order.FalseFirst(needsServices(a), needsServices(b)) })
	// Tests that need services do not share a command with unit tests.
	onlyUnit := slices.ContainsFunc(slices.Concat(list, edited), func(t usage.Test) bool { return !needsServices(t) })
	var commands []string
	add := func(t usage.Test) (isNew bool) {
		if onlyUnit && needsServices(t) {
			return false
		}
		isNew = t.Command == "" || !slices.Contains(commands, t.Command)
		if isNew && t.Command != "" {
			commands = append(commands, t.Command)
		}
		return isNew
	}
	for _, t := range edited {
		add(t)
	}
	further := false
	for _, t := range list {
		further = add(t) || further
	}
	if !further {
		return nil
	}
	var own []string // of changed packages
	for _, t := range packages {
		if !slices.Contains(commands, t.Command) {
			own = append(own, t.Command)
		}
	}
	if len(own)+len(commands) <= maxTestArguments {
		commands = append(own, commands...)
	} else {
		commands = append(commands, own...)
	}
	joined, _ := JoinCommands(commands, maxTestArguments)
	run := commands[:min(len(commands), maxTestArguments)]
	ran := 0
	for _, t := range list {
		if slices.Contains(run, t.Command) {
			ran++
		}
	}
	j.add(testsLine(list, joined, ran, j.All))
	return nil
}

// testsLine returns the line about some tests and the command that runs the first ran of them.
func testsLine(list []usage.Test, command string, ran int, all bool) Line {
	l := Line{Kind: Tests, Subject: english.Count(len(list), "file"), Command: command}
	verb := "use"
	if len(list) == 1 {
		l.PathJSON, l.Subject = list[0].PathJSON, list[0].Path
		verb = "uses"
	}
	for _, t := range list {
		l.Tests = append(l.Tests, t.PathJSON)
	}
	l.listAll = all && len(list) > 1
	switch {
	case command == "" || ran == 0 && len(list) == 1:
		l.Command = ""
		l.setText(prose(verb + " what changed; ken does not know how to run them"))
	case ran < len(list):
		l.Subject = fmt.Sprintf("%d of %s", ran, l.Subject)
		l.setText(prose(fmt.Sprintf("%s what changed; the command runs %d of %s", verb, ran, english.Count(len(list), "test file"))))
	default:
		l.setText(prose(verb + " what changed"))
	}
	return l
}

// testedChange returns a changed file with the changed symbols; false if it needs no test.
func (j *judge) testedChange(c *change.File) (usage.ChangedFile, bool) {
	f := usage.ChangedFile{Path: c.Path}
	if c.Kind == repo.Deleted || !isCode(c.FileKind) || onlyComments(c.Before, c.After) {
		return f, false
	}
	if c.FileKind == repo.KindTest || c.After == nil || c.Before == nil && c.Kind != repo.Added {
		return f, true
	}
	before := &version{outline: c.Before}
	if c.Before == nil {
		before.outline = &outline.Outline{Language: c.After.Language}
	} else {
		before.setContent(j.Change.Read(c.OldPath(), true))
	}
	after := &version{outline: c.After}
	after.setContent(j.Change.Read(c.Path, false))
	f.Symbols = touchedSymbols(before, after)
	if c.After.Language == outline.Go {
		delete(f.Symbols, "init") // every test that imports the package runs it
	}
	if len(f.Symbols) == 0 && before.lines != nil && after.lines != nil && sameWords(before.all(), after.all()) {
		return f, false
	}
	if onlyVersions(f.Symbols) {
		return f, false
	}
	if before.outline.Partial == "" && after.outline.Partial == "" {
		f.Reached = after.reach(f.Symbols, false)
	}
	f.Symbols = after.reach(f.Symbols, true)
	return f, true
}

// isCode reports whether a file is hand-written code.
func isCode(kind repo.Kind) bool { return kind == repo.KindSource || kind == repo.KindTest }

// needsServices reports whether a test is in a directory for tests that need more than the code.
func needsServices(t usage.Test) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(t.Path), "/"), func(part string) bool {
		return slices.Contains([]string{"integration", "smoke", "e2e", "playground"}, part)
	})
}

// onlyVersions reports whether all symbols are version numbers of the program.
func onlyVersions(symbols map[string]bool) bool {
	for name := range symbols {
		if strings.ToLower(strings.Trim(name, "_")) != "version" {
			return false
		}
	}
	return len(symbols) > 0
}

// onlyComments reports whether two versions of a file differ only in white space and comments.
func onlyComments(before, after *outline.Outline) bool {
	return before != nil && after != nil && !before.Tokens.IsZero() && before.Tokens == after.Tokens
}

// touchedSymbols returns the symbols whose code differs between two versions of a file, except those in which only
// a contained symbol differs.
func touchedSymbols(before, after *version) map[string]bool {
	was := change.ByName(before.outline)
	symbols := after.outline.Symbols
	touched := make(map[string]bool)
	seen := make(map[string]int)
	for i := range symbols {
		s := &symbols[i]
		name := s.FullName()
		k := seen[name]
		seen[name]++
		if k >= len(was[name]) || was[name][k].Text != s.Text && !sameCode(before, was[name][k], after, s) {
			touched[name] = true
		}
	}
	for name := range was {
		if seen[name] < len(was[name]) {
			touched[name] = true
		}
	}
	for i := range symbols {
		s := &symbols[i]
		old := was[s.FullName()]
		if !touched[s.FullName()] || len(old) == 0 || old[0].Shape != s.Shape {
			continue
		}
		within := func(o outline.Symbol) bool {
			return o.Depth > s.Depth && o.Line >= s.Line && o.EndLine <= s.EndLine && touched[o.FullName()] && o.FullName() != s.FullName()
		}
		if slices.ContainsFunc(symbols, within) {
			delete(touched, s.FullName())
		}
	}
	return touched
}

// JoinCommands joins several commands into one command line. Commands that differ only in their last argument
// become one with several arguments. It uses a limited number of arguments and returns the number of commands that
// it left out.
func JoinCommands(commands []string, most int) (joined string, left int) {
	var heads []string
	arguments := make(map[string][]string)
	closing := make(map[string]string)
	used := 0
	for _, c := range commands {
		if used == most {
			left++
			continue
		}
		used++
		head, last := c, ""
		words, inDir := strings.CutSuffix(c, ")") // (cd DIR && words)
		simple := !strings.ContainsAny(strings.TrimPrefix(words, "(cd "), "'\"|;$`\\<>()")
		if i := strings.LastIndexByte(words, ' '); simple && i > 0 && joinable(words[:i]) {
			head, last = words[:i], words[i+1:]
		}
		if last != "" && inDir {
			closing[head] = ")"
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
		parts[i] = strings.Join(append([]string{head}, arguments[head]...), " ") + closing[head]
	}
	return strings.Join(parts, " && "), left
}

var takesSeveral = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:go test|pytest|vitest|jest|mocha|rspec|bats|node --test|bun test|ava|tap)\b`)
})

// joinable reports whether a command with this prefix takes several files or packages.
func joinable(head string) bool {
	last := head[strings.LastIndexByte(head, ' ')+1:]
	isFlag := strings.HasPrefix(last, "-") && !slices.Contains([]string{"--", "-v"}, last)
	if isFlag {
		return false
	}
	return takesSeveral().MatchString(head)
}
