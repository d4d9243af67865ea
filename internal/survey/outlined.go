package survey

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
)

// outlineVersion changes with what an Outliner writes.
const outlineVersion = "4"

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
	fileBytes   = 200 // of what is said of each
	fileSymbols = 6   // symbols named of a file that says nothing of itself
	childLines  = 40  // children that are told of
	childBytes  = 160
	gistBytes   = 240 // of the line that stands for a directory without own words
)

// Write describes a directory by its outline: its own words, then what its main files and
// its subdirectories say. It leaves out what a listing of the directory shows, such as the
// names and numbers of files. The text is [store.EmptyOutline] if nothing else is left.
func (Outliner) Write(_ context.Context, it *Item) (Draft, error) {
	w := &sketch{Item: it, docs: make(map[*ItemFile]string)}
	w.readDocs()
	var b strings.Builder
	lead := it.Own.Text
	var main *Child
	if lead == "" {
		lead, main = w.leadsTo()
	}
	if lead != "" {
		fmt.Fprintf(&b, "%s\n", lead)
	}
	w.writeFiles(&b)
	w.writeChildren(&b, lead, main)
	text := clean(b.String())
	if text == "" {
		text = store.EmptyOutline
	}
	return Draft{Text: text, Partial: it.Absent > 0}, nil
}

// Gist returns the line that stands for a text about a directory where others quote it: its
// first line. An outline without own words has only items; then it is the first of them.
func Gist(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, itemMark) {
		return first
	}
	var sentences, names, lesser []string
	for line := range strings.SplitSeq(text, "\n") {
		item, ok := strings.CutPrefix(line, itemMark)
		if !ok || strings.Contains(item, leftOut) || strings.Contains(item, notDescribed) {
			continue
		}
		item, _, _ = strings.Cut(item, "; ") // an item may be a list itself, or name more symbols
		item = strings.TrimSuffix(strings.Replace(item, "/: ", ": ", 1), ".")
		name, _, _ := strings.Cut(item, ": ")
		switch {
		case dirPriority(name) >= promiseTests:
			lesser = append(lesser, item)
		case strings.Contains(item, ": "+defines):
			names = append(names, item)
		default:
			sentences = append(sentences, item)
		}
	}
	if len(sentences) == 0 {
		sentences = names
	}
	if len(sentences) == 0 {
		sentences = lesser
	}
	line := ""
	for _, item := range sentences {
		if line != "" && len(line)+len(item) > gistBytes {
			break
		}
		if line != "" {
			line += "; "
		}
		line += item
	}
	return ended(cut(line, gistBytes))
}

const (
	itemMark     = "- "
	leftOut      = "/: left out by policy ("
	notDescribed = "/: not yet investigated ("
	leads        = "Leads to "
	defines      = "defines "
	also         = "; also "
)

// A sketch is the outline of a directory in the making.
type sketch struct {
	*Item
	docs map[*ItemFile]string // what files say of themselves, where that tells something
}

// readDocs collects what the files say of themselves. What several say in the same words is
// about none of them: a licence, or a mark of the house.
func (w *sketch) readDocs() {
	repeated := w.repeatedDocs()
	for i := range w.Files {
		f := &w.Files[i]
		if f.Outline == nil || f.Path.Base() == w.Own.From || f.Outline.Language == outline.Markdown {
			continue
		}
		text := tidy(f.Outline.Doc)
		if telling(text) && !placeholder(text) && !repeated[text] && !aboutPackage(f, text) {
			w.docs[f] = text
		}
	}
}

// aboutPackage reports whether the comment of a file speaks of its package.
func aboutPackage(f *ItemFile, text string) bool {
	low := strings.ToLower(text)
	return f.packaged() && (strings.HasPrefix(low, "package ") || strings.HasPrefix(low, "command "))
}

// leadsTo returns a line about a directory that only leads to another one, which it returns
// too; "" for any other directory.
func (w *sketch) leadsTo() (string, *Child) {
	main := w.main()
	if main == nil || !w.plain() {
		return "", nil
	}
	name := repo.Path(main.Path.Base()).String() + "/"
	line := Gist(main.Text)
	if below, ok := strings.CutPrefix(line, leads); ok {
		return cut(leads+name+below, leadBytes), main
	}
	return cut(leads+name+": "+line, leadBytes), main
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
// few such as tests and docs. It is nil when there is none.
func (w *sketch) main() *Child {
	var list []*Child
	for i := range w.Children {
		if c := &w.Children[i]; c.Status != ChildExcluded {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *Child) int { return cmp.Compare(dirPriority(a.Path.Base()), dirPriority(b.Path.Base())) })
	if len(list) == 0 || len(list) > mainOf || Gist(list[0].Text) == "" {
		return nil
	}
	if len(list) > 1 {
		first, second := dirPriority(list[0].Path.Base()), dirPriority(list[1].Path.Base())
		if first > promiseCommon || second <= promiseCommon || dirPriority(w.Path.Base()) == promiseTests {
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

var unjoined = strings.NewReplacer("-", "", "_", "", " ", "")

// aside reports whether a file belongs to the house and tells nothing about what is
// done in it.
func aside(f *ItemFile) bool {
	name := strings.ToLower(f.Path.Base())
	stem, _, _ := strings.Cut(name, ".")
	stem = unjoined.Replace(stem)
	for _, p := range [...]string{
		"readme", "license", "adopters", "emeritus", "owners", "licence", "copying", "notice", "patents", "authors", "contributors", "maintainers", "changelog", "changes", "history",
		"releasenotes", "releasing", "codeofconduct", "contributing", "security", "support", "governance", "backers", "sponsors", "codeowners",
		"funding", "pullrequesttemplate", "issuetemplate", "dependabot", "unlicense", "thirdparty",
	} {
		if strings.HasPrefix(stem, p) && f.Kind != repo.KindSource && f.Kind != repo.KindTest {
			return true
		}
	}
	template := strings.Contains(strings.ToLower(string(f.Path)), "issue_template/")
	return name[0] == '.' || template || stem == "news" && f.Kind == repo.KindDoc
}

// builds reports whether a file says how the directory is built or installed.
func builds(f *ItemFile) bool {
	name := strings.ToLower(f.Path.Base())
	switch name {
	case "package.json", "composer.json", "cargo.toml", "go.mod", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pom.xml",
		"build.gradle", "build.gradle.kts", "cmakelists.txt", "makefile", "gnumakefile", "configure.ac", "meson.build", "module-info.java", "gemfile", "rakefile",
		"dockerfile", "justfile", "conf.py", "build.bazel", "build", "build.zig", "build.rs", "build.sbt", "mix.exs", "tox.ini", "pnpm-workspace.yaml", "deno.json":
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

// mainFiles returns the files that say something, the most important first: where readers
// begin, then those that declare most.
func (w *sketch) mainFiles() []*ItemFile {
	var list []*ItemFile
	for i := range w.Files {
		f := &w.Files[i]
		if f.Kind != repo.KindTest && !aside(f) && !builds(f) && w.line(f) != "" {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(x, y *ItemFile) int {
		return cmp.Or(cmp.Compare(w.entry(y), w.entry(x)), cmp.Compare(y.weight(), x.weight()))
	})
	return list
}

// entry is 1 for a file where readers begin, else 0.
func (w *sketch) entry(f *ItemFile) int {
	if w.moduleRank(f) > modulePart {
		return 1
	}
	return 0
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

// writeFiles tells of the main files.
func (w *sketch) writeFiles(b *strings.Builder) {
	list := w.mainFiles()
	for _, f := range list[:min(len(list), fileLines)] {
		fmt.Fprintf(b, "%s%s: %s\n", itemMark, repo.Path(f.Path.Base()), cut(w.line(f), fileBytes))
	}
}

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

// line is what a file says of itself, else what its main symbol is and which others it
// defines. It is "" if there is nothing to say that the name of the file does not.
func (w *sketch) line(f *ItemFile) string {
	if text := w.docs[f]; text != "" {
		return text
	}
	if f.Outline != nil && f.Outline.Language == outline.Markdown {
		return f.document()
	}
	list := f.symbols()
	for _, public := range []bool{true, false} {
		var some []*outline.Symbol
		for i := range list {
			if s := &list[i]; s.Exported == public && !ancillary(s.Name) {
				some = append(some, s)
			}
		}
		isMethod := func(s *outline.Symbol) bool { return s.Kind == outline.Method }
		if rest := slices.DeleteFunc(slices.Clone(some), isMethod); len(rest) > 0 {
			some = rest
		}
		if len(some) > 0 {
			return f.about(some, public)
		}
	}
	return ""
}

// document is the title of a document, and the first sentence below it.
func (f *ItemFile) document() string {
	title, doc := "", tidy(f.Outline.Doc)
	if list := f.Outline.Symbols; len(list) > 0 && list[0].Depth == 0 {
		title, doc = tidy(list[0].Name), tidy(list[0].Doc)
	}
	if f.calls(title) || !strings.Contains(title, " ") {
		title = "" // it says no more than the name of the file
	}
	if !telling(doc) || placeholder(doc) {
		return title
	}
	if title == "" {
		return doc
	}
	return title + ": " + doc
}

// about tells of a file by its symbols: the doc of the main one, and the names of others.
// Names that only repeat the name of the file say nothing.
func (f *ItemFile) about(list []*outline.Symbol, public bool) string {
	names := namesOf(list)
	main := f.mainSymbol(list)
	if main == nil {
		if len(names) == 0 || !public && len(names) == 1 {
			return ""
		}
		if len(names) == 1 && f.calls(names[0]) {
			return f.parts(list)
		}
		return defines + enumerate(names, fileSymbols)
	}
	doc := strings.TrimRight(tidy(main.Doc), ".")
	name := clean(main.Name)
	if !strings.HasPrefix(doc, name) {
		doc = name + ": " + doc
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	if len(names) == 0 {
		return doc
	}
	return doc + also + enumerate(names, fileSymbols-1)
}

// mainSymbol returns the symbol whose doc tells most about the file: one of the file's name,
// else the largest type with a doc, else the largest function with one. It is nil for none.
func (f *ItemFile) mainSymbol(list []*outline.Symbol) *outline.Symbol {
	var best *outline.Symbol
	for _, s := range list {
		doc := tidy(s.Doc)
		if s.Doc == "" && prominence(s) == 0 && f.calls(s.Name) {
			return nil // the file is about this one
		}
		if !telling(doc) || placeholder(doc) || prominence(s) > 1 {
			continue
		}
		if best == nil || f.before(s, best) {
			best = s
		}
	}
	return best
}

// before reports whether one symbol tells more about the file than another.
func (f *ItemFile) before(a, b *outline.Symbol) bool {
	return cmp.Or(
		compareBool(f.calls(a.Name), f.calls(b.Name)),
		cmp.Compare(prominence(a), prominence(b)),
		-compareBool(isHelper(a.Name), isHelper(b.Name)),
	) < 0
}

// compareBool puts true before false.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// isHelper reports whether the name is of a type that others are made with: an error, or
// options.
func isHelper(name string) bool {
	for _, end := range [...]string{"Error", "Exception", "Warning", "Mixin", "Options", "Props", "Params", "Opts", "Err"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// calls reports whether a symbol has the name of the file.
func (f *ItemFile) calls(name string) bool {
	stem, _, _ := strings.Cut(f.Path.Base(), ".")
	return strings.EqualFold(unjoined.Replace(stem), unjoined.Replace(name))
}

// parts names what belongs to the one symbol of a file.
func (f *ItemFile) parts(list []*outline.Symbol) string {
	var parts []*outline.Symbol
	for i := range f.Outline.Symbols {
		if s := &f.Outline.Symbols[i]; s.Depth > list[0].Depth && s.Exported && !f.calls(s.Name) && prominence(s) < 2 {
			parts = append(parts, s)
		}
	}
	if names := namesOf(parts); len(names) > 0 {
		return "has " + enumerate(names, fileSymbols)
	}
	return ""
}

// namesOf returns the names of symbols, each once: types before functions, errors and options
// last, else in the order of the file. The size of a symbol does not count: an edit of a body
// must leave the outline as it is. What is neither type nor function is named only where there
// is nothing else.
func namesOf(list []*outline.Symbol) []string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *outline.Symbol) int {
		return cmp.Or(-compareBool(isHelper(a.Name), isHelper(b.Name)), cmp.Compare(prominence(a), prominence(b)))
	})
	var names []string
	for _, most := range []int{1, 2} {
		for _, s := range list {
			name := clean(s.Name)
			if prominence(s) <= most && name != "" && !ancillary(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return names
		}
	}
	return nil
}

// ancillary reports whether a name says nothing about what it is the name of.
func ancillary(name string) bool {
	switch name {
	case "tests", "default", "constructor", "initialize", "__init__", "__construct", "__all__", "module.exports", "new", "main", "usage":
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

// writeChildren quotes each child that says something, but the one that the directory leads
// to, and those that say the same as the directory.
func (w *sketch) writeChildren(b *strings.Builder, lead string, main *Child) {
	list := w.inOrder()
	for _, c := range list[:min(len(list), childLines)] {
		if main != nil && c.Path == main.Path {
			continue
		}
		name := repo.Path(c.Path.Base())
		switch c.Status {
		case ChildExcluded:
			fmt.Fprintf(b, "%s%s%s%s)\n", itemMark, name, leftOut, c.Reason)
		case ChildSummary, ChildStale:
			line := Gist(c.Text)
			if line == "" || line == lead {
				continue
			}
			mark := ""
			if c.Status == ChildStale {
				mark = "(stale) "
			}
			fmt.Fprintf(b, "%s%s/: %s%s\n", itemMark, name, mark, cut(sentenceOf(line), childBytes))
		default:
			fmt.Fprintf(b, "%s%s%s%s)\n", itemMark, name, notDescribed, c.Reason)
		}
	}
}
