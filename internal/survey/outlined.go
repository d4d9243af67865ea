package survey

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// outlineVersion changes with what an Outliner writes.
const outlineVersion = "1"

// An Outliner writes without a mind: what a directory's files and children say of
// themselves, in a few lines. It is the same whenever they are the same.
type Outliner struct{}

// Author says that nobody wrote it.
func (Outliner) Author() string { return "ken outline" }

// Recipe says how it was made.
func (Outliner) Recipe() string { return outlineRecipe + outlineVersion }

// How much an outline tells.
const (
	leadBytes   = 400 // of what the directory says of itself
	fileLines   = 16  // files that are named
	fileBytes   = 160 // of what is said of each
	fileSymbols = 6   // symbols named of a file that says nothing of itself
	childLines  = 40  // children that are named
	childBytes  = 160
)

// Write describes a directory by its outline. The first line is the one that the
// directory above will quote.
func (Outliner) Write(_ context.Context, it *Item) (Draft, error) {
	var b strings.Builder
	lead, from := it.lead()
	census := it.census()
	switch {
	case lead == "":
		fmt.Fprintf(&b, "%s\n", it.gist(census))
	case census != "":
		fmt.Fprintf(&b, "%s\n%s.\n", lead, census)
	default:
		fmt.Fprintf(&b, "%s\n", lead)
	}
	it.writeFiles(&b, from)
	it.writeChildren(&b)
	return Draft{Text: clean(b.String())}, nil
}

// gistNames is how many names stand for a directory that says nothing of itself.
const gistNames = 8

// gist says in one line what is in a directory that says nothing of itself: how many
// files of what sort, and what the weightiest of them are called.
func (it *Item) gist(census string) string {
	list := it.weighty()
	var names []string
	for _, f := range list {
		if stem := stemOf(f.Path); !slices.Contains(names, stem) && len(names) < gistNames {
			names = append(names, stem)
		}
	}
	for _, c := range it.Children {
		if c.Status != ChildExcluded && len(names) < gistNames {
			names = append(names, repo.Path(c.Path.Base()).String()+"/")
		}
	}
	if census == "" {
		census = fmt.Sprintf("Holds %d directories", len(it.Children))
		if len(it.Children) == 1 {
			census = "Holds one directory"
		}
	}
	if len(names) == 0 {
		return census + "."
	}
	return cut(census+": "+strings.Join(names, ", "), leadBytes) + "."
}

// stemOf is a file's name without what says its sort.
func stemOf(p repo.Path) string {
	base := p.Base()
	if i := strings.IndexByte(base, '.'); i > 0 {
		base = base[:i]
	}
	return repo.Path(base).String()
}

// weighty returns the files that say something, those that declare most first.
func (it *Item) weighty() []*ItemFile {
	var list []*ItemFile
	for i := range it.Files {
		if f := &it.Files[i]; f.line() != "" && f.Kind != repo.KindTest {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(x, y *ItemFile) int { return cmp.Compare(y.weight(), x.weight()) })
	return list
}

// weight is how much a file declares; what others may use counts double.
func (f *ItemFile) weight() int {
	n := 0
	for _, s := range f.symbols() {
		n++
		if s.Exported {
			n++
		}
	}
	return n
}

// lead returns what the directory says of itself: the first paragraph of its README,
// else the doc of the file that speaks for it, and which file that was.
func (it *Item) lead() (text string, from *ItemFile) {
	var best *ItemFile
	for i := range it.Files {
		f := &it.Files[i]
		if f.doc() != "" && (best == nil || it.speaks(f) > it.speaks(best)) {
			best = f
		}
	}
	if best == nil || it.speaks(best) == 0 {
		return "", nil
	}
	return cut(best.doc(), leadBytes), best
}

// speaks says how well a file speaks for its directory, 0 for not at all.
func (it *Item) speaks(f *ItemFile) int {
	name := strings.ToLower(f.Path.Base())
	stem, _, _ := strings.Cut(name, ".")
	switch {
	case stem == "readme":
		return 5
	case name == "doc.go", name == "__init__.py", name == "mod.rs", name == "lib.rs", name == "package-info.java":
		return 4
	case f.Kind != repo.KindSource:
		return 0
	case stem == strings.ToLower(it.Path.Base()), stem == "index", stem == "main":
		return 3
	case f.packaged():
		return 2
	case len(it.Files) == 1:
		return 1
	}
	return 0
}

// census counts the files by language and kind.
func (it *Item) census() string {
	counts := make(map[string]int)
	for _, f := range it.Files {
		what := f.Kind.String()
		if f.Outline != nil && (f.Kind == repo.KindSource || f.Kind == repo.KindTest) {
			what = string(f.Outline.Language)
			if f.Kind == repo.KindTest {
				what += " test"
			}
		}
		counts[what]++
	}
	if len(counts) == 0 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%d %s", counts[n], n))
	}
	noun := " files"
	if len(it.Files) == 1 {
		noun = " file"
	}
	return "Holds " + strings.Join(parts, ", ") + noun
}

// writeFiles names the files that say most, in the order of their names.
func (it *Item) writeFiles(b *strings.Builder, spoken *ItemFile) {
	list := slices.DeleteFunc(it.weighty(), func(f *ItemFile) bool { return f == spoken })
	left := max(0, len(list)-fileLines)
	list = list[:len(list)-left]
	slices.SortFunc(list, func(x, y *ItemFile) int { return cmp.Compare(x.Path, y.Path) })
	for _, f := range list {
		fmt.Fprintf(b, "- %s: %s\n", repo.Path(f.Path.Base()), cut(f.line(), fileBytes))
	}
	if left > 0 {
		fmt.Fprintf(b, "- and %d more\n", left)
	}
}

// doc is what a file says of itself, or of the package that it is a part of.
func (f *ItemFile) doc() string {
	if f.Outline == nil {
		return ""
	}
	return f.Outline.Doc
}

// packaged reports whether the file is one of several that make a package, so that
// what it says is said of all of them.
func (f *ItemFile) packaged() bool { return f.Outline != nil && f.Outline.Language == outline.Go }

func (f *ItemFile) symbols() []outline.Symbol {
	if f.Outline == nil {
		return nil
	}
	return f.Outline.Symbols
}

// line is what a file says of itself, else what it defines.
func (f *ItemFile) line() string {
	if f.doc() != "" && !f.packaged() {
		return f.doc()
	}
	var names []string
	more := 0
	for _, public := range []bool{true, false} {
		for _, s := range f.symbols() {
			switch {
			case s.Exported != public || s.Depth > 0:
			case len(names) == fileSymbols:
				more++
			default:
				names = append(names, s.FullName())
			}
		}
		if len(names) > 0 {
			break
		}
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// writeChildren gives each child the first sentence of its text.
func (it *Item) writeChildren(b *strings.Builder) {
	left := 0
	for i, c := range it.Children {
		if i >= childLines {
			left++
			continue
		}
		name := repo.Path(c.Path.Base())
		switch c.Status {
		case ChildExcluded:
			fmt.Fprintf(b, "- %s/: left out by policy (%s)\n", name, c.Reason)
		case ChildSummary, ChildStale:
			fmt.Fprintf(b, "- %s/: %s\n", name, cut(firstSentence(c.Text), childBytes))
		default:
			fmt.Fprintf(b, "- %s/: not yet investigated (%s)\n", name, c.Reason)
		}
	}
	if left > 0 {
		fmt.Fprintf(b, "- and %d more directories\n", left)
	}
}

// firstSentence returns the first sentence of the first line.
func firstSentence(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	for i, c := range line {
		if (c == '.' || c == '!' || c == '?') && (i+1 == len(line) || line[i+1] == ' ') {
			return line[:i+1]
		}
	}
	return line
}

// cut shortens a text to so many bytes, between words where it can, and puts it on
// one line.
func cut(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= limit {
		return text
	}
	end := limit - len("…")
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	if space := strings.LastIndexByte(text[:end], ' '); space > end/2 {
		end = space
	}
	return strings.TrimRight(text[:end], " ,;:") + "…"
}

// clean takes out what a text may not hold: what a file says of itself may be
// anything.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if controls(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD")))
}
