package usage

import (
	"context"
	"slices"

	"ken/internal/find"
	"ken/internal/order"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// A ChangedFile is a file of the tree with its changed symbols.
type ChangedFile struct {
	Path    repo.Path
	Symbols map[string]bool // full names; nil if they are unknown
	Reached map[string]bool // Symbols, and the symbols of the file that may use them; nil if they are unknown
}

// TestsOf lists the tests of some changed files, without duplicates, with the command that runs each: those that
// use one of the changed symbols directly, and those that are named for a file, unless they use only other symbols
// of it. Tests that are named for a file or are beside it come first. For a changed Go package without such tests,
// the last ones in list are How "package": another test of it. edited lists the changed files that are tests; they
// are not in list.
func TestsOf(ctx context.Context, x *searchindex.Index, t find.Tree, changed []ChangedFile) (list, edited []Test, err error) {
	r, err := newReader(ctx, x, t)
	if err != nil {
		return nil, nil, err
	}
	var direct []searchindex.Edge
	var files []repo.Path
	isEdited := make(map[repo.Path]bool)
	isNamed := make(map[repo.Path]bool)
	dirs := make(map[repo.Path]bool)
	for _, c := range changed {
		if !r.isFile(c.Path) {
			continue
		}
		if r.project.ForTests(c.Path) {
			isEdited[c.Path] = true
			if command, ok, _ := r.project.TestCommand(c.Path); ok {
				edited = append(edited, Test{PathJSON: c.Path.JSON(), path: c.Path, Command: command.Run})
			}
			continue
		}
		files = append(files, c.Path)
		dirs[c.Path.Dir()] = true
		users, err := x.Users(ctx, c.Path)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range users {
			if r.project.ForTests(e.From) && r.usesChanged(c, e) {
				direct = append(direct, e)
			}
		}
		for _, test := range r.project.NamedTests(c.Path) {
			isNamed[test] = isNamed[test] || isTestOf(test, c, users)
		}
	}
	r.listTests(files, r.groupByFile(direct, fromFile), "")
	list = slices.DeleteFunc(r.answer.Tests, func(t Test) bool { return isEdited[t.path] || t.How == "named" && !isNamed[t.path] })
	slices.SortStableFunc(list, func(a, b Test) int {
		return order.FalseFirst(!isNamed[a.path] && !dirs[a.path.Dir()], !isNamed[b.path] && !dirs[b.path.Dir()])
	})
	return append(list, r.packageTests(files, slices.Concat(list, edited))...), edited, nil
}

// packageTests returns one test for each directory of Go files whose tests are not listed yet.
func (r *reader) packageTests(files []repo.Path, listed []Test) []Test {
	done := make(map[repo.Path]bool)
	for _, t := range listed {
		done[t.path.Dir()] = true
	}
	var list []Test
	for _, p := range files {
		dir := p.Dir()
		if done[dir] || outline.LanguageOf(p, nil) != outline.Go {
			continue
		}
		done[dir] = true
		i := slices.IndexFunc(r.paths, func(o repo.Path) bool { return o.Dir() == dir && r.project.IsTest(o) })
		if i < 0 {
			continue
		}
		if command, ok, _ := r.project.TestCommand(r.paths[i]); ok {
			list = append(list, Test{PathJSON: r.paths[i].JSON(), path: r.paths[i], How: "package", Command: command.Run})
		}
	}
	return list
}

// usesChanged reports whether a test uses a changed symbol of a file. A test that uses a type counts
// for a changed member of it if the test has the name of the member.
func (r *reader) usesChanged(c ChangedFile, e searchindex.Edge) bool {
	if c.Symbols == nil || e.Symbol == "" {
		return false
	}
	if c.Symbols[e.Symbol] {
		return true
	}
	var members []string
	for name := range c.Symbols {
		owner, member := splitName(name)
		if owner != e.Symbol {
			continue
		}
		if member == "__init__" || member == "constructor" {
			return true
		}
		members = append(members, name)
	}
	return len(members) > 0 && len(r.linesWith(e.From, members)) > 0
}

// reaches reports whether the change may reach a symbol of the file or a member of it.
func (c *ChangedFile) reaches(symbol string) bool {
	if c.Reached == nil || c.Reached[symbol] {
		return true
	}
	for name := range c.Reached {
		if owner, _ := splitName(name); owner == symbol {
			return true
		}
	}
	return false
}

// isTestOf reports whether a test that is named for a file tests it: the test uses a symbol that the
// change may reach. If ken knows no use of the file in the test, the directories must agree.
func isTestOf(test repo.Path, c ChangedFile, users []searchindex.Edge) bool {
	known := false
	for _, e := range users {
		if e.From != test {
			continue
		}
		if e.Symbol == "" || len(c.Symbols) == 0 || c.reaches(e.Symbol) {
			return true
		}
		known = true
	}
	if known {
		return false
	}
	dir := c.Path.Dir()
	return test.Dir() == dir || dir != "" && (test.Under(dir) || test.Dir().Base() == dir.Base())
}
