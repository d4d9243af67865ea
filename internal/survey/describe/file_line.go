package describe

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/order"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/survey/excerpt"
)

// FileLine returns a line about a file from its outline: its description, else its main symbols. It is "" if
// nothing but the file name is known.
func FileLine(f *repo.File, o *outline.Outline) string {
	it := &Item{Path: f.Path.Dir(), Files: []ItemFile{{File: f, Outline: o}}}
	w := &outlineBuilder{Item: it, docs: make(map[*ItemFile]string)}
	w.readDocs()
	return w.line(&it.Files[0])
}

// readDocs collects the descriptions in the files. It ignores a text that several files have, such as a licence,
// because it is about none of them.
func (o *outlineBuilder) readDocs() {
	repeated := o.repeatedDocs()
	for i := range o.Files {
		f := &o.Files[i]
		if f.Outline == nil || f.Path.Base() == o.Own.From || f.Outline.Language == outline.Markdown {
			continue
		}
		text := excerpt.StripMarkup(f.Outline.Doc)
		if excerpt.IsDescription(text) && !repeated[text] && !aboutPackage(f, text) {
			o.docs[f] = text
		}
	}
}

// aboutPackage reports whether the comment of a file is about its package.
func aboutPackage(f *ItemFile, text string) bool {
	low := strings.ToLower(text)
	return f.inGoPackage() && (strings.HasPrefix(low, "package ") || strings.HasPrefix(low, "command "))
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
func (o *outlineBuilder) line(f *ItemFile) string {
	if text := o.docs[f]; text != "" {
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
	title, doc := "", excerpt.StripMarkup(f.Outline.Doc)
	if list := f.Outline.Symbols; len(list) > 0 && list[0].Depth == 0 {
		title, doc = excerpt.StripMarkup(list[0].Name), excerpt.StripMarkup(list[0].Doc)
	}
	if f.hasName(title) || !strings.Contains(title, " ") {
		title = "" // it only repeats the name of the file
	}
	if !excerpt.IsDescription(doc) {
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
		return defines + english.FirstOrAll(names, fileSymbols)
	}
	doc := strings.TrimRight(excerpt.StripMarkup(main.Doc), ".")
	name := excerpt.Clean(main.Name)
	if !strings.HasPrefix(doc, name) {
		doc = name + ": " + doc
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	if len(names) == 0 {
		return doc
	}
	return doc + also + english.FirstOrAll(names, fileSymbols-1)
}

// mainSymbol returns the symbol whose doc describes the file best: one with the name of the file, else the first
// type with a doc, else the first function with one. It returns nil for none.
func (f *ItemFile) mainSymbol(list []*outline.Symbol) *outline.Symbol {
	var best *outline.Symbol
	for _, s := range list {
		doc := excerpt.StripMarkup(s.Doc)
		if s.Doc == "" && prominence(s) == 0 && f.hasName(s.Name) {
			return nil // the file is about this symbol, which has no doc
		}
		if !excerpt.IsDescription(doc) || prominence(s) > 1 {
			continue
		}
		if best == nil || f.describesBetter(s, best) {
			best = s
		}
	}
	return best
}

// describesBetter reports whether symbol a describes the file better than symbol b.
func (f *ItemFile) describesBetter(a, b *outline.Symbol) bool {
	return cmp.Or(
		order.TrueFirst(f.hasName(a.Name), f.hasName(b.Name)),
		cmp.Compare(prominence(a), prominence(b)),
		order.FalseFirst(isHelper(a.Name), isHelper(b.Name)),
	) < 0
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
		return "has " + english.FirstOrAll(names, fileSymbols)
	}
	return ""
}

// namesOf returns the names of symbols, each once: types before functions, errors and options last, else in the
// order of the file. The size of a symbol does not count, because an edit of a body must not change the outline.
// Other symbols are named only if there are no types and functions.
func namesOf(list []*outline.Symbol) []string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *outline.Symbol) int {
		return cmp.Or(order.FalseFirst(isHelper(a.Name), isHelper(b.Name)), cmp.Compare(prominence(a), prominence(b)))
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

// stripSeparators removes the characters that separate words in file names.
var stripSeparators = strings.NewReplacer("-", "", "_", "", " ", "")
