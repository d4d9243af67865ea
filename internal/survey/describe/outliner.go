package describe

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey/excerpt"
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
	leadBytes     = 400 // of the directory's description of itself
	fileLines     = 16  // number of files
	fileBytes     = 200 // of the line of each
	fileSymbols   = 6   // symbols of a file without a description
	childLines    = 40  // number of children
	childBytes    = 160
	headlineBytes = 240 // of a headline that joins items
)

// Write outlines a directory: its description of itself, then a line for each main file and each subdirectory. It leaves out
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
	return Draft{Text: text, Partial: it.AbsentFiles > 0}, nil
}

// Headline returns one line that stands for a text about a directory: its first line. If the text starts with a list, as
// some outlines do, Headline joins the first items.
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

// leadsTo returns a line about a directory that only contains another one, and that child. For other directories
// the line is "".
func (o *outlineBuilder) leadsTo() (string, *Child) {
	main := o.main()
	if main == nil || !o.onlyHousekeeping() {
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
func (o *outlineBuilder) onlyHousekeeping() bool {
	return !slices.ContainsFunc(o.Files, func(f ItemFile) bool { return f.Kind != repo.KindConfig && !isHousekeeping(&f) && !isBuildFile(&f) })
}

// maxMainSiblings is the most children of a directory that can have a main child.
const maxMainSiblings = 4

// main returns the child that a directory is about: the only one, or the only one besides a few such as tests and
// docs. It returns nil if there is none.
func (o *outlineBuilder) main() *Child {
	var list []*Child
	for i := range o.Children {
		if c := &o.Children[i]; c.Status != ChildExcluded {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *Child) int { return cmp.Compare(dirPriority(a.Path.Base()), dirPriority(b.Path.Base())) })
	if len(list) == 0 || len(list) > maxMainSiblings || Headline(list[0].Text) == "" {
		return nil
	}
	if len(list) > 1 {
		first, second := dirPriority(list[0].Path.Base()), dirPriority(list[1].Path.Base())
		if first > priorityCommon || second <= priorityCommon || dirPriority(o.Path.Base()) == priorityTests {
			return nil
		}
	}
	return list[0]
}

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
func (o *outlineBuilder) mainFiles() []*ItemFile {
	var list []*ItemFile
	for i := range o.Files {
		f := &o.Files[i]
		if f.Kind != repo.KindTest && !isHousekeeping(f) && !isBuildFile(f) && o.line(f) != "" {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(x, y *ItemFile) int {
		return cmp.Or(cmp.Compare(o.entry(y), o.entry(x)), cmp.Compare(y.weight(), x.weight()))
	})
	return list
}

// entry returns 1 for an entry point, else 0.
func (o *outlineBuilder) entry(f *ItemFile) int {
	if o.moduleRank(f) > modulePart {
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
func (o *outlineBuilder) writeFiles(b *strings.Builder) {
	list := o.mainFiles()
	for _, f := range list[:min(len(list), fileLines)] {
		fmt.Fprintf(b, "%s%s: %s\n", itemMark, repo.Path(f.Path.Base()), excerpt.Cut(o.line(f), fileBytes))
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
func (o *outlineBuilder) writeChildren(b *strings.Builder, lead string, main *Child) {
	list := o.inOrder()
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
