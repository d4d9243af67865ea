package brief

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/order"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/uses"
)

// A testFile is a test for a file.
type testFile struct {
	path  repo.Path
	named bool // it is named for the file
	count int  // places that use the file
}

// tests lists the tests of the file with their commands, and how to run the file if it is a
// test itself.
func (f *FileFacts) tests() (tests, command *block) {
	if f.Project.ForTests(f.Path) {
		c, ok, note := f.Project.TestCommand(f.Path)
		switch {
		case ok:
			show := fault.WithRemark(c.Run, joined(source(c), note))
			return nil, factBlock("run this test", 1, Item{Command: c.Run, Source: source(c), Text: note, show: show})
		case note != "" && f.Project.IsTest(f.Path):
			return nil, unknownBlock("run this test", note)
		}
		return nil, nil
	}
	list := f.testFiles()
	var items []Item
	inside, ok, note := f.Project.TestCommand(f.Path)
	if ok { // a file with tests inside
		items = append(items, testItem(inside.Run, source(inside), note, "tests inside this file"))
	}
	// Tests with one command share a line.
	type run struct {
		command, source, note string
		files                 []testFile
	}
	var runs []*run
	byCommand := make(map[string]*run)
	for _, t := range list {
		c, ok, note := f.Project.TestCommand(t.path)
		if !ok {
			c = project.Command{}
			if note == "" {
				note = "ken does not know how to run it"
			}
		}
		key := c.Run + "\x00" + note
		r := byCommand[key]
		if r == nil {
			r = &run{command: c.Run, note: note}
			if ok {
				r.source = source(c)
			}
			byCommand[key] = r
			runs = append(runs, r)
		}
		r.files = append(r.files, t)
	}
	for _, r := range runs {
		var names []string
		for _, t := range r.files {
			n := name(t.path)
			if strings.Contains(r.command, n) && len(r.files) == 1 {
				n = ""
			}
			if t.named {
				n = strings.TrimSpace(n + " named for it")
			}
			if n != "" {
				names = append(names, n)
			}
		}
		it := testItem(r.command, r.source, r.note, english.FirstOrAll(names, 4))
		if len(r.files) == 1 {
			it = it.at(r.files[0].path)
		} else {
			for _, t := range r.files {
				it.Files = append(it.Files, t.path.JSON())
			}
		}
		items = append(items, it)
	}
	if len(items) == 0 {
		if f.Kind != repo.KindSource || f.Outline == nil || !uses.Supports(f.Outline.Language) {
			return nil, nil
		}
		return lineBlock("tests", "none that uses it directly or is named for it; tests that start the built program are not seen"), nil
	}
	subject := "tests"
	if len(list) > 0 {
		subject = fmt.Sprintf("tests (%s)", english.Count(len(list), "file"))
	}
	return factBlock(subject, fileTests, items...), nil
}

func source(c project.Command) string { return at(c.Source, c.Line) }

// at returns a file with a line in it, which may be unknown.
func at(file repo.Path, line int) string {
	if line == 0 {
		return name(file)
	}
	return fmt.Sprintf("%s:%d", name(file), line)
}

// testItem is the line of a command that runs tests.
func testItem(command, source, note, which string) Item {
	show := joined(which, note)
	if command != "" {
		show = fault.WithRemark(command, show)
	}
	return Item{Command: command, Source: source, Text: note, show: show}
}

// joined joins what is there of a remark and a note.
func joined(remark, note string) string {
	if remark != "" && note != "" {
		return remark + "; " + note
	}
	return remark + note
}

// testFiles returns the tests that use the file directly or are named for it: first those
// that are named for it, then those with more places.
func (f *FileFacts) testFiles() []testFile {
	found := make(map[repo.Path]*testFile)
	for _, l := range searchindex.Links(f.Users, fromFile) {
		if l.Other != f.Path && !isPackageFile(l.Other) && f.Project.IsTest(l.Other) {
			found[l.Other] = &testFile{path: l.Other, count: l.Places}
		}
	}
	for _, t := range f.Project.NamedTests(f.Path) {
		if found[t] == nil {
			found[t] = &testFile{path: t}
		}
		found[t].named = true
	}
	list := make([]testFile, 0, len(found))
	for _, t := range found {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b testFile) int {
		return cmp.Or(
			order.TrueFirst(a.named, b.named),
			order.TrueFirst(a.path.Dir() == f.Path.Dir(), b.path.Dir() == f.Path.Dir()),
			cmp.Compare(b.count, a.count),
			strings.Compare(string(a.path), string(b.path)),
		)
	})
	return list
}

// isPackageFile reports whether a file only marks a package or lists its modules.
func isPackageFile(p repo.Path) bool {
	switch p.Base() {
	case "mod.rs", "__init__.py", "conftest.py":
		return true
	}
	return false
}
