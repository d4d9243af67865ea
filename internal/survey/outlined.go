package survey

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
)

// outlineVersion changes with what an Outliner writes.
const outlineVersion = "3"

// An Outliner writes without a model or an agent: what a directory's files and children say of
// themselves, in a few lines. It is the same whenever they are the same.
type Outliner struct{}

// Author says that nobody wrote it.
func (Outliner) Author() string { return "ken outline" }

// Recipe says how it was made.
func (Outliner) Recipe() string { return store.OutlineRecipe + outlineVersion }

// How much an outline tells.
const (
	leadBytes   = 400 // of what the directory says of itself
	fileLines   = 16  // files that are told of
	fileBytes   = 160 // of what is said of each
	fileSymbols = 6   // symbols named of a file that says nothing of itself
	childLines  = 40  // children that are told of
	childBytes  = 160
	gistNames   = 8 // names that stand for a directory that says nothing of itself
	censusSorts = 5 // sorts of files that are counted each for itself
	asideNames  = 12
)

// Write describes a directory by its outline. The first line is the one that the
// directory above will quote.
func (Outliner) Write(_ context.Context, it *Item) (Draft, error) {
	w := &sketch{Item: it, docs: make(map[*ItemFile]string)}
	w.listen()
	var b strings.Builder
	lead, from := w.lead()
	switch census := w.census(); {
	case lead == "":
		text, told := w.gist(census)
		fmt.Fprintf(&b, "%s\n", text)
		from = told
	case w.code():
		fmt.Fprintf(&b, "%s\n%s.\n", lead, census)
	default:
		fmt.Fprintf(&b, "%s\n", lead)
	}
	w.writeFiles(&b, from)
	w.writeChildren(&b, lead)
	return Draft{Text: clean(b.String()), Partial: it.Absent > 0}, nil
}

// A sketch is the outline of a directory in the making.
type sketch struct {
	*Item
	docs map[*ItemFile]string // what files say of themselves, where that tells something
}

// listen hears what the files say. What several say in the same words is about none of
// them: a licence, or a mark of the house.
func (w *sketch) listen() {
	said := make(map[string]int)
	for i := range w.Files {
		f := &w.Files[i]
		if f.Outline == nil {
			continue
		}
		text := tidy(f.Outline.Doc)
		if isReadme(f.Path.Base()) {
			text = readmeLead(f.Outline)
		}
		if telling(text) {
			w.docs[f] = text
			said[text]++
		}
	}
	maps.DeleteFunc(w.docs, func(f *ItemFile, text string) bool {
		return said[text] > 1 && !f.packaged() && !isReadme(f.Path.Base())
	})
}

// How the line begins of a directory that only leads to another, and how a census does.
const (
	leads = "Leads to "
	holds = "Holds "
)

// gist says in one line what is in a directory that says nothing of itself: how many
// files of what sort, what the weightiest of them are called, and what lies below; of
// one file alone, which it returns, what there is to say of that.
func (w *sketch) gist(census string) (text string, told *ItemFile) {
	main := w.main()
	if main != nil && w.plain() {
		name := repo.Path(main.Path.Base()).String() + "/"
		line, _, _ := strings.Cut(main.Text, "\n")
		if below, ok := strings.CutPrefix(line, leads); ok {
			return cut(leads+name+below, leadBytes), nil
		}
		return cut(leads+name+": "+line, leadBytes), nil
	}
	var below []string
	for _, c := range w.inOrder() {
		if c.Status != ChildExcluded {
			below = append(below, repo.Path(c.Path.Base()).String()+"/")
		}
	}
	names, named := w.names()
	if len(names) == 1 && len(below) == 0 && len(w.Files) == 1 {
		if line := w.line(&w.Files[0]); line != "" {
			return ended(cut(repo.Path(w.Files[0].Path.Base()).String()+": "+line, leadBytes)), &w.Files[0]
		}
	}
	if len(below) > 0 && w.plain() {
		census, names = "", nil
	}
	text = census
	if text == "" {
		text = fmt.Sprintf("Holds %d directories", len(below))
		if len(below) == 1 {
			text = "Holds one directory"
		}
	}
	if len(names) > 0 {
		text += w.call(names, named)
	}
	switch {
	case main != nil && len(names) <= 1:
		line, _, _ := strings.Cut(main.Text, "\n")
		text += fmt.Sprintf("; below it %s/: %s", repo.Path(main.Path.Base()), line)
		return cut(text, leadBytes), nil
	case len(below) > 0:
		link := ": "
		if census != "" {
			link = "; below it "
		}
		text += link + enumerate(below, gistNames)
	}
	return ended(cut(text, leadBytes)), nil
}

// call names the files behind their census, some of them if there are more: the figures
// there are of all, and a name may stand for several.
func (w *sketch) call(names []string, named int) string {
	if _, total := w.sorts(); len(names) <= gistNames+1 && named == total {
		return ": " + strings.Join(names, ", ")
	}
	return ", among them " + strings.Join(names[:min(len(names), gistNames)], ", ")
}

// ended puts a full stop behind what does not end in one.
func ended(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") || strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}

// plain reports whether the files, if there are any, are all there to keep the house in order.
func (w *sketch) plain() bool {
	return !slices.ContainsFunc(w.Files, func(f ItemFile) bool { return f.Kind != repo.KindConfig && !aside(&f) && !builds(&f) })
}

// mainOf is of how many children one may be what the directory is about.
const mainOf = 4

// main is the child that a directory is about: the only one, or the only one beside a
// few of lesser promise. It is nil when there is none.
func (w *sketch) main() *Child {
	var list []*Child
	for i := range w.Children {
		if c := &w.Children[i]; c.Status != ChildExcluded {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *Child) int { return cmp.Compare(dirPriority(a.Path.Base()), dirPriority(b.Path.Base())) })
	if len(list) == 0 || len(list) > mainOf || list[0].Text == "" {
		return nil
	}
	if len(list) > 1 {
		first, second := dirPriority(list[0].Path.Base()), dirPriority(list[1].Path.Base())
		if first > promiseCommon || second == first || dirPriority(w.Path.Base()) == promiseTests {
			return nil
		}
	}
	return list[0]
}

// enumerate lists names, and counts those that are too many.
func enumerate(names []string, most int) string {
	if len(names) <= most+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// names returns what the files are called, the weightiest first, without what says
// their sort, and of how many files these are the names.
func (w *sketch) names() (names []string, files int) {
	weighty := w.weighty()
	var rest, house []*ItemFile
	for i := range w.Files {
		switch f := &w.Files[i]; {
		case slices.Contains(weighty, f):
		case aside(f) || builds(f):
			house = append(house, f)
		default:
			rest = append(rest, f)
		}
	}
	if len(weighty)+len(rest) == 0 && len(w.Children) == 0 {
		rest = house
	}
	if w.code() { // what else lies there is not what it is for
		rest = slices.DeleteFunc(rest, func(f *ItemFile) bool { return f.Kind != repo.KindSource && f.Kind != repo.KindTest })
	}
	list := append(weighty, rest...)
	if names = called(list, true); len(names) > gistNames+1 {
		names = called(list, false)
	}
	files = len(list)
	if len(names) > 1 { // what marks a package is there in each
		marks := func(name string) bool { return name == "__init__" }
		if slices.ContainsFunc(names, marks) {
			names, files = slices.DeleteFunc(names, marks), files-1
		}
	}
	return names, files
}

// called returns what files are called, each name once. If apart is set, files of one
// kind that share a beginning are told apart, as guide.v1.md and guide.v2.md are, and
// guide.h and guide.c are not.
func called(files []*ItemFile, apart bool) []string {
	type beginning struct {
		kind repo.Kind
		stem string
	}
	shared := make(map[beginning]int)
	for _, f := range files {
		shared[beginning{f.Kind, f.stem()}]++
	}
	var names []string
	for _, f := range files {
		name := f.stem()
		if apart && shared[beginning{f.Kind, name}] > 1 {
			name = strings.TrimSuffix(f.Path.Base(), path.Ext(f.Path.Base()))
		}
		if name = repo.Path(name).String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// stem is what the file is called without what says its sort.
func (f *ItemFile) stem() string {
	base := f.Path.Base()
	if i := strings.IndexByte(base, '.'); i > 0 && f.Kind != repo.KindConfig {
		return base[:i]
	}
	return base
}

var unjoined = strings.NewReplacer("-", "", "_", "")

// aside reports whether a file belongs to the house and tells nothing about what is
// done in it.
func aside(f *ItemFile) bool {
	name := strings.ToLower(f.Path.Base())
	stem, _, _ := strings.Cut(name, ".")
	stem = unjoined.Replace(stem)
	for _, p := range [...]string{
		"readme", "license", "licence", "copying", "notice", "patents", "authors", "contributors", "maintainers", "changelog", "changes", "history",
		"releasenotes", "releasing", "codeofconduct", "contributing", "security", "support", "governance", "backers", "sponsors", "codeowners",
		"funding", "pullrequesttemplate", "issuetemplate", "dependabot", "unlicense", "thirdparty",
	} {
		if strings.HasPrefix(stem, p) && f.Kind != repo.KindSource && f.Kind != repo.KindTest {
			return true
		}
	}
	return name[0] == '.' || stem == "news" && f.Kind == repo.KindDoc
}

// builds reports whether a file says how the directory is built or installed.
func builds(f *ItemFile) bool {
	name := strings.ToLower(f.Path.Base())
	switch name {
	case "package.json", "composer.json", "cargo.toml", "go.mod", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pom.xml",
		"build.gradle", "build.gradle.kts", "cmakelists.txt", "makefile", "gnumakefile", "configure.ac", "meson.build", "module-info.java", "gemfile", "rakefile",
		"dockerfile", "justfile", "build.bazel", "build", "build.zig", "build.rs", "build.sbt", "mix.exs", "tox.ini", "pnpm-workspace.yaml", "deno.json":
		return true
	}
	if strings.Contains(name, ".config.") || strings.HasSuffix(name, ".gradle.kts") {
		return true
	}
	switch path.Ext(name) {
	case ".gradle", ".gemspec", ".sln", ".slnx", ".csproj", ".fsproj", ".cabal":
		return true
	}
	return false
}

// code reports whether the directory is one of source: at least as much of that lies in
// it as of all else.
func (w *sketch) code() bool {
	n, some := 0, false
	for i := range w.Files {
		switch f := &w.Files[i]; {
		case f.Outline != nil && (f.Kind == repo.KindSource || f.Kind == repo.KindTest) && !builds(f):
			n, some = n+1, true
		case !aside(f) && !builds(f):
			n--
		}
	}
	return n >= 0 && some
}

// weighty returns the files that say something, those that declare most first.
func (w *sketch) weighty() []*ItemFile {
	var list []*ItemFile
	for i := range w.Files {
		if f := &w.Files[i]; f.Kind != repo.KindTest && !aside(f) && !builds(f) && w.line(f) != "" {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(x, y *ItemFile) int { return cmp.Compare(y.weight(), x.weight()) })
	return list
}

// weight is how much a file declares; what others may use counts double.
func (f *ItemFile) weight() int {
	n := 0
	if f.Outline == nil {
		return 0
	}
	for _, s := range f.Outline.Symbols {
		n++
		if s.Exported {
			n++
		}
	}
	return n
}

// sorts counts the files by language and kind: the code where there is some, else
// all.
func (w *sketch) sorts() (counts map[string]int, total int) {
	counts = make(map[string]int)
	code := w.code()
	for i := range w.Files {
		f := &w.Files[i]
		ours := f.Kind == repo.KindSource || f.Kind == repo.KindTest
		if code && (!ours || builds(f)) {
			continue
		}
		what := f.Kind.String()
		switch {
		case f.Outline != nil && ours:
			what = string(f.Outline.Language)
			if f.Kind == repo.KindTest {
				what += " test"
			}
		case f.Kind == repo.KindSource:
			if ext := strings.ToLower(path.Ext(f.Path.Base())); len(ext) > 1 && len(ext) < 10 {
				what = repo.Path(ext).String()
			}
		}
		counts[what]++
		total++
	}
	return counts, total
}

// census says how many files there are of what sort, and of the rarest how many in all.
func (w *sketch) census() string {
	counts, total := w.sorts()
	if total == 0 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	left := total
	for _, n := range names[:min(len(names), censusSorts)] {
		parts = append(parts, fmt.Sprintf("%d %s", counts[n], n))
		left -= counts[n]
	}
	text := strings.Join(parts, ", ")
	if left > 0 {
		text += fmt.Sprintf(" and %d other", left)
	}
	noun := " files"
	if total == 1 {
		noun = " file"
	}
	return holds + text + noun
}

// writeFiles tells of the files that say most, in the order of their names, and names
// those by which the directory is built and those that are of the house.
func (w *sketch) writeFiles(b *strings.Builder, spoken *ItemFile) {
	list := slices.DeleteFunc(w.weighty(), func(f *ItemFile) bool { return f == spoken })
	left := max(0, len(list)-fileLines)
	list = list[:len(list)-left]
	slices.SortFunc(list, func(x, y *ItemFile) int { return cmp.Compare(x.Path, y.Path) })
	for _, f := range list {
		fmt.Fprintf(b, "- %s: %s\n", repo.Path(f.Path.Base()), cut(w.line(f), fileBytes))
	}
	if left > 0 {
		fmt.Fprintf(b, "- and %d more\n", left)
	}
	var built, house []string
	for i := range w.Files {
		f := &w.Files[i]
		switch base := f.Path.Base(); {
		case f == spoken || isReadme(base) || base[0] == '.':
		case builds(f):
			built = append(built, repo.Path(base).String())
		case aside(f):
			house = append(house, repo.Path(base).String())
		}
	}
	if len(built) > 0 {
		fmt.Fprintf(b, "- built by: %s\n", enumerate(built, asideNames))
	}
	if len(house) > 0 {
		fmt.Fprintf(b, "- also: %s\n", enumerate(house, asideNames))
	}
}

// packaged reports whether the file is one of several that make a package, so that
// what it says is said of all of them.
func (f *ItemFile) packaged() bool { return f.Outline != nil && f.Outline.Language == outline.Go }

// symbols returns what the file declares at its top. Where that is nothing but the
// namespace that all of it lies in, or a title, it is what lies in there.
func (f *ItemFile) symbols() []outline.Symbol {
	if f.Outline == nil {
		return nil
	}
	var above []outline.Symbol // the level above, unless that is a title
	for depth := range outline.MaxDepth + 1 {
		var level []outline.Symbol
		for _, s := range f.Outline.Symbols {
			if s.Depth == depth {
				level = append(level, s)
			}
		}
		if len(level) == 0 {
			return above
		}
		title := len(level) == 1 && level[0].Kind == outline.Heading
		if above = nil; !title {
			above = level
		}
		if !title && slices.ContainsFunc(level, func(s outline.Symbol) bool { return s.Kind != outline.Module }) {
			return level
		}
	}
	return nil
}

// line is what a file says of itself, else what is said of the one type that it is
// about, else what it defines.
func (w *sketch) line(f *ItemFile) string {
	if text := w.docs[f]; text != "" && !f.packaged() {
		return text
	}
	list := f.symbols()
	for _, public := range []bool{true, false} {
		var types, others []*outline.Symbol
		for i := range list {
			s := &list[i]
			switch {
			case s.Exported != public || ancillary(s.Name):
			case prominence(s) == 0:
				types = append(types, s)
			default:
				others = append(others, s)
			}
		}
		switch {
		case len(types)+len(others) == 0:
		case len(types) == 1:
			return f.about(types[0], others)
		default:
			return enumerate(namesOf(append(types, others...)), fileSymbols)
		}
	}
	return ""
}

// about is what to say of a file with one type: its doc, or what belongs to it. That
// its name is the file's goes without saying.
func (f *ItemFile) about(t *outline.Symbol, others []*outline.Symbol) string {
	stem, _, _ := strings.Cut(f.Path.Base(), ".")
	same := strings.EqualFold(unjoined.Replace(stem), t.Name)
	name := clean(t.Name)
	switch doc := tidy(t.Doc); {
	case telling(doc) && (same || strings.Contains(doc, t.Name)):
		return doc
	case telling(doc):
		return name + ": " + doc
	case len(others) > 0:
		return enumerate(namesOf(append([]*outline.Symbol{t}, others...)), fileSymbols)
	}
	var parts []*outline.Symbol
	for i := range f.Outline.Symbols {
		if s := &f.Outline.Symbols[i]; s.Depth > t.Depth && s.Exported && s.Name != t.Name && prominence(s) < 2 {
			parts = append(parts, s)
		}
	}
	switch names := namesOf(parts); {
	case len(names) > 0 && same:
		return "has " + enumerate(names, fileSymbols)
	case len(names) > 0:
		return name + " with " + enumerate(names, fileSymbols)
	default:
		return name
	}
}

// namesOf returns the names of symbols, each once, the most prominent first. What
// belongs to none of the first sorts is named only where there is nothing else.
func namesOf(list []*outline.Symbol) []string {
	var names []string
	for rank := range 3 {
		if rank == 2 && len(names) > 0 {
			break
		}
		for _, s := range list {
			if name := clean(s.Name); prominence(s) == rank && name != "" && !slices.Contains(names, name) && !ancillary(name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// ancillary reports whether a name says nothing about what it is the name of.
func ancillary(name string) bool {
	switch name {
	case "tests", "default", "constructor", "initialize", "__init__", "__construct", "__all__", "module.exports", "new":
		return true
	}
	return len(name) < 2 || name[0] == '~' || strings.Contains(name, "<") || strings.HasPrefix(name, "operator")
}

// prominence says which symbols a file is known by: its types, then its functions, then
// the rest.
func prominence(s *outline.Symbol) int {
	switch s.Kind {
	case outline.Class, outline.Struct, outline.Interface, outline.Trait, outline.Type, outline.Enum, outline.Union, outline.Heading:
		return 0
	case outline.Func, outline.Method, outline.Module:
		if strings.HasPrefix(s.Name, "_") {
			return 2
		}
		return 1
	case outline.Impl:
		return 3
	default:
		return 2
	}
}

// inOrder returns the children, those first that promise most.
func (it *Item) inOrder() []Child {
	list := slices.Clone(it.Children)
	rank := func(c Child) int {
		if c.Status == ChildExcluded {
			return promiseNone
		}
		return dirPriority(c.Path.Base())
	}
	slices.SortStableFunc(list, func(a, b Child) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// unsaid is what to quote of a text whose first line has been said: the census behind it,
// else what stands for it.
func unsaid(rest, instead string) string {
	if line, _, _ := strings.Cut(rest, "\n"); strings.HasPrefix(line, holds) {
		return line
	}
	return instead
}

// writeChildren gives each child the first sentence of its text.
func (w *sketch) writeChildren(b *strings.Builder, lead string) {
	left := 0
	for i, c := range w.inOrder() {
		if i >= childLines {
			left++
			continue
		}
		name := repo.Path(c.Path.Base())
		switch c.Status {
		case ChildExcluded:
			fmt.Fprintf(b, "- %s/: left out by policy (%s)\n", name, c.Reason)
		case ChildSummary, ChildStale:
			line, more, _ := strings.Cut(c.Text, "\n")
			if line == lead { // the same words need not be said twice
				line = unsaid(more, "as said above")
			}
			mark := ""
			if c.Status == ChildStale {
				mark = "(stale) "
			}
			fmt.Fprintf(b, "- %s/: %s%s\n", name, mark, cut(sentenceOf(line), childBytes))
		default:
			fmt.Fprintf(b, "- %s/: not yet investigated (%s)\n", name, c.Reason)
		}
	}
	if left > 0 {
		fmt.Fprintf(b, "- and %d more directories\n", left)
	}
}
