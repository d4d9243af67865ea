package find

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// A Test is a test file with the command that runs it.
type Test struct {
	repo.PathJSON
	How     string `json:"how"`               // uses: it uses the file; named: it is named for it
	Command string `json:"command,omitempty"` // "" if ken does not know one
	Note    string `json:"note,omitempty"`    // why there is no command, or what it does not run
	Lines   []int  `json:"lines,omitempty"`

	path repo.Path
}

// Limits of the search for tests that reach a file through others.
const (
	maxReach  = 1500 // files that are looked at
	reachDeep = 5    // steps
)

// addTests lists the tests among the users and those that are named for the files, and counts
// the tests that reach them through other files.
func (r *usesReader) addTests(files []repo.Path, users []User) error {
	reached, err := r.reachedBy(files, users, r.listTests(files, users))
	r.answer.ReachedByTests = reached
	return err
}

// listTests lists the tests among the users and those that are named for the files. It returns
// them by path.
func (r *usesReader) listTests(files []repo.Path, users []User) map[repo.Path]int {
	byPath := make(map[repo.Path]int)
	var list []Test
	add := func(p repo.Path, how string, lines []int) {
		if i, known := byPath[p]; known {
			list[i].Lines = append(list[i].Lines, lines...)
			slices.Sort(list[i].Lines)
			list[i].Lines = slices.Compact(list[i].Lines)
			return
		}
		t := Test{PathJSON: p.JSON(), path: p, How: how, Lines: slices.Clone(lines)}
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
			add(u.path, "uses", u.Lines)
		}
	}
	named := make(map[repo.Path]bool)
	for _, p := range files {
		if _, ok, _ := r.project.TestCommand(p); ok && !r.project.IsTest(p) {
			named[p] = true
			add(p, "uses", nil) // the file contains tests of its own
		}
		for _, test := range r.namedFor(p) {
			named[test] = true
			add(test, "named", nil)
		}
	}
	// The tests that are named for the file, then those with the most lines about it, each with
	// the other tests that its command runs.
	slices.SortStableFunc(list, func(a, b Test) int {
		return cmp.Or(compareBool(!named[a.path], !named[b.path]), cmp.Compare(len(b.Lines), len(a.Lines)))
	})
	first := make(map[string]int)
	for i, t := range list {
		if _, known := first[t.Command]; !known {
			first[t.Command] = i
		}
	}
	slices.SortStableFunc(list, func(a, b Test) int {
		return cmp.Or(compareBool(a.Command == "", b.Command == ""), cmp.Compare(first[a.Command], first[b.Command]))
	})
	r.answer.Tests = append(r.answer.Tests, list...)
	return byPath
}

// reachedBy counts the test files that use one of the users, directly or through further files.
func (r *usesReader) reachedBy(files []repo.Path, users []User, listed map[repo.Path]int) (int, error) {
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
	count := 0
	for range reachDeep {
		frontier := next
		next = nil
		for _, p := range frontier {
			if r.isTest(p) {
				continue // what uses a test is no test of the file
			}
			list, err := r.index.UserFiles(r.ctx, p)
			if err != nil {
				return 0, err
			}
			for _, from := range list {
				if seen[from] {
					continue
				}
				seen[from] = true
				if _, known := listed[from]; !known && r.project.IsTest(from) {
					count++
				}
				next = append(next, from)
			}
			if len(seen) > maxReach {
				return count, nil
			}
		}
	}
	return count, nil
}

// namedFor returns the tests that are named for a file: parse_test.go for parse.go. Of several
// that lie elsewhere it takes only those whose directory ends like that of the file.
func (r *usesReader) namedFor(p repo.Path) []repo.Path {
	stem := strings.TrimSuffix(p.Base(), path.Ext(p.Base()))
	if len(stem) < 2 || r.isTest(p) {
		return nil
	}
	family := extensionFamily(p)
	var same, alike, others []repo.Path
	for _, test := range r.testsByStem()[strings.ToLower(stem)] {
		if extensionFamily(test) != family || !r.project.IsTest(test) {
			continue
		}
		switch {
		case withoutTestDirs(test.Dir()) == p.Dir():
			same = append(same, test)
		case p.Dir() != "" && withoutTestDirs(test.Dir()).Base() == p.Dir().Base():
			alike = append(alike, test)
		default:
			others = append(others, test)
		}
	}
	switch {
	case len(same) > 0:
		return same
	case len(alike) > 0:
		return alike
	case len(others) == 1 && !r.isCommonStem(p, stem):
		return others
	}
	return nil
}

// testsByStem returns the files that may be tests by the name that they are named for.
func (r *usesReader) testsByStem() map[string][]repo.Path {
	if r.tested == nil {
		r.tested = make(map[string][]repo.Path)
		for _, p := range r.paths {
			if stem, ok := testedStem(p); ok {
				r.tested[stem] = append(r.tested[stem], p)
			}
		}
	}
	return r.tested
}

// isCommonStem reports whether other files of the tree have the same name.
func (r *usesReader) isCommonStem(p repo.Path, stem string) bool {
	return slices.ContainsFunc(r.paths, func(o repo.Path) bool {
		return o != p && strings.TrimSuffix(o.Base(), path.Ext(o.Base())) == stem && extensionFamily(o) == extensionFamily(p)
	})
}

// withoutTestDirs returns a directory without the parts that are named for tests.
func withoutTestDirs(dir repo.Path) repo.Path {
	var kept []string
	for part := range strings.SplitSeq(string(dir), "/") {
		switch part {
		case "test", "tests", "__tests__", "spec", "unit":
		default:
			kept = append(kept, part)
		}
	}
	return repo.Path(strings.Join(kept, "/"))
}

// testedStem returns the name that a test is named for, in lower case.
func testedStem(test repo.Path) (string, bool) {
	base := test.Base()
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, suffix := range []string{"_test", ".test", "-test", "_spec", ".spec", "_tests", "Tests", "Test", "Spec", "IT"} {
		if cut, ok := strings.CutSuffix(stem, suffix); ok && cut != "" {
			return strings.ToLower(cut), true
		}
	}
	for _, prefix := range []string{"test_", "test-"} {
		if cut, ok := strings.CutPrefix(stem, prefix); ok && cut != "" {
			return strings.ToLower(cut), true
		}
	}
	if withoutTestDirs(test.Dir()) != test.Dir() { // tests/cart.rs
		return strings.ToLower(stem), true
	}
	return "", false
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
