package usage

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"ken/internal/order"
	"ken/internal/outline"
	"ken/internal/project"
	"ken/internal/repo"
)

// A Test is a test file with the command that runs it.
type Test struct {
	repo.PathJSON
	How     string   `json:"how"`               // uses: it uses the file; named: it is named for it; below: it is in the directory
	Command string   `json:"command,omitempty"` // "" if ken does not know one
	Note    string   `json:"note,omitempty"`    // why there is no command, or what it does not run
	Lines   []int    `json:"lines,omitempty"`
	Cases   []string `json:"cases,omitempty"` // the tests of the file that contain the uses
	// CasesCommand runs only the cases of all files with the same Command; "" if they are many.
	CasesCommand string `json:"cases_command,omitempty"`

	path repo.Path
	all  bool // Lines has every line
}

// Limits of the search for tests.
const (
	maxReachedFiles = 1500 // files that are looked at for tests that reach a file through others
	maxReachSteps   = 5    // edges between such a test and the file
	maxCaseFiles    = 40   // test files that are read for the names of their tests
	nearestTests    = 3    // such tests that the answer names
	manySymbols     = 12   // of the asked file; a test file that uses more of them is about all of it
)

// addTests lists the tests among the users and those that are named for the files, and counts
// the tests that reach them through other files. name is the symbol that was asked for, if any.
func (r *reader) addTests(files []repo.Path, users []User, name string) error {
	reached, err := r.reachedBy(files, users, r.listTests(files, users, name))
	r.answer.ReachedByTests = len(reached)
	for _, p := range reached[:min(nearestTests, len(reached))] {
		r.answer.NearestTests = append(r.answer.NearestTests, p.JSON())
	}
	return err
}

// listTests lists the tests among the users and those that are named for the files. It returns
// them by path.
func (r *reader) listTests(files []repo.Path, users []User, name string) map[repo.Path]int {
	byPath := make(map[repo.Path]int)
	var list []Test
	add := func(p repo.Path, how string, lines []int, all bool) {
		if i, known := byPath[p]; known {
			list[i].Lines = append(list[i].Lines, lines...)
			slices.Sort(list[i].Lines)
			list[i].Lines = slices.Compact(list[i].Lines)
			list[i].all = list[i].all && all
			return
		}
		t := Test{PathJSON: p.JSON(), path: p, How: how, Lines: slices.Clone(lines), all: all}
		command, ok, note := r.project.TestCommand(p)
		if ok {
			t.Command = command.Run
		}
		t.Note = note
		byPath[p] = len(list)
		list = append(list, t)
	}
	for _, u := range users {
		if r.project.IsTest(u.path) && u.path.Base() != "mod.rs" {
			add(u.path, "uses", u.Lines, u.More == 0)
		}
	}
	named := make(map[repo.Path]bool)
	for _, p := range files {
		if _, ok, _ := r.project.TestCommand(p); ok && !r.project.IsTest(p) {
			named[p] = true
			add(p, "uses", nil, false) // the file contains tests of its own
		}
		_, symbol := splitName(name)
		for _, test := range append(r.project.NamedTests(p), r.project.CommandTests(p, symbol)...) {
			named[test] = true
			add(test, "named", nil, true)
		}
	}
	// The tests that are named for the file, then those with the most lines about it, each with
	// the other tests that its command runs.
	slices.SortStableFunc(list, func(a, b Test) int {
		return cmp.Or(order.FalseFirst(!named[a.path], !named[b.path]), cmp.Compare(len(b.Lines), len(a.Lines)))
	})
	sortByCommand(list)
	symbols := make(map[repo.Path][]string)
	for _, u := range users {
		symbols[u.path] = append(symbols[u.path], u.Symbols...)
	}
	if name != "" {
		for _, p := range files {
			symbols[p] = append(symbols[p], name)
		}
	}
	r.addCases(list[:min(len(list), maxCaseFiles)], symbols)
	r.answer.Tests = append(r.answer.Tests, list...)
	return byPath
}

// sortByCommand puts tests of one command together, in the order of the first of them. Tests
// without a command come last.
func sortByCommand(list []Test) {
	first := make(map[string]int)
	for i, t := range list {
		if _, known := first[t.Command]; !known {
			first[t.Command] = i
		}
	}
	slices.SortStableFunc(list, func(a, b Test) int {
		return cmp.Or(order.FalseFirst(a.Command == "", b.Command == ""), cmp.Compare(first[a.Command], first[b.Command]))
	})
}

// addCases fills in the tests of each file that contain its lines, and the command that runs only
// these. symbols are the names that each file uses: the lines of a name that is used often are
// not all listed.
func (r *reader) addCases(list []Test, symbols map[repo.Path][]string) {
	for i := 0; i < len(list); {
		var together []project.TestCase
		isMany := false // most of its tests use something
		end := i
		for ; end < len(list) && list[end].Command == list[i].Command; end++ {
			t := &list[end]
			lines := t.Lines
			if !t.all && len(symbols[t.path]) > manySymbols {
				isMany = true
				continue
			}
			if !t.all {
				lines = append(slices.Clone(lines), r.linesWith(t.path, symbols[t.path])...)
			}
			cases := r.project.TestCasesAt(t.path, lines)
			for _, c := range cases {
				t.Cases = append(t.Cases, c.Name)
			}
			together = append(together, cases...)
		}
		if command, ok := r.project.TestCaseCommand(list[i].path, together); ok && list[i].Command != "" && !isMany {
			for k := i; k < end; k++ {
				list[k].CasesCommand = command.Run
			}
		}
		i = end
	}
}

// linesWith returns the lines of a file with the last part of some names, without comments.
func (r *reader) linesWith(p repo.Path, names []string) []int {
	var short []string
	for _, name := range names {
		_, name = splitName(name)
		if len(name) > 1 && !slices.Contains(short, name) {
			short = append(short, name)
		}
	}
	var at []int
	for i, line := range strings.Split(string(r.tree.Read(r.ctx, p)), "\n") {
		if !outline.IsComment(strings.TrimSpace(line)) && slices.ContainsFunc(short, func(name string) bool { return outline.HasWord(line, name) }) {
			at = append(at, i+1)
		}
	}
	return at
}

// testsBelow lists the tests in a directory.
func (r *reader) testsBelow(dir repo.Path) {
	var list []Test
	for i, _ := slices.BinarySearch(r.paths, dir+"/"); i < len(r.paths) && r.paths[i].Under(dir); i++ {
		p := r.paths[i]
		if !r.project.IsTest(p) {
			continue
		}
		t := Test{PathJSON: p.JSON(), path: p, How: "below"}
		command, ok, note := r.project.TestCommand(p)
		if ok {
			t.Command = command.Run
		}
		t.Note = note
		list = append(list, t)
	}
	sortByCommand(list)
	r.answer.Tests = append(list, r.answer.Tests...)
}

// reachedBy lists the test files that use one of the users, directly or through further files: the nearest first.
func (r *reader) reachedBy(files []repo.Path, users []User, listed map[repo.Path]int) ([]repo.Path, error) {
	seen := make(map[repo.Path]bool)
	for _, p := range files {
		seen[p] = true
	}
	var next []repo.Path
	for _, u := range users {
		if !seen[u.path] {
			seen[u.path] = true
			next = append(next, u.path)
		}
	}
	var reached []repo.Path
	for range maxReachSteps {
		frontier := next
		next = nil
		for _, p := range frontier {
			if r.project.ForTests(p) {
				continue // what uses a test is no test of the file
			}
			list, err := r.index.UserFiles(r.ctx, p)
			if err != nil {
				return nil, err
			}
			for _, from := range list {
				if seen[from] {
					continue
				}
				seen[from] = true
				if _, known := listed[from]; !known && r.project.IsTest(from) {
					reached = append(reached, from)
				}
				next = append(next, from)
			}
			if len(seen) > maxReachedFiles {
				return reached, nil
			}
		}
	}
	return reached, nil
}

// extensionFamily groups extensions of one language.
func extensionFamily(p repo.Path) string {
	switch ext := strings.ToLower(path.Ext(p.Base())); ext {
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte":
		return ".ts"
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh":
		return ".c"
	case ".pyi":
		return ".py"
	default:
		return ext
	}
}

// isMember reports symbols that belong to a type: names of them are often ambiguous.
func isMember(s *outline.Symbol) bool {
	return s.Kind == outline.Method || s.Kind == outline.Field || s.Kind == outline.Property || s.Depth > 0
}
