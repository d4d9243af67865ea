package brief

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// FileFacts are what ken knows about a file.
type FileFacts struct {
	Path    repo.Path
	Kind    repo.Kind
	Words   []Section        // its summary or its own words, and the specs that govern it
	Outline *outline.Outline // nil if no grammar reads it
	Unread  string           // why ken could not read it, "" if it could
	Content []byte           // nil if it is too large or cannot be read
	Kinds   func(repo.Path) repo.Kind
	Project *project.Project
	Users   []searchindex.Edge
	Uses    []searchindex.Edge
	// Tests are all test files of the repository.
	Tests   []repo.Path
	History History
	// Documents name the path of the file.
	Documents []Mention
	Copies    []repo.Path // other paths with the same bytes
}

// A Mention is a line of a document.
type Mention struct {
	Path repo.Path
	Line int
}

// A History is what the indexed commits say about a place.
type History struct {
	Searched   int    // commits that the index has
	Since      string // date of the oldest of them
	Cut        bool   // the clone is shallow
	Commits    int    // that touched the place, small ones only
	Last       []searchindex.Entry
	Companions []Companion
}

// A Companion is a file that changes together with the place.
type Companion struct {
	Path     repo.Path
	Together int
}

// File returns the brief of a file.
func File(f FileFacts, budget int) *Brief {
	j := f.Path.JSON()
	b := &Brief{Path: j.Path, PathB64: j.B64, Kind: KindFile, Remarks: f.History.remarks()}
	var blocks []*block
	for _, s := range f.Words {
		blocks = append(blocks, &block{Section: s})
	}
	tests, command := f.tests()
	blocks = append(blocks, command, rules(f.Project.Rules(f.Path), fileRules), f.symbols(), f.usedBy(), tests, f.uses())
	blocks = append(blocks, f.History.blocks("this file")...)
	blocks = append(blocks, f.documents(), f.copies())
	b.fit(blocks, budget)
	return b
}

// How many items of a block are told before the blocks that follow.
const (
	fileRules    = 4
	fileSymbols  = 10
	fileUsers    = 8
	fileUses     = 5
	fileTests    = 6
	fileTogether = 5
	fileCopies   = 3
	fileMentions = 3
)

const ruleBytes = 180

// rules returns the rules of documents for a path.
func rules(list []project.Rule, first int) *block {
	items := make([]Item, len(list))
	for i, r := range list {
		source := fmt.Sprintf("%s:%d", name(r.Source), r.Line)
		items[i] = Item{Text: r.Text, Source: source, show: cut(r.Text, ruleBytes) + "  (" + source + ")"}
	}
	return facts("rules", first, items...)
}

// symbols returns what the file declares, most used first.
func (f *FileFacts) symbols() *block {
	if f.Outline == nil {
		switch {
		case f.Kind != repo.KindSource && f.Kind != repo.KindTest, f.Unread != "":
			return nil
		}
		return unknown("symbols", "ken reads no symbols in this sort of file")
	}
	list, users := f.mainSymbols()
	lines := strings.Split(string(f.Content), "\n")
	items := make([]Item, len(list))
	for i, s := range list {
		n := users[s.FullName()]
		at := declaredAt(s, lines)
		text := s.Signature
		if owner := ownerOf(s); owner != "" && s.Kind != outline.Heading && !strings.Contains(beforeName(text, s.Name), owner) {
			text = owner + ": " + text
		}
		text = cut(strings.Join(strings.Fields(text), " "), signatureBytes)
		show := fmt.Sprintf("%d: %s", at, text)
		if doc := cut(s.Doc, docBytes); doc != "" && s.Kind != outline.Heading {
			show += " — " + doc
		}
		if n > 0 {
			show += fmt.Sprintf(" (used by %s)", count(n, "file"))
		}
		items[i] = Item{Names: []string{s.FullName()}, Line: at, Text: text, Users: n, show: show}
	}
	subject := "symbols, most used first"
	if f.Outline.Language == outline.Markdown {
		subject = "headings"
	} else if f.Outline.Partial != "" {
		subject = "symbols (some may be missing: the file breaks its grammar)"
	}
	return growing(subject, fileSymbols, items...)
}

// mainSymbols returns the symbols that are worth a line, most used first, and how many files
// use each.
func (f *FileFacts) mainSymbols() (list []*outline.Symbol, users map[string]int) {
	users = make(map[string]int)
	seenFrom := make(map[string]bool)
	for _, e := range f.Users {
		if key := e.Symbol + "\x00" + string(e.From); !seenFrom[key] {
			seenFrom[key] = true
			users[e.Symbol]++
		}
	}
	seen := make(map[string]bool)
	for i := range f.Outline.Symbols {
		s := &f.Outline.Symbols[i]
		key := string(s.Kind) + s.FullName()
		if seen[key] || !f.isMain(s, users[s.FullName()]) {
			continue
		}
		seen[key] = true
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b *outline.Symbol) int {
		return cmp.Or(
			cmp.Compare(users[b.FullName()], users[a.FullName()]),
			compareBool(a.Exported, b.Exported),
			cmp.Compare(weight(a), weight(b)),
		)
	})
	return list, users
}

const (
	signatureBytes = 140
	docBytes       = 100
)

// ownerOf returns the name of what a symbol belongs to.
func ownerOf(s *outline.Symbol) string {
	owner := strings.TrimSuffix(s.FullName(), s.Name)
	return strings.TrimRight(owner, ".:#")
}

func beforeName(signature, name string) string {
	before, _, _ := strings.Cut(signature, name)
	return before
}

// isMain reports whether a symbol is worth a line: no field of a struct, no name of one letter
// or of digits, and nothing that every type has or that lies deep unless somebody uses it.
func (f *FileFacts) isMain(s *outline.Symbol, users int) bool {
	if len(s.Name) < 2 || strings.Trim(s.Name, "0123456789_") == "" {
		return false
	}
	switch s.Kind {
	case outline.Impl, outline.Member:
		return false
	case outline.Field, outline.Property:
		return users > 1 && hasMembers(f.Outline.Language)
	case outline.Heading:
		return s.Depth < 2
	}
	switch {
	case users > 0:
		return true
	case strings.HasPrefix(s.Name, "__"), s.Name == "fmt", s.Name == "init":
		return false
	case s.Kind == outline.Method, s.Kind == outline.Func:
		return s.Depth == 0 || s.Exported && s.Depth < 2
	}
	return s.Depth == 0
}

// hasMembers reports whether the fields of a class may be what others call.
func hasMembers(l outline.Language) bool {
	switch l {
	case outline.TypeScript, outline.TSX, outline.JavaScript, outline.Python, outline.CSharp:
		return true
	}
	return false
}

// weight puts types before functions, and those before values.
func weight(s *outline.Symbol) int {
	switch s.Kind {
	case outline.Const, outline.Var, outline.Module, outline.Macro:
		return 3
	case outline.Method:
		return 2
	case outline.Func:
		return 1
	}
	return 0
}

// declaredAt returns the line of a declaration behind its comment.
func declaredAt(s *outline.Symbol, lines []string) int {
	for n := s.Line; n <= s.EndLine && n <= len(lines); n++ {
		text := strings.TrimSpace(lines[n-1])
		comment := strings.HasPrefix(text, "//") || strings.HasPrefix(text, "*") || strings.HasPrefix(text, "/*") ||
			strings.HasPrefix(text, "# ") || strings.HasPrefix(text, "@") || strings.HasPrefix(text, "#[")
		if s.Kind == outline.Heading {
			comment = false
		}
		if !comment && strings.Contains(text, s.Name) {
			return n
		}
	}
	return s.Line
}

// isTest reports whether a file is a test or belongs to tests.
func (f *FileFacts) isTest(p repo.Path) bool { return f.Kinds(p) == repo.KindTest }

// usedBy lists the files that use this one, without tests.
func (f *FileFacts) usedBy() *block {
	list := links(f.Users, func(e searchindex.Edge) repo.Path { return e.From })
	list = slices.DeleteFunc(list, func(l link) bool { return l.other == f.Path })
	var items []Item
	exact, likely, tests := 0, 0, 0
	for _, l := range list {
		switch {
		case f.isTest(l.other):
			tests++
			continue
		case l.exact:
			exact++
		default:
			likely++
		}
		items = append(items, l.item(true))
	}
	if len(items) == 0 {
		return f.unused(tests)
	}
	subject := fmt.Sprintf("used by %s", count(exact, "file"))
	switch {
	case exact == 0:
		subject = fmt.Sprintf("used by %s (likely)", count(likely, "file"))
	case likely > 0:
		subject += fmt.Sprintf(", likely by %d more", likely)
	}
	if tests > 0 {
		subject += fmt.Sprintf(", and by %s", count(tests, "test"))
	}
	return growing(subject, fileUsers, items...)
}

// unused says that no file is known to use this one, or that ken cannot know.
func (f *FileFacts) unused(tests int) *block {
	switch {
	case f.Kind != repo.KindSource && f.Kind != repo.KindTest && f.Kind != repo.KindGenerated:
		return nil
	case f.Unread != "":
		return unknown("used by", f.Unread)
	case f.Outline == nil || !resolves(f.Outline.Language):
		return unknown("used by", "ken does not follow uses in this sort of file")
	case f.Outline.Partial != "":
		return unknown("used by", "the file breaks its grammar, so that ken may miss uses of it")
	case f.Kind == repo.KindTest:
		return nil
	case tests > 0:
		return line("used by", fmt.Sprintf("only %s, as far as ken sees", count(tests, "test")))
	}
	if slices.Contains(f.Project.Entrypoints(f.Path.Dir()), f.Path) {
		return line("used by", "no file; programs or users of the package start here")
	}
	return line("used by", "no file that ken can tell; calls through interfaces and names with several meanings are not counted")
}

// resolves reports whether ken follows uses in a language.
func resolves(l outline.Language) bool { return l != outline.Unknown && l != outline.Markdown }

// uses lists the files of the repository that this one uses.
func (f *FileFacts) uses() *block {
	list := links(f.Uses, func(e searchindex.Edge) repo.Path { return e.To })
	list = slices.DeleteFunc(list, func(l link) bool { return l.other == f.Path })
	items := make([]Item, len(list))
	for i, l := range list {
		items[i] = l.item(false)
	}
	return growing("uses "+count(len(list), "file"), fileUses, items...)
}

// A testFile is a test for a file.
type testFile struct {
	path  repo.Path
	named bool // it is named for the file
	count int  // places that use the file
}

// tests lists the tests of the file with their commands, and how to run the file if it is a
// test itself.
func (f *FileFacts) tests() (tests, command *block) {
	if f.Project.IsTest(f.Path) || f.Kind == repo.KindTest {
		c, ok, note := f.Project.TestCommand(f.Path)
		switch {
		case ok:
			show := c.Run + "  (" + source(c) + ")"
			if note != "" {
				show += "; " + note
			}
			return nil, facts("run this test", 1, Item{Command: c.Run, Source: source(c), Text: note, show: show})
		case note != "" && f.Project.IsTest(f.Path):
			return nil, unknown("run this test", note)
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
		it := testItem(r.command, r.source, r.note, enumerate(names, 4))
		if len(r.files) == 1 {
			it = it.at(r.files[0].path)
		}
		items = append(items, it)
	}
	if len(items) == 0 {
		if f.Kind != repo.KindSource || f.Outline == nil || !resolves(f.Outline.Language) {
			return nil, nil
		}
		return line("tests", "none uses this file directly or is named for it, as far as ken sees"), nil
	}
	subject := "tests"
	if len(list) > 0 {
		subject = fmt.Sprintf("tests (%s)", count(len(list), "file"))
	}
	return facts(subject, fileTests, items...), nil
}

func source(c project.Command) string {
	if c.Line == 0 {
		return name(c.Source)
	}
	return fmt.Sprintf("%s:%d", name(c.Source), c.Line)
}

// testItem is the line of a command that runs tests.
func testItem(command, source, note, which string) Item {
	show := command
	switch {
	case command == "":
		show = which
	case which != "":
		show += "  # " + which
	}
	if note != "" {
		show += " (" + note + ")"
	}
	return Item{Command: command, Source: source, Text: note, show: show}
}

// testFiles returns the tests that use the file directly or are named for it: first those
// that are named for it, then those with more places.
func (f *FileFacts) testFiles() []testFile {
	found := make(map[repo.Path]*testFile)
	for _, l := range links(f.Users, func(e searchindex.Edge) repo.Path { return e.From }) {
		if l.other != f.Path && f.isTest(l.other) && !isPackageFile(l.other) && f.Project.IsTest(l.other) {
			found[l.other] = &testFile{path: l.other, count: l.count}
		}
	}
	for _, t := range f.Tests {
		if t == f.Path || !namedFor(t, f.Path) {
			continue
		}
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
			compareBool(a.named, b.named),
			compareBool(a.path.Dir() == f.Path.Dir(), b.path.Dir() == f.Path.Dir()),
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

// namedFor reports whether a test has the name of a file, and lies beside it or in a directory
// of tests.
func namedFor(test, file repo.Path) bool {
	if path.Ext(string(test)) != path.Ext(string(file)) && !(isScript(test) && isScript(file)) {
		return false
	}
	stem, _, _ := strings.Cut(file.Base(), ".")
	if isPackageFile(file) || stem == "index" || stem == "lib" || stem == "main" {
		return false // there are many of them
	}
	own, _, _ := strings.Cut(test.Base(), ".")
	for _, affix := range []string{"_test", "-test", "Test", "Tests", "_spec", "Spec", "IT"} {
		own = strings.TrimSuffix(own, affix)
	}
	own = strings.TrimPrefix(own, "test_")
	if own != stem {
		return false
	}
	if test.Dir() == file.Dir() {
		return test.Base() != file.Base()
	}
	// A directory of tests belongs to what lies beside it.
	for d := test.Dir(); d != ""; d = d.Dir() {
		switch strings.ToLower(d.Base()) {
		case "test", "tests", "__tests__", "spec", "specs":
			above := string(d.Dir())
			return above == "" || strings.HasPrefix(string(file), above+"/")
		}
	}
	return false
}

func isScript(p repo.Path) bool {
	switch path.Ext(string(p)) {
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return true
	}
	return false
}

// documents lists documents that name the file.
func (f *FileFacts) documents() *block {
	items := make([]Item, len(f.Documents))
	for i, m := range f.Documents {
		items[i] = Item{Line: m.Line, show: fmt.Sprintf("%s:%d", name(m.Path), m.Line)}.at(m.Path)
	}
	return facts("named in", fileMentions, items...)
}

// copies lists the other paths with the same bytes.
func (f *FileFacts) copies() *block {
	items := make([]Item, len(f.Copies))
	for i, p := range f.Copies {
		items[i] = Item{show: name(p)}.at(p)
	}
	return facts("same bytes as", fileCopies, items...)
}
