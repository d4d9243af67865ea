package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/order"
	"ken/internal/repo"
)

// textLimits limit the length of each list in a text.
type textLimits struct {
	users     int // files; more of them are grouped by directory
	perSymbol int // files of each declaration, if there are several
	used      int // files that it uses
	tests     int // commands
	files     int // test files of one command
	together  int // files that change with it
	mentions  int
	decls     int // declarations of a name
	all       bool
}

var shortLimits = textLimits{users: 10, perSymbol: 3, used: 5, tests: 5, files: 3, together: 4, mentions: 3, decls: 4}

// String returns the answer for people, in about 25 lines: the most important part of each list, and the number of
// omitted entries.
func (a *Answer) String() string { return a.text(shortLimits, forPeople) }

// Quoted returns the answer for agents, with the texts of the repository in quotes; with all, every entry of the lists.
func (a *Answer) Quoted(all bool) string {
	limits := shortLimits
	if all {
		limits = limitsOf(NoLimit)
	}
	text := a.text(limits, forAgents)
	for _, u := range a.Unknown {
		if u.What == "" { // on the command line a remark beside the answer
			text += "note: " + u.Text(repo.QuotedName) + "\n"
		}
	}
	return repo.NoteQuotations(text)
}

// A readership is who reads a text.
type readership struct {
	quote func(string) string // how a text of the repository is shown
	all   string              // the argument that lists everything
	ask   string              // the words before the name of what to ask for
}

var (
	forPeople = readership{func(s string) string { return s }, "--all", "ken uses "}
	forAgents = readership{repo.QuotedName, "all: true", "uses "}
)

// Text returns the answer with at most limit files in each list.
func (a *Answer) Text(limit int) string { return a.text(limitsOf(limit), forPeople) }

func limitsOf(limit int) textLimits {
	return textLimits{
		users: limit, perSymbol: max(fewUsers, limit), used: limit, tests: limit, files: limit, together: limit, mentions: limit,
		decls: maxDeclarations, all: true,
	}
}

// text returns the answer for its readers.
func (a *Answer) text(limits textLimits, by readership) string {
	t := &textWriter{answer: a, limits: limits, readership: by}
	switch {
	case a.OnlyTests:
		t.limits.tests = max(limits.tests, DefaultLimit)
		t.linef("%s", t.quote(t.subject()))
	case a.Symbol == "":
		t.path()
		t.uses()
	default:
		t.symbol()
		t.uses()
	}
	t.tests()
	if a.OnlyTests {
		t.unresolved()
	} else {
		t.changes()
		t.mentions()
	}
	return t.String()
}

// textWriter writes an answer.
type textWriter struct {
	strings.Builder
	answer *Answer
	limits textLimits
	readership
}

func (t *textWriter) linef(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// rows prints lines of columns, each cell quoted. The last column may be empty.
func (t *textWriter) rows(rows [][]string) {
	const widest = 60
	var widths []int
	for _, row := range rows {
		for i := range row {
			row[i] = t.quote(row[i])
			cell := row[i]
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := len([]rune(cell)); n <= widest {
				widths[i] = max(widths[i], n)
			}
		}
	}
	for _, row := range rows {
		line := "  "
		for i, cell := range row {
			line += cell
			if i+1 < len(row) {
				line += strings.Repeat(" ", max(0, widths[i]-len([]rune(cell)))+2)
			}
		}
		t.linef("%s", strings.TrimRight(line, " "))
	}
}

// more prints the number of omitted entries of a list.
func (t *textWriter) more(n int, unit string) {
	switch {
	case n <= 0:
	case t.limits.all:
		t.linef("  and %s (--limit)", moreOf(n, unit))
	default:
		t.linef("  and %s (%s)", moreOf(n, unit), t.all)
	}
}

// moreOf returns "3 more files".
func moreOf(n int, unit string) string { return english.Count(n, "more "+unit) }

// few returns the length of a list inside of a line: n, or all.
func (t *textWriter) few(n int) int {
	if t.limits.all {
		return NoLimit
	}
	return n
}

// lineList returns PATH:LINES.
func (t *textWriter) lineList(p string, lines []int, more int) string {
	return lineList(p, lines, more, t.few(fewLines))
}

// subject returns the path, with the symbol of the query.
func (t *textWriter) subject() string {
	a := t.answer
	name := a.Path
	if a.Directory {
		name += "/"
	}
	switch {
	case a.Symbol == "":
		return name
	case name == "":
		return a.Symbol
	}
	return name + "#" + a.Symbol
}

// path prints the header of a file or directory, and its users.
func (t *textWriter) path() {
	a := t.answer
	t.linef("%s", t.quote(t.subject()))
	if t.limits.all {
		var rows [][]string
		for _, d := range a.Declarations {
			rows = append(rows, []string{":" + strconv.Itoa(d.Line), d.Signature})
		}
		t.rows(rows)
		if n := a.More["declarations"]; n > 0 {
			t.linef("  and %s", moreOf(n, "symbol"))
		}
	} else if len(a.Declarations) > 0 {
		const few = 8
		var names []string
		last := ""
		for _, d := range a.Declarations {
			if d.Name != last && len(names) < few { // a getter and its setter count as one
				names = append(names, d.Name+":"+strconv.Itoa(d.Line))
			}
			last = d.Name
		}
		t.linef("  declares %s", t.quote(listed(names, len(a.Declarations)+a.More["declarations"])))
	}
	if why := a.whyNoUsers(); why != "" {
		t.linef("users unknown: %s", t.quote(why))
		return
	}
	t.users(a.UsedBy, t.limits.users, a.More["used_by"], false, false)
}

// listed joins names and adds the number of omitted ones.
func listed(names []string, total int) string {
	text := strings.Join(names, ", ")
	if total > len(names) {
		text += fmt.Sprintf(" and %d more", total-len(names))
	}
	return text
}

// users prints a row for each user that is not a test, or for each directory if there are many. left is the number
// of files missing in the list. inside is set if the declaration is one of several, ownFile if its own file uses
// it too.
func (t *textWriter) users(list []User, limit, left int, inside, ownFile bool) (shown int) {
	rows := userRows(slices.DeleteFunc(slices.Clone(list), func(u User) bool { return u.Starts }))
	indent := ""
	if inside {
		indent = "  "
	}
	total := len(rows) + left
	switch {
	case total == 0:
		t.linef("%s%s", indent, t.noUser(len(list) > 0, ownFile))
	case !inside:
		t.linef("used by %s", english.Count(total, "file"))
	}
	if !inside && t.answer.Symbol != "" {
		t.through()
		t.ambiguous()
	}
	if !inside {
		t.unresolved()
	}
	if len(rows) > limit && !inside && !t.limits.all {
		t.directories(rows, limit, left)
		return len(rows)
	}
	rows = rows[:min(len(rows), limit)]
	for _, part := range []struct {
		title         string
		likely, tests bool
	}{{"", false, false}, {"likely:", true, false}, {"files of tests:", false, true}, {"files of tests, likely:", true, true}} {
		var cells [][]string
		for _, row := range rows {
			if row.onlyLikely() == part.likely && row.test == part.tests {
				cells = append(cells, []string{t.lineList(row.path.Path, row.lines, row.more), t.how(row), row.marks()})
			}
		}
		if len(cells) > 0 && part.title != "" {
			t.linef("  %s", part.title)
		}
		t.rows(cells)
	}
	if !inside {
		t.more(total-len(rows), "file")
	}
	return len(rows)
}

// noUser prints that there is no user except tests.
func (t *textWriter) noUser(tested, ownFile bool) string {
	switch {
	case slices.ContainsFunc(t.answer.Through, func(i InterfaceUses) bool { return len(i.UsedBy) > 0 }):
		return "ken found no direct use of it"
	case t.answer.isOpen() && ownFile:
		return "ken found no certain use of it in other files"
	case t.answer.isOpen():
		return "ken found no certain use of it"
	case tested && ownFile:
		return "in other files, only tests use it"
	case tested:
		return "only tests use it"
	case ownFile:
		return "only this file uses it"
	}
	return "ken found no use of it in other files"
}

// directories prints a row for each directory with users, those with the most users first; directories of
// tests and generated files come last.
func (t *textWriter) directories(rows []*userRow, limit, left int) {
	const few = 3
	byDir := make(map[string][]*userRow)
	var dirs []string
	for _, row := range rows {
		dir, _ := splitPath(row.path.Path)
		if byDir[dir] == nil {
			dirs = append(dirs, dir)
		}
		byDir[dir] = append(byDir[dir], row)
	}
	isSide := func(dir string) bool { // only tests or generated files
		return !slices.ContainsFunc(byDir[dir], func(r *userRow) bool { return !r.test && !r.generated })
	}
	slices.SortStableFunc(dirs, func(a, b string) int {
		return cmp.Or(order.FalseFirst(isSide(a), isSide(b)), cmp.Compare(len(byDir[b]), len(byDir[a])))
	})
	var cells [][]string
	shown := 0
	for _, dir := range dirs[:min(limit, len(dirs))] {
		in := byDir[dir]
		var names []string
		for _, row := range in[:min(few, len(in))] {
			_, base := splitPath(row.path.Path)
			name := t.lineList(base, row.lines[:min(1, len(row.lines))], 0)
			if row.onlyLikely() {
				name += " (likely)"
			}
			names = append(names, name)
		}
		shown += len(in)
		cells = append(cells, []string{cmp.Or(dir, "./"), listed(names, len(in))})
	}
	t.rows(cells)
	if n := len(rows) - shown + left; n > 0 {
		t.linef("  and %s in other directories; %s lists all", moreOf(n, "file"), t.all)
	} else {
		t.linef("  %s lists all files with their lines", t.all)
	}
}

// splitPath splits a path behind its last slash.
func splitPath(p string) (dir, base string) {
	i := strings.LastIndexByte(p, '/') + 1
	return p[:i], p[i:]
}

// symbol prints each declaration with its own users.
func (t *textWriter) symbol() {
	a := t.answer
	several := len(a.Declarations) > 1
	if several {
		t.linef("%d declarations of %s; each with its own users", a.Named, t.quote(a.Symbol))
		t.ambiguous()
		t.unresolved()
	}
	shown := a.Declarations[:min(len(a.Declarations), max(1, t.limits.decls))]
	for _, d := range shown {
		t.linef("%s  %s", t.quote(fmt.Sprintf("%s:%d", d.Path, d.Line)), t.quote(english.Clip(d.Signature, 160)))
		if len(d.SameFile) > 0 {
			lines := strings.TrimPrefix(t.lineList("", d.SameFile, moreOfPlaces(d.OwnUses)), ":")
			t.linef("  also in this file: %s  %s", lines, t.quote(t.places(d.OwnUses)))
		}
		if in := a.Introduced; in != nil {
			day, _, _ := strings.Cut(in.Date, "T")
			t.linef("  since %s: %s %s", day, in.Commit.Short(), t.quote(strconv.Quote(english.Clip(in.Subject, 72))))
		}
		users := a.UsedBy
		if several {
			of := d.Path + "#" + d.Name
			users = slices.DeleteFunc(slices.Clone(users), func(u User) bool { return u.Of != of })
		}
		switch {
		case a.whyNoUsers() != "":
			t.linef("  users unknown: %s", t.quote(a.whyNoUsers()))
		case several:
			rows := len(userRows(slices.DeleteFunc(slices.Clone(users), func(u User) bool { return u.Starts })))
			printed := t.users(users, t.limits.perSymbol, d.More, true, d.OwnFile)
			if n := rows - printed + d.More; n > 0 {
				t.linef("  and %s: %s%s", moreOf(n, "file"), t.ask, t.quote(fault.Quote(d.Path+"#"+d.Name)))
			}
		default:
			t.users(users, t.limits.users, a.More["used_by"], false, d.OwnFile)
		}
	}
	var others []string
	for _, d := range a.Declarations[len(shown):] {
		others = append(others, fmt.Sprintf("%s:%d", d.Path, d.Line))
	}
	n := a.More["declarations"]
	switch {
	case len(others) > 0:
		places := t.quote(listed(others, len(others)+n))
		t.linef("also declared in %s; ask for one: %sPATH#%s", places, t.ask, t.quote(a.Symbol))
	case n > 0:
		t.linef("and %s; ask for one: %sPATH#%s", moreOf(n, "declaration"), t.ask, t.quote(a.Symbol))
	}
}

// moreOfPlaces returns the number of lines that places leave out.
func moreOfPlaces(places []Place) (n int) {
	for _, p := range places {
		n += p.More
	}
	return n
}

// uses prints the files or symbols that the file or symbol uses: for a file only the names of files, unless all is
// set.
func (t *textWriter) uses() {
	a := t.answer
	rows := userRows(a.Uses)
	total := len(rows) + a.More["uses"]
	shown := rows[:min(len(rows), t.limits.used)]
	switch {
	case total == 0:
	case a.Symbol == "" && !t.limits.all:
		var names []string
		for _, row := range shown {
			names = append(names, row.path.Path)
		}
		t.linef("uses %s: %s", english.Count(total, "file"), t.quote(listed(names, total)))
	default:
		t.linef("uses %s", english.Count(total, "file"))
	}
	if a.Symbol == "" {
		t.ambiguous()
		if !t.limits.all {
			return
		}
	}
	var cells [][]string
	for _, row := range shown {
		names := t.symbolsOf(row.exact)
		if len(row.likely) > 0 {
			names = strings.TrimPrefix(names+"; likely "+t.symbolsOf(row.likely), "; ")
		}
		cells = append(cells, []string{row.path.Path, names, row.marks()})
	}
	t.rows(cells)
	t.more(total-len(shown), "file")
}

// tests prints the commands that run the tests, each with its files.
func (t *textWriter) tests() {
	a := t.answer
	groups := slices.Collect(chunksBy(a.Tests, func(x Test) string { return x.Command + "\x00" + x.Note }))
	switch {
	case len(groups) > 0:
		t.linef("tests")
	case a.OnlyTests && a.ReachedByTests == 0 && a.isOpen():
		t.linef("ken found no certain test of it")
	case a.OnlyTests && a.ReachedByTests == 0:
		t.linef("ken found no test of it")
	}
	var cells [][]string
	for _, group := range groups[:min(len(groups), t.limits.tests)] {
		command := cmp.Or(group[0].CasesCommand, group[0].Command, "command unknown")
		var files []string
		dir := ""
		for _, test := range group[:min(len(group), t.limits.files)] {
			name := test.Path
			if d, base := splitPath(name); d == dir && d != "" {
				name = base
			} else {
				dir = d
			}
			isNamed := strings.HasSuffix(" "+test.Command, " "+test.Path)
			cases := t.cases(test)
			if isNamed {
				name = ""
			}
			switch {
			case isNamed && test.CasesCommand != "" && len(group) == 1:
			case cases != "":
				name = strings.TrimSpace(name + " " + cases)
			default:
				name = t.lineList(name, test.Lines, 0)
			}
			if test.How == "named" {
				name = strings.TrimSpace(name + " named for it")
			}
			if name != "" {
				files = append(files, name)
			}
		}
		what := ""
		if len(files) > 0 {
			what = listed(files, len(files)+len(group)-min(len(group), t.limits.files))
		}
		what = strings.Trim(what+"; "+group[0].Note, "; ")
		cells = append(cells, []string{command, strings.TrimSpace(fault.WithRemark("", what))})
	}
	t.rows(cells)
	left := a.More["tests"]
	for _, group := range groups[min(len(groups), t.limits.tests):] {
		left += len(group)
	}
	t.more(left, "test file")
	var nearest []string
	for _, p := range a.NearestTests {
		nearest = append(nearest, p.Path)
	}
	names := t.quote(listed(nearest, a.ReachedByTests))
	if n := a.ReachedByTests; n == 1 {
		t.linef("1 more test file reaches it through other files: %s", names)
	} else if n > 1 {
		t.linef("%d more test files reach it through other files: %s", n, names)
	}
}

// cases returns the tests of a file that contain uses, if its command does not name them.
func (t *textWriter) cases(test Test) string {
	few := t.few(3)
	if t.answer.OnlyTests {
		few = t.few(10)
	}
	if test.CasesCommand != "" || len(test.Cases) == 0 {
		return ""
	}
	names := slices.Clone(test.Cases[:min(few, len(test.Cases))])
	for i := range names {
		names[i] = english.Clip(names[i], 60)
	}
	return "(" + listed(names, len(test.Cases)) + ")"
}

// changes prints the files that change with the file, and its copies.
func (t *textWriter) changes() {
	a := t.answer
	if len(a.ChangesWith) > 0 {
		what := "changes with"
		if a.Symbol != "" {
			what = "its file changes with"
		}
		var list []string
		for i, c := range a.ChangesWith[:min(len(a.ChangesWith), t.limits.together)] {
			one := fmt.Sprintf("%s %d", c.Path, c.Together)
			if i == 0 {
				one += fmt.Sprintf(" of %d", c.Of)
			}
			list = append(list, one)
		}
		commits := english.Count(a.Commits.Count, "commit")
		since := fmt.Sprintf("since %s, of at most %d files", a.Commits.Since, find.MaxTogether)
		all := len(a.ChangesWith) + a.More["changes_with"]
		t.linef("%s %s (in %s %s)", what, t.quote(listed(list, all)), commits, since)
	}
	if len(a.SameBytes) > 0 {
		var names []string
		for _, p := range a.SameBytes[:min(len(a.SameBytes), t.limits.mentions)] {
			names = append(names, p.Path)
		}
		t.linef("same bytes: %s", t.quote(listed(names, len(a.SameBytes)+a.More["same_bytes"])))
	}
}

// mentions prints the files whose text contains the path, or the name in another spelling.
func (t *textWriter) mentions() {
	a := t.answer
	if len(a.Mentions) == 0 {
		return
	}
	if a.Symbol != "" {
		t.linef("likely: the same name in text or in another spelling")
	} else {
		t.linef("mentioned in")
	}
	shown := a.Mentions[:min(len(a.Mentions), t.limits.mentions)]
	var rows [][]string
	for _, m := range shown {
		mark := ""
		if m.Generated {
			mark = "generated"
		}
		rows = append(rows, []string{t.lineList(m.Path, m.Lines, m.More), m.Text, mark})
	}
	t.rows(rows)
	t.more(len(a.Mentions)-len(shown)+a.More["mentions"], "file")
}

// ambiguous prints the number of uses that the list omits: of the symbol, or in the file of the query. For a
// symbol it names some of the files.
func (t *textWriter) ambiguous() {
	a := t.answer
	n := a.Ambiguous
	switch {
	case n == 0:
		return
	case a.Symbol == "" && n == 1:
		t.linef("1 more use in this file is ambiguous: several declarations have that name")
		return
	case a.Symbol == "":
		t.linef("%d more uses in this file are ambiguous: several declarations have those names", n)
		return
	}
	const many = 30 // with so many files, naming a few does not help
	few := t.few(5)
	total := len(a.AmbiguousIn) + a.More["ambiguous_in"]
	if total > many && !t.limits.all {
		t.linef("%s (ken does not know the type of the value), in %d files (%s)", ambiguousUses(n, len(a.UsedBy) > 0), total, t.all)
		return
	}
	var files []string
	for _, f := range a.AmbiguousIn[:min(few, len(a.AmbiguousIn))] {
		files = append(files, t.lineList(f.Path, f.Lines, f.More))
	}
	places := t.quote(listed(files, total))
	t.linef("%s (ken does not know the type of the value): %s", ambiguousUses(n, len(a.UsedBy) > 0), places)
}

// fewMentions is how many files with an unresolved mention a text names.
const fewMentions = 3

// unresolved prints the mentions that ken cannot resolve, and the files that it has not read: each may be a use.
func (t *textWriter) unresolved() {
	a := t.answer
	if !a.Unresolved.IsZero() {
		t.linef("unresolved: %s", t.quote(a.Unresolved.text(t.few(fewMentions), t.few(fewLines))))
	}
	for _, unknown := range a.Unknown {
		if unknown.What == find.WhatFiles {
			t.linef("not read: %s", t.quote(unknown.Why))
		}
	}
}

// ambiguousUses returns the number of uses as text; besides is set if the list has other uses.
func ambiguousUses(n int, besides bool) string {
	more := ""
	if besides {
		more = "more "
	}
	if n == 1 {
		return "1 " + more + "use is ambiguous"
	}
	return fmt.Sprintf("%d %suses are ambiguous", n, more)
}

// through prints the methods of interfaces that a method implements, with the files that may call it through them, and
// the methods that implement it.
func (t *textWriter) through() {
	a := t.answer
	few := t.few(5)
	var unused []string
	for _, i := range a.Through {
		method := fmt.Sprintf("%s (%s:%d)", i.Name, i.Path, i.Line)
		if len(i.UsedBy) == 0 {
			unused = append(unused, method)
			continue
		}
		var files []string
		for _, f := range i.UsedBy[:min(few, len(i.UsedBy))] {
			files = append(files, t.lineList(f.Path, f.Lines, f.More))
		}
		t.linef("likely through %s: %s", t.quote(method), t.quote(listed(files, len(i.UsedBy)+i.More)))
	}
	if n := len(unused) + a.More["through"]; n > 0 {
		t.linef("implements %s", t.quote(listed(unused[:min(few, len(unused))], n)))
	}
	var methods []string
	for _, i := range a.ImplementedBy[:min(few, len(a.ImplementedBy))] {
		methods = append(methods, fmt.Sprintf("%s (%s:%d)", i.Name, i.Path, i.Line))
	}
	if n := len(a.ImplementedBy) + a.More["implemented_by"]; n > 0 {
		t.linef("implemented by %s", t.quote(listed(methods, n)))
	}
}

// chunksBy returns the runs of neighbours with the same key.
func chunksBy[T any](list []T, key func(T) string) func(yield func([]T) bool) {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			n := 1
			for n < len(list) && key(list[n]) == key(list[0]) {
				n++
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}
