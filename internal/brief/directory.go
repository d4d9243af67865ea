package brief

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/order"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// DirectoryFacts are the facts about a directory.
type DirectoryFacts struct {
	Path    repo.Path
	Words   []Section // its summary or its own words, and the specs that govern it
	Project *project.Project
	Central []CentralFile
	Parts   []Part // its subdirectories
	// Dependents are the files outside that use files of the directory.
	Dependents []searchindex.Pair
	// Code says that there are source files or tests, Followed that ken follows uses in them.
	Code, Followed bool
	Kinds          func(repo.Path) repo.Kind
	Entries        []FileAbout
	Tests          []repo.Path // below the directory
	History        History
}

// A CentralFile is a file that many others use.
type CentralFile struct {
	Path           repo.Path
	Users, Outside int // files that use it, without tests; those of them outside the directory
	Tests          int
	Likely         bool // ken finds the uses of its language by name alone
	About          string
}

// A Part is a directory with its purpose.
type Part struct {
	Path    repo.Path
	About   string
	Verdict string // of a summary; "" for own words
}

// A FileAbout is a file with a line about it.
type FileAbout struct {
	Path  repo.Path
	About string
}

const (
	dirCentral    = 8
	dirParts      = 8
	dirEntries    = 4
	dirDependents = 8
	dirTogether   = 4
)

// Directory returns the brief of a directory.
func Directory(d DirectoryFacts, budget int) *Brief {
	j := d.Path.JSON()
	b := &Brief{Path: j.Path, PathB64: j.B64, Kind: KindDirectory, Unknown: d.History.unknown()}
	var blocks []*block
	said := make(map[string]bool)
	for _, s := range d.Words {
		said[s.Text] = true
		blocks = append(blocks, &block{Section: s})
	}
	d.Central = slices.DeleteFunc(d.Central, func(c CentralFile) bool { return c.About == "" && IsModuleFile(c.Path) })
	for i := range d.Central {
		clearRepeated(said, &d.Central[i].About)
	}
	for i := range d.Entries {
		clearRepeated(said, &d.Entries[i].About)
	}
	for i := range d.Parts {
		clearRepeated(said, &d.Parts[i].About)
	}
	blocks = append(blocks,
		central("central files, most used first", d.Central, d.Path, dirCentral),
		parts("parts", d.Parts, dirParts),
		entries("entry points", d.Entries),
		d.howToTest(),
		d.dependents(),
		instructions(d.Project.Instructions(d.Path), false),
	)
	blocks = append(blocks, d.History.blocks("this directory")...)
	b.Unknown = append(b.Unknown, unread(d.Project, d.Path)...)
	b.fit(blocks, budget)
	return b
}

// clearRepeated empties a text that another line of the brief has, and adds it to said otherwise.
func clearRepeated(said map[string]bool, text *string) {
	if *text == "" {
		return
	}
	if said[*text] {
		*text = ""
		return
	}
	said[*text] = true
}

// IsModuleFile reports whether a file stands for its directory. Most such files export the names of others.
func IsModuleFile(p repo.Path) bool {
	stem, _, _ := strings.Cut(p.Base(), ".")
	return isPackageFile(p) || stem == "index" || stem == "mod"
}

// central lists files with how many others use them.
func central(subject string, list []CentralFile, below repo.Path, first int) *block {
	items := make([]Item, len(list))
	for i, c := range list {
		used := "used by " + english.Count(c.Users, "file")
		switch {
		case c.Users == 0:
			used = "used by " + english.Count(c.Tests, "test")
		case below != "" && c.Outside == c.Users:
			used += " outside"
		case below != "" && c.Outside > 0:
			used += fmt.Sprintf(", %d outside", c.Outside)
		}
		if c.Likely {
			used = "likely " + used
		}
		show := fmt.Sprintf("%s (%s)", name(c.Path), used)
		if c.About != "" {
			show += ": " + cut(c.About, aboutBytes)
		}
		items[i] = Item{Users: c.Users, Text: c.About, show: show}.at(c.Path)
	}
	k := factBlock(subject, first, items...)
	k.grows = below != ""
	return k
}

const aboutBytes = 160

// parts lists directories with their purposes.
func parts(subject string, list []Part, first int) *block {
	var items []Item
	for _, p := range list {
		if p.About == "" {
			continue
		}
		show := name(p.Path) + "/: " + cut(strings.Join(strings.Fields(p.About), " "), aboutBytes)
		if p.Verdict != "" {
			show += " [" + p.Verdict + "]"
		}
		items = append(items, Item{Text: p.About, show: show}.at(p.Path))
	}
	return growingBlock(subject, first, items...)
}

// entries lists the files in which programs start.
func entries(subject string, list []FileAbout) *block {
	items := make([]Item, len(list))
	for i, e := range list {
		show := name(e.Path)
		if e.About != "" {
			show += ": " + cut(e.About, aboutBytes)
		}
		items[i] = Item{Text: e.About, show: show}.at(e.Path)
	}
	return factBlock(subject, dirEntries, items...)
}

// howToTest lists the commands that run the tests of the directory, or the tests outside that use it.
func (d *DirectoryFacts) howToTest() *block {
	if !d.Code {
		return nil
	}
	var items []Item
	unknowable := ""
	add := func(t repo.Path) {
		c, ok, note := d.Project.TestCommand(t)
		if !ok {
			unknowable = cmp.Or(unknowable, note)
			return
		}
		if len(items) == dirTests || slices.ContainsFunc(items, func(it Item) bool { return it.Command == c.Run }) {
			return
		}
		which := ""
		if !strings.Contains(c.Run, string(t)) {
			which = name(t)
		}
		items = append(items, testItem(c.Run, source(c), note, which).at(t))
	}
	for _, t := range shallowestFirst(d.Tests) {
		add(t)
	}
	subject := "run its tests"
	if len(items) == 0 {
		subject = "run the tests that use it"
		for _, t := range d.testsOutside() {
			add(t)
		}
	}
	if len(items) == 0 {
		subject = "run tests"
	}
	for _, c := range d.Project.CommandsFor(d.Path).Test {
		if slices.ContainsFunc(items, func(it Item) bool { return it.Command == c.Run }) {
			continue
		}
		scope := "all tests"
		if c.Dir != "" {
			scope += " of " + name(c.Dir)
		}
		all := Item{Command: c.Run, Source: source(c), show: fault.WithRemark(c.Run, scope+", "+source(c))}
		if c.Dir == d.Path {
			items = slices.Insert(items, 0, all)
		} else {
			items = append(items, all)
		}
		break
	}
	if len(items) > 0 {
		return factBlock(subject, len(items), items...)
	}
	switch {
	case len(d.Tests) == 0:
		return lineBlock("tests", "no test file in this directory")
	case unknowable != "":
		return unknownBlock(subject, unknowable)
	}
	return unknownBlock(subject, "no manifest says how")
}

const dirTests = 3

// testsOutside returns the tests outside that use most files of the directory.
func (d *DirectoryFacts) testsOutside() []repo.Path {
	counts := make(map[repo.Path]int)
	for _, p := range d.Dependents {
		if d.Project.IsTest(p.From) {
			counts[p.From]++
		}
	}
	list := slices.SortedFunc(maps.Keys(counts), func(a, b repo.Path) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(string(a), string(b)))
	})
	return list[:min(len(list), exampleTests)]
}

// exampleTests is how many tests are asked for their command.
const exampleTests = 40

// shallowestFirst returns the tests with the shortest paths, counted in directories.
func shallowestFirst(tests []repo.Path) []repo.Path {
	list := slices.Clone(tests)
	slices.SortStableFunc(list, func(a, b repo.Path) int {
		return cmp.Compare(strings.Count(string(a), "/"), strings.Count(string(b), "/"))
	})
	return list[:min(len(list), exampleTests)]
}

// dependents lists the files outside that use files of this directory. The file that uses the most of them is first.
func (d *DirectoryFacts) dependents() *block {
	uses := make(map[repo.Path][]string) // by each file outside
	byDir := make(map[repo.Path]int)
	tests, helpers := 0, 0
	seen := make(map[repo.Path]bool)
	for _, p := range d.Dependents {
		first := !seen[p.From]
		seen[p.From] = true
		switch {
		case d.Project.IsTest(p.From):
			if first {
				tests++
			}
			continue
		case d.Kinds(p.From) == repo.KindTest:
			if first {
				helpers++
			}
			continue
		case first:
			byDir[p.From.Dir()]++
		}
		uses[p.From] = append(uses[p.From], strings.TrimPrefix(name(p.To), name(d.Path)+"/"))
	}
	ofTests := ""
	if helpers > 0 {
		ofTests = fmt.Sprintf(", by %s for tests", english.Count(helpers, "file"))
	}
	if tests > 0 {
		ofTests += fmt.Sprintf(", and by %s", english.Count(tests, "test"))
	}
	if len(uses) == 0 {
		switch {
		case !d.Code:
			return nil
		case d.History.IndexBusy:
			return unknownBlock("used from outside", "another process is still reading the files; ask again")
		case !d.Followed:
			return unknownBlock("used from outside", "ken does not follow uses in the files of this directory")
		case ofTests != "":
			return lineBlock("used from outside", "only"+strings.TrimPrefix(strings.TrimPrefix(ofTests, ", and"), ",")+", as far as ken sees")
		}
		return lineBlock("used from outside", "by no file that ken can tell")
	}
	files := slices.SortedFunc(maps.Keys(uses), func(a, b repo.Path) int {
		return cmp.Or(order.TrueFirst(IsProduct(a), IsProduct(b)), cmp.Compare(len(uses[b]), len(uses[a])), strings.Compare(string(a), string(b)))
	})
	items := make([]Item, len(files))
	for i, f := range files {
		slices.Sort(uses[f])
		items[i] = Item{Uses: len(uses[f]), show: fmt.Sprintf("%s  %s", name(f), english.FirstOrAll(uses[f], linkSymbols))}.at(f)
	}
	subject := fmt.Sprintf("used from outside by %s", english.Count(len(uses), "file"))
	if len(byDir) > 1 && len(uses) > dirDependents {
		subject += ", most in " + mostOf(byDir)
	}
	return growingBlock(subject+ofTests, dirDependents, items...)
}

// mostOf returns the directories with the most files, each with their number.
func mostOf(byDir map[repo.Path]int) string {
	dirs := slices.SortedFunc(maps.Keys(byDir), func(a, b repo.Path) int {
		return cmp.Or(cmp.Compare(byDir[b], byDir[a]), strings.Compare(string(a), string(b)))
	})
	labels := make([]string, min(len(dirs), linkSymbols))
	for i, d := range dirs[:len(labels)] {
		labels[i] = fmt.Sprintf("%s/ (%d)", name(d), byDir[d])
	}
	return strings.Join(labels, ", ")
}
