package describe

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
	"ken/internal/survey/excerpt"
	"ken/internal/workspace"
)

// outlineVersion changes when the text of outlines changes.
const outlineVersion = "4"

// An Outliner writes outlines, without a model or an agent. An outline quotes the descriptions in the files and
// subdirectories. The same input gives the same outline.
type Outliner struct{}

// Author returns the author of all outlines.
func (Outliner) Author() string { return "ken outline" }

// Recipe returns the recipe with the version of the outliner.
func (Outliner) Recipe() string { return store.OutlineRecipe + outlineVersion }

// The limits of an outline.
const (
	leadBytes     = 400 // of the own words of the directory
	fileLines     = 16  // number of files
	fileBytes     = 200 // of the line of each
	fileSymbols   = 6   // symbols of a file without a description
	childLines    = 40  // number of children
	childBytes    = 160
	headlineBytes = 240 // of Headline for a directory without own words
)

// Write outlines a directory: its own words, then a line for each main file and each subdirectory. It leaves out
// facts that a listing of the directory shows, such as the names and numbers of files. The text is
// [store.EmptyOutline] if nothing else is left.
func (Outliner) Write(_ context.Context, it *Item) (Draft, error) {
	w := &outlineBuilder{Item: it, docs: make(map[*ItemFile]string)}
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
	text := excerpt.Clean(b.String())
	if text == "" {
		text = store.EmptyOutline
	}
	return Draft{Text: text, Partial: it.Absent > 0}, nil
}

// Headline returns one line of a text about a directory, for quoting: its first line. An outline without own words has
// only items; then Headline joins the first of them.
func Headline(text string) string {
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
		case dirPriority(name) >= priorityTests:
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
		if line != "" && len(line)+len(item) > headlineBytes {
			break
		}
		if line != "" {
			line += "; "
		}
		line += item
	}
	return withFullStop(excerpt.Cut(line, headlineBytes))
}

// FileLine returns a line about a file from its outline: its description, else its main symbols. It is "" if
// nothing but the file name is known.
func FileLine(f *workspace.File, o *outline.Outline) string {
	it := &Item{Path: f.Path.Dir(), Files: []ItemFile{{File: f, Outline: o}}}
	w := &outlineBuilder{Item: it, docs: make(map[*ItemFile]string)}
	w.readDocs()
	return w.line(&it.Files[0])
}

const (
	itemMark     = "- "
	leftOut      = "/: left out by policy ("
	notDescribed = "/: not yet investigated ("
	leads        = "Leads to "
	defines      = "defines "
	also         = "; also "
)

// An outlineBuilder builds the outline of a directory.
type outlineBuilder struct {
	*Item
	docs map[*ItemFile]string // informative descriptions in files
}

// readDocs collects the descriptions in the files. It ignores a text that several files have, such as a licence,
// because it is about none of them.
func (w *outlineBuilder) readDocs() {
	repeated := w.repeatedDocs()
	for i := range w.Files {
		f := &w.Files[i]
		if f.Outline == nil || f.Path.Base() == w.Own.From || f.Outline.Language == outline.Markdown {
			continue
		}
		text := excerpt.Tidy(f.Outline.Doc)
		if excerpt.IsInformative(text) && !excerpt.IsPlaceholder(text) && !repeated[text] && !aboutPackage(f, text) {
			w.docs[f] = text
		}
	}
}

// aboutPackage reports whether the comment of a file is about its package.
func aboutPackage(f *ItemFile, text string) bool {
	low := strings.ToLower(text)
	return f.packaged() && (strings.HasPrefix(low, "package ") || strings.HasPrefix(low, "command "))
}

// leadsTo returns a line about a directory that only contains another one, and that child. For other directories
// the line is "".
func (w *outlineBuilder) leadsTo() (string, *Child) {
	main := w.main()
	if main == nil || !w.onlyHousekeeping() {
		return "", nil
	}
	name := repo.Path(main.Path.Base()).String() + "/"
	line := Headline(main.Text)
	if below, ok := strings.CutPrefix(line, leads); ok {
		return excerpt.Cut(leads+name+below, leadBytes), main
	}
	return excerpt.Cut(leads+name+": "+line, leadBytes), main
}

// withFullStop adds a full stop, unless the text ends in punctuation.
func withFullStop(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") || strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}

// onlyHousekeeping reports whether all files are configuration, housekeeping or build files. A directory without
// files counts too.
func (w *outlineBuilder) onlyHousekeeping() bool {
	return !slices.ContainsFunc(w.Files, func(f ItemFile) bool { return f.Kind != repo.KindConfig && !isHousekeeping(&f) && !isBuildFile(&f) })
}

// maxMainSiblings is the most children of a directory that can have a main child.
const maxMainSiblings = 4

// main returns the child that a directory is about: the only one, or the only one besides a few such as tests and
// docs. It returns nil if there is none.
func (w *outlineBuilder) main() *Child {
	var list []*Child
	for i := range w.Children {
		if c := &w.Children[i]; c.Status != ChildExcluded {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *Child) int { return cmp.Compare(dirPriority(a.Path.Base()), dirPriority(b.Path.Base())) })
	if len(list) == 0 || len(list) > maxMainSiblings || Headline(list[0].Text) == "" {
		return nil
	}
	if len(list) > 1 {
		first, second := dirPriority(list[0].Path.Base()), dirPriority(list[1].Path.Base())
		if first > priorityCommon || second <= priorityCommon || dirPriority(w.Path.Base()) == priorityTests {
			return nil
		}
	}
	return list[0]
}

// enumerate lists at most so many names, and counts the rest.
func enumerate(names []string, most int) string {
	if len(names) <= most+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// stripSeparators removes the characters that separate words in file names.
var stripSeparators = strings.NewReplacer("-", "", "_", "", " ", "")

// isHousekeeping reports whether a file is about the project and not about the code of the directory, such as a
// licence.
func isHousekeeping(f *ItemFile) bool {
	name := strings.ToLower(f.Path.Base())
	stem, _, _ := strings.Cut(name, ".")
	stem = stripSeparators.Replace(stem)
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

// isBuildFile reports whether a file configures the build or the installation.
func isBuildFile(f *ItemFile) bool {
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

// mainFiles returns the files with a line of their own, the most important first: entry points, then those that
// declare most.
func (w *outlineBuilder) mainFiles() []*ItemFile {
	var list []*ItemFile
	for i := range w.Files {
		f := &w.Files[i]
		if f.Kind != repo.KindTest && !isHousekeeping(f) && !isBuildFile(f) && w.line(f) != "" {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(x, y *ItemFile) int {
		return cmp.Or(cmp.Compare(w.entry(y), w.entry(x)), cmp.Compare(y.weight(), x.weight()))
	})
	return list
}

// entry returns 1 for an entry point, else 0.
func (w *outlineBuilder) entry(f *ItemFile) int {
	if w.moduleRank(f) > modulePart {
		return 1
	}
	return 0
}

// weight counts the declarations of a file; exported ones count twice.
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

// writeFiles writes the lines of the main files.
func (w *outlineBuilder) writeFiles(b *strings.Builder) {
	list := w.mainFiles()
	for _, f := range list[:min(len(list), fileLines)] {
		fmt.Fprintf(b, "%s%s: %s\n", itemMark, repo.Path(f.Path.Base()), excerpt.Cut(w.line(f), fileBytes))
	}
}

// symbols returns the top-level declarations. If they are only a namespace or a title, it returns the level inside.
func (f *ItemFile) symbols() []outline.Symbol {
	if f.Outline == nil {
		return nil
	}
	var above []outline.Symbol // the previous level, unless it is a title
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

// line returns one line about a file: its description, else its main symbol and the names of others. It is "" if
// nothing but the file name is known.
func (w *outlineBuilder) line(f *ItemFile) string {
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
			if s := &list[i]; s.Exported == public && !isGenericName(s.Name) {
				some = append(some, s)
			}
		}
		isMethod := func(s *outline.Symbol) bool { return s.Kind == outline.Method }
		if rest := slices.DeleteFunc(slices.Clone(some), isMethod); len(rest) > 0 {
			some = rest
		}
		if len(some) > 0 {
			return f.describeBySymbols(some, public)
		}
	}
	return ""
}

// document returns the title of a document and the first sentence below it.
func (f *ItemFile) document() string {
	title, doc := "", excerpt.Tidy(f.Outline.Doc)
	if list := f.Outline.Symbols; len(list) > 0 && list[0].Depth == 0 {
		title, doc = excerpt.Tidy(list[0].Name), excerpt.Tidy(list[0].Doc)
	}
	if f.hasName(title) || !strings.Contains(title, " ") {
		title = "" // it only repeats the name of the file
	}
	if !excerpt.IsInformative(doc) || excerpt.IsPlaceholder(doc) {
		return title
	}
	if title == "" {
		return doc
	}
	return title + ": " + doc
}

// describeBySymbols describes a file by its symbols: the doc of the main one, and the names of others. It leaves
// out names that only repeat the name of the file.
func (f *ItemFile) describeBySymbols(list []*outline.Symbol, public bool) string {
	names := namesOf(list)
	main := f.mainSymbol(list)
	if main == nil {
		if len(names) == 0 || !public && len(names) == 1 {
			return ""
		}
		if len(names) == 1 && f.hasName(names[0]) {
			return f.parts(list)
		}
		return defines + enumerate(names, fileSymbols)
	}
	doc := strings.TrimRight(excerpt.Tidy(main.Doc), ".")
	name := excerpt.Clean(main.Name)
	if !strings.HasPrefix(doc, name) {
		doc = name + ": " + doc
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	if len(names) == 0 {
		return doc
	}
	return doc + also + enumerate(names, fileSymbols-1)
}

// mainSymbol returns the symbol whose doc describes the file best: one with the name of the file, else the first
// type with a doc, else the first function with one. It returns nil for none.
func (f *ItemFile) mainSymbol(list []*outline.Symbol) *outline.Symbol {
	var best *outline.Symbol
	for _, s := range list {
		doc := excerpt.Tidy(s.Doc)
		if s.Doc == "" && prominence(s) == 0 && f.hasName(s.Name) {
			return nil // the file is about this symbol, which has no doc
		}
		if !excerpt.IsInformative(doc) || excerpt.IsPlaceholder(doc) || prominence(s) > 1 {
			continue
		}
		if best == nil || f.tellsMore(s, best) {
			best = s
		}
	}
	return best
}

// tellsMore reports whether symbol a describes the file better than symbol b.
func (f *ItemFile) tellsMore(a, b *outline.Symbol) bool {
	return cmp.Or(
		compareBool(f.hasName(a.Name), f.hasName(b.Name)),
		cmp.Compare(prominence(a), prominence(b)),
		-compareBool(isHelper(a.Name), isHelper(b.Name)),
	) < 0
}

// compareBool sorts true before false.
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

// isHelper reports whether a name is that of an auxiliary type, such as an error or options.
func isHelper(name string) bool {
	for _, end := range [...]string{"Error", "Exception", "Warning", "Mixin", "Options", "Props", "Params", "Opts", "Err"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// hasName reports whether a name equals that of the file, without case and separators.
func (f *ItemFile) hasName(name string) bool {
	stem, _, _ := strings.Cut(f.Path.Base(), ".")
	return strings.EqualFold(stripSeparators.Replace(stem), stripSeparators.Replace(name))
}

// parts names the members of the only symbol of a file.
func (f *ItemFile) parts(list []*outline.Symbol) string {
	var parts []*outline.Symbol
	for i := range f.Outline.Symbols {
		if s := &f.Outline.Symbols[i]; s.Depth > list[0].Depth && s.Exported && !f.hasName(s.Name) && prominence(s) < 2 {
			parts = append(parts, s)
		}
	}
	if names := namesOf(parts); len(names) > 0 {
		return "has " + enumerate(names, fileSymbols)
	}
	return ""
}

// namesOf returns the names of symbols, each once: types before functions, errors and options last, else in the
// order of the file. The size of a symbol does not count, because an edit of a body must not change the outline.
// Other symbols are named only if there are no types and functions.
func namesOf(list []*outline.Symbol) []string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *outline.Symbol) int {
		return cmp.Or(-compareBool(isHelper(a.Name), isHelper(b.Name)), cmp.Compare(prominence(a), prominence(b)))
	})
	var names []string
	for _, most := range []int{1, 2} {
		for _, s := range list {
			name := excerpt.Clean(s.Name)
			if prominence(s) <= most && name != "" && !isGenericName(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return names
		}
	}
	return nil
}

// isGenericName reports whether a name says nothing about its symbol.
func isGenericName(name string) bool {
	switch name {
	case "tests", "default", "constructor", "initialize", "__init__", "__construct", "__all__", "module.exports", "new", "main", "usage":
		return true
	}
	return len(name) < 2 || name[0] == '~' || strings.Contains(name, "<") || strings.HasPrefix(name, "operator")
}

// prominence ranks symbols: 0 for types, 1 for functions, more for the rest.
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

// inOrder returns the children by the priority of their names.
func (it *Item) inOrder() []Child {
	list := slices.Clone(it.Children)
	rank := func(c Child) int {
		if c.Status == ChildExcluded {
			return priorityNone
		}
		return dirPriority(c.Path.Base())
	}
	slices.SortStableFunc(list, func(a, b Child) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// writeChildren quotes the texts of the children. It leaves out the main child, which the lead already quotes, and
// children with the same line as the lead.
func (w *outlineBuilder) writeChildren(b *strings.Builder, lead string, main *Child) {
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
			line := Headline(c.Text)
			if line == "" || line == lead {
				continue
			}
			mark := ""
			if c.Status == ChildStale {
				mark = "(stale) "
			}
			fmt.Fprintf(b, "%s%s/: %s%s\n", itemMark, name, mark, excerpt.Cut(excerpt.FirstSentence(line), childBytes))
		default:
			fmt.Fprintf(b, "%s%s%s%s)\n", itemMark, name, notDescribed, c.Reason)
		}
	}
}
