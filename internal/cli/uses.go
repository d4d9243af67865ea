package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/repo"
	"ken/internal/term"
	"ken/internal/uses"
)

// UsesOptions say whose users are wanted.
type UsesOptions struct {
	Asked string // a path, PATH#SYMBOL or a symbol
	Limit int    // of files per list; the default when 0
	At    string // a revision; the work tree when ""
}

func (p *program) uses() *cobra.Command {
	var opts UsesOptions
	var all bool
	c := &cobra.Command{
		Use:   "uses PATH[#SYMBOL]",
		Short: "List who uses a file or symbol, what it uses, and what tests it",
		Long: `Lists the files that use a file, a directory or a symbol, with lines; what it uses;
its tests with the command that runs them; the files that change with it; its copies;
and the scripts and documents that mention its path.

An exact use was resolved through an import or a package. A likely use is the only
declaration of that name in reach. Uses that may mean several declarations are only
counted. Where ken has no rules for a language, it says that the users are unknown.`,
		Example: `  ken uses internal/parse/parse.go         # a file
  ken uses internal/parse/parse.go#Words   # a symbol of a file
  ken uses Words                           # every symbol of that name, each with its users`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case c.Flags().Changed("limit") && opts.Limit < 1:
				return usage(c, fmt.Errorf("--limit %d: want at least 1", opts.Limit))
			case all && len(args) > 0:
				return usage(c, errors.New("--all lists every file: leave out "+args[0]))
			case all && !p.io.JSON:
				return &fault.Error{Kind: fault.Usage, Hint: "ken uses --all --json", Err: errors.New("--all needs --json")}
			case !all && len(args) == 0:
				return missing(c, "PATH[#SYMBOL]")
			}
			return p.within(c.Context(), func(w Workspace) error {
				if all {
					edges := []find.WholeEdge{}
					err := w.AllUses(c.Context(), opts.At, func(e find.WholeEdge) error { edges = append(edges, e); return nil })
					if err != nil {
						return err
					}
					return p.io.Encode(map[string]any{"edges": edges})
				}
				opts.Asked = args[0]
				a, err := w.Uses(c.Context(), opts)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(a)
				}
				p.io.Printf("%s", plain(usesText(a)))
				for _, r := range a.Remarks {
					p.io.Remarkf("ken: %s", r)
				}
				return nil
			})
		},
	}
	c.Flags().IntVar(&opts.Limit, "limit", 0, "list at most `N` files in each part (default 30)")
	c.Flags().StringVar(&opts.At, "at", "", "answer for the commit `REV` instead of the work tree")
	c.Flags().BoolVar(&all, "all", false, "print all uses between files; needs --json")
	return c
}

// usesText returns the answer for people.
func usesText(a *find.UsesAnswer) string {
	t := &usesPrinter{answer: a}
	if a.Symbol == "" {
		t.path()
	} else {
		t.symbol()
	}
	t.uses()
	t.tests()
	t.changes()
	t.mentions()
	return t.String()
}

type usesPrinter struct {
	strings.Builder
	answer *find.UsesAnswer
}

func (t *usesPrinter) linef(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// rows prints lines of columns. The last column may be empty.
func (t *usesPrinter) rows(indent string, rows [][]string) {
	const widest = 60
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := len([]rune(cell)); n <= widest {
				widths[i] = max(widths[i], n)
			}
		}
	}
	for _, row := range rows {
		line := indent
		for i, cell := range row {
			line += cell
			if i+1 < len(row) {
				line += strings.Repeat(" ", max(0, widths[i]-len([]rune(cell)))+2)
			}
		}
		t.linef("%s", strings.TrimRight(line, " "))
	}
}

func (t *usesPrinter) more(list, unit string) {
	if n := t.answer.More[list]; n > 0 {
		t.linef("  and %s (--limit)", moreOf(n, unit))
	}
}

// moreOf returns "3 more files".
func moreOf(n int, unit string) string { return term.Count(n, "more "+unit) }

// path prints the head of a file or directory, and who uses it.
func (t *usesPrinter) path() {
	a := t.answer
	t.linef("%s", display(a.PathJSON))
	var rows [][]string
	for _, d := range a.Declarations {
		rows = append(rows, []string{":" + strconv.Itoa(d.Line), d.Signature})
	}
	t.rows("  ", rows)
	if n := a.More["declarations"]; n > 0 {
		t.linef("  and %s", moreOf(n, "symbol"))
	}
	if a.Unknown != "" {
		t.linef("users unknown: %s", a.Unknown)
		return
	}
	t.users(a.UsedBy, "", false)
}

// users prints a row for each user that is no test. ownFile says that the declaring file uses the
// symbol, too.
func (t *usesPrinter) users(list []find.User, indent string, ownFile bool) {
	rows := userRows(slices.DeleteFunc(slices.Clone(list), func(u find.User) bool { return u.Starts }))
	if len(rows) == 0 {
		switch {
		case t.answer.Ambiguous > 0 && t.answer.Symbol != "":
			t.linef("%sken found no certain use of it", indent)
		case len(list) > 0 && ownFile:
			t.linef("%sin other files, only tests use it", indent)
		case len(list) > 0:
			t.linef("%sonly tests use it", indent)
		case ownFile:
			t.linef("%sonly this file uses it", indent)
		default:
			t.linef("%sken found no use of it in other files", indent)
		}
	} else if indent == "" {
		t.linef("used by %s", term.Count(len(rows)+t.answer.More["used_by"], "file"))
	}
	if indent == "" && t.answer.Symbol != "" {
		t.ambiguous()
	}
	for _, part := range []struct {
		title         string
		likely, tests bool
	}{{"", false, false}, {"likely:", true, false}, {"files of tests:", false, true}, {"files of tests, likely:", true, true}} {
		var cells [][]string
		for _, row := range rows {
			if row.onlyLikely() == part.likely && row.test == part.tests {
				cells = append(cells, []string{place(row.path, row.lines, row.more), t.how(row), row.marks()})
			}
		}
		if len(cells) > 0 && part.title != "" {
			t.linef("  %s", part.title)
		}
		t.rows("  ", cells)
	}
}

// A userRow is one line about a file: what it uses, exact or likely.
type userRow struct {
	path          repo.PathJSON
	test          bool
	generated     bool
	lines         []int
	more          int
	exact, likely []find.UsePlace
}

// userRows makes one row of the entries of one file.
func userRows(list []find.User) []*userRow {
	var rows []*userRow
	for _, u := range list {
		i := slices.IndexFunc(rows, func(r *userRow) bool { return r.path == u.PathJSON })
		if i < 0 {
			i = len(rows)
			rows = append(rows, &userRow{path: u.PathJSON, test: u.Test, generated: u.Generated})
		}
		r := rows[i]
		r.lines = append(r.lines, u.Lines...)
		slices.Sort(r.lines)
		r.lines = slices.Compact(r.lines)
		r.more += u.More
		if u.Certainty == uses.Exact {
			r.exact = append(r.exact, u.Places...)
		} else {
			r.likely = append(r.likely, u.Places...)
		}
	}
	return rows
}

func (r *userRow) onlyLikely() bool { return len(r.exact) == 0 }

func (r *userRow) marks() string {
	if r.generated {
		return "generated"
	}
	return ""
}

// how says which symbols a file uses, or how it uses the one that was asked about.
func (t *usesPrinter) how(r *userRow) string {
	say := symbolsOf
	if t.answer.Symbol != "" {
		say = t.places
	}
	if r.onlyLikely() {
		return say(r.likely)
	}
	text := say(r.exact)
	if len(r.likely) > 0 {
		text += "; likely " + say(r.likely)
	}
	return strings.TrimPrefix(text, "; ")
}

// symbolsOf lists the names of used symbols: first those that are used directly, then those of
// each file that re-exports them.
func symbolsOf(places []find.UsePlace) string {
	const few = 6
	places = slices.Clone(places)
	slices.SortStableFunc(places, func(a, b find.UsePlace) int { return strings.Compare(string(a.Via), string(b.Via)) })
	var parts []string
	seen := make(map[string]bool)
	for len(places) > 0 {
		via := places[0].Via
		var names []string
		for len(places) > 0 && places[0].Via == via {
			if name := places[0].Symbol; name != "" && !seen[name] {
				seen[name] = true
				if len(seen) <= few {
					names = append(names, name)
				}
			}
			places = places[1:]
		}
		if len(names) > 0 {
			parts = append(parts, strings.Join(names, ", ")+through(via))
		} else if len(places) == 0 && len(parts) == 0 && via != "" {
			parts = append(parts, strings.TrimSpace(through(via)))
		}
	}
	text := strings.Join(parts, "; ")
	if len(seen) > few {
		text += fmt.Sprintf(" and %d more", len(seen)-few)
	}
	return text
}

// through names the file that re-exports a symbol.
func through(via repo.Path) string {
	if via == "" {
		return ""
	}
	return " via " + via.String()
}

// places says how a symbol is used, and in which declarations.
func (t *usesPrinter) places(places []find.UsePlace) string {
	const few = 3
	var parts []string
	for _, p := range places {
		part := p.How
		if part == "" {
			part = "mention"
		}
		if p.Symbol != "" && !isName(t.answer, p.Symbol) {
			part += " of " + p.Symbol
		}
		if len(p.In) > 0 {
			part += " in " + strings.Join(p.In[:min(few, len(p.In))], ", ")
		}
		if len(p.In) > few {
			part += fmt.Sprintf(" and %d more", len(p.In)-few)
		}
		part += through(p.Via)
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

// isName reports whether a symbol is one of the declarations that were asked for.
func isName(a *find.UsesAnswer, symbol string) bool {
	return slices.ContainsFunc(a.Declarations, func(d find.Declaration) bool { return d.Name == symbol })
}

// place returns PATH:LINES.
func place(p repo.PathJSON, lines []int, more int) string {
	const few = 5
	list := make([]string, 0, few)
	for _, n := range lines[:min(few, len(lines))] {
		list = append(list, strconv.Itoa(n))
	}
	more += max(0, len(lines)-few)
	if more > 0 {
		list = append(list, "+"+strconv.Itoa(more))
	}
	if len(list) == 0 {
		return p.Path
	}
	return p.Path + ":" + strings.Join(list, ",")
}

// symbol prints each declaration with its own users.
func (t *usesPrinter) symbol() {
	a := t.answer
	several := len(a.Declarations) > 1
	if several {
		t.linef("%d declarations of %s; each with its own users", a.Named, a.Symbol)
		t.ambiguous()
	}
	for _, d := range a.Declarations {
		t.linef("%s:%d  %s", d.Path, d.Line, d.Signature)
		if len(d.SameFile) > 0 {
			t.linef("  also in this file: %s", numbers(d.SameFile))
		}
		users := a.UsedBy
		if several {
			of := d.Path + "#" + d.Name
			users = slices.DeleteFunc(slices.Clone(users), func(u find.User) bool { return u.Of != of })
		}
		switch {
		case a.Unknown != "":
			t.linef("  users unknown: %s", a.Unknown)
		case several:
			t.users(users, "  ", d.OwnFile)
			if d.More > 0 {
				t.linef("  and %s: ken uses %s", moreOf(d.More, "file"), fault.Quote(d.Path+"#"+d.Name))
			}
		default:
			t.users(users, "", d.OwnFile)
		}
	}
	if n := a.More["declarations"]; n > 0 {
		t.linef("and %s; ask for one: ken uses PATH#%s", moreOf(n, "declaration"), a.Symbol)
	}
}

func numbers(lines []int) string {
	list := make([]string, len(lines))
	for i, n := range lines {
		list[i] = strconv.Itoa(n)
	}
	return strings.Join(list, ", ")
}

func (t *usesPrinter) uses() {
	a := t.answer
	if a.Symbol == "" || len(a.Declarations) == 1 {
		t.more("used_by", "file")
	}
	rows := userRows(a.Uses)
	if len(rows) > 0 {
		t.linef("uses %s", term.Count(len(rows)+a.More["uses"], "file"))
	}
	if a.Symbol == "" {
		t.ambiguous()
	}
	var cells [][]string
	for _, row := range rows {
		names := symbolsOf(row.exact)
		if len(row.likely) > 0 {
			names = strings.TrimPrefix(names+"; likely "+symbolsOf(row.likely), "; ")
		}
		cells = append(cells, []string{row.path.Path, names, row.marks()})
	}
	t.rows("  ", cells)
	t.more("uses", "file")
}

// tests prints the tests by the command that runs them.
func (t *usesPrinter) tests() {
	a := t.answer
	if len(a.Tests) > 0 {
		t.linef("tests")
	}
	var cells [][]string
	for i, test := range a.Tests {
		command := test.Command
		if command == "" {
			command = "command unknown"
		} else if i > 0 && command == a.Tests[i-1].Command {
			command = ""
		}
		what := place(test.PathJSON, test.Lines, 0)
		if strings.HasSuffix(command, " "+test.Path) {
			what = strings.TrimPrefix(what, test.Path)
		}
		if test.How == "named" {
			what += " (named for it)"
		}
		if test.Note != "" {
			what += " (" + test.Note + ")"
		}
		cells = append(cells, []string{command, what})
	}
	t.rows("  ", cells)
	t.more("tests", "test file")
	if n := a.ReachedByTests; n == 1 {
		t.linef("1 more test file reaches it through other files")
	} else if n > 1 {
		t.linef("%d more test files reach it through other files", n)
	}
}

func (t *usesPrinter) changes() {
	a := t.answer
	if len(a.ChangesWith) > 0 {
		what := "changes with"
		if a.Symbol != "" {
			what = "its file changes with"
		}
		t.linef("%s (%s since %s)", what, term.Count(a.Commits.Count, "commit"), a.Commits.Since)
		var rows [][]string
		for _, c := range a.ChangesWith {
			rows = append(rows, []string{c.Path, fmt.Sprintf("%d of %d", c.Together, c.Of)})
		}
		t.rows("  ", rows)
	}
	if len(a.SameBytes) > 0 {
		t.linef("same bytes")
		for _, p := range a.SameBytes {
			t.linef("  %s", p.Path)
		}
		t.more("same_bytes", "file")
	}
}

func (t *usesPrinter) mentions() {
	a := t.answer
	if len(a.Mentions) == 0 {
		return
	}
	if a.Symbol != "" {
		t.linef("likely: the same name in text or in another spelling")
	} else {
		t.linef("mentioned in")
	}
	var rows [][]string
	for _, m := range a.Mentions {
		mark := ""
		if m.Generated {
			mark = "generated"
		}
		rows = append(rows, []string{place(m.PathJSON, m.Lines, m.More), m.Text, mark})
	}
	t.rows("  ", rows)
	t.more("mentions", "file")
}

// ambiguous counts the uses that the list above or below leaves out: of the asked symbol, or in the
// asked file.
func (t *usesPrinter) ambiguous() {
	a := t.answer
	switch {
	case a.Ambiguous == 0:
	case a.Symbol == "" && a.Ambiguous == 1:
		t.linef("1 more use in this file is ambiguous: several declarations have that name")
	case a.Symbol == "":
		t.linef("%d more uses in this file are ambiguous: several declarations have those names", a.Ambiguous)
	case a.Ambiguous == 1:
		t.linef("1 more use is ambiguous: other declarations have the same name")
	default:
		t.linef("%d more uses are ambiguous: other declarations have the same name", a.Ambiguous)
	}
}
