package mention

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"ken/internal/markup"
	"ken/internal/outline"
	"ken/internal/repo"
)

// maxBlock limits the size of a block of code that is parsed.
const maxBlock = 64 << 10

// fileNames are the names of files in the languages that blocks of code call by another name than their extension.
var fileNames = map[string]string{
	"golang": "b.go", "python": "b.py", "python3": "b.py", "javascript": "b.js", "typescript": "b.ts", "rust": "b.rs",
	"ruby": "b.rb", "csharp": "b.cs", "c#": "b.cs", "c++": "b.cpp",
}

// declarations matches the names that a text in any language declares.
var declarations = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:def|class|func|function|fn|const|let|var|struct|enum|trait|interface)\s+(\w+)`)
})

// blockFile returns the name of a file in the language of a block of code.
func blockFile(language string) repo.Path {
	if name, ok := fileNames[language]; ok {
		return repo.Path(name)
	}
	return repo.Path("b." + language)
}

// symbols reads the symbols that a block of code imports or uses, and those that it declares. A block that does not parse
// is left to readUnparsed.
func (r *reader) symbols(p *passage, l *markup.Block, around hedge) {
	file := blockFile(l.Language)
	if len(p.text) > maxBlock {
		return
	}
	if !outline.MayHaveOutline(file) {
		r.unparsed = append(r.unparsed, *p)
		return
	}
	declared, refs := parseBlock(file, dedented(p.text))
	if refs == nil {
		r.unparsed = append(r.unparsed, *p)
		return
	}
	for i := range declared.Symbols {
		r.declared[declared.Symbols[i].Name] = true
	}
	module := make(map[string]string) // by the local name of what is imported
	for _, imported := range refs.Imports {
		for _, name := range imported.Names {
			module[name.Local()] = imported.Module
			if name.Name != "default" && name.Name != "" {
				r.symbol(p, imported.Line, name.Name, imported.Module, around)
			}
		}
	}
	for _, use := range refs.Uses {
		first, _, _ := strings.Cut(strings.ReplaceAll(use.Qualifier, "::", "."), ".")
		from := module[strings.TrimSuffix(first, "()")]
		isType := first != "" && first[:1] != strings.ToLower(first[:1])
		if isType && symbolic([]string{first}, false, "") {
			for _, line := range use.Lines {
				r.symbol(p, line, first, from, around)
			}
		}
		isImported := !use.Member && module[use.Name] != "" // the import names it
		isVariable := !use.Member && use.Kind == outline.UseMention
		isCalled := use.Kind == outline.UseCall && (from != "" || !use.Member)
		if isImported || isVariable || !symbolic([]string{use.Name}, isCalled, "") {
			continue
		}
		for _, line := range use.Lines {
			r.symbol(p, line, use.Name, from, around)
		}
	}
}

// dedented removes the indentation that all lines of a text have: a block of reStructuredText is indented.
func dedented(text string) string {
	lines := strings.SplitAfter(text, "\n")
	indent := len(text)
	for _, line := range lines {
		if rest := strings.TrimLeft(line, " \t"); strings.TrimSpace(rest) != "" {
			indent = min(indent, len(line)-len(rest))
		}
	}
	for i, line := range lines {
		lines[i] = line[min(indent, max(0, len(line)-1)):]
	}
	return strings.Join(lines, "")
}

// readUnparsed adds the symbols of other blocks of code that a block has which does not parse.
func (r *reader) readUnparsed() {
	known := make(map[string]bool)
	for _, f := range r.found {
		if f.Kind == Symbol && f.Form == Block {
			known[f.Name] = true
		}
	}
	for _, p := range r.unparsed {
		for _, m := range declarations().FindAllStringSubmatch(p.text, -1) {
			r.declared[m[1]] = true
		}
	}
	for _, p := range r.unparsed {
		n := 0
		for line := range strings.Lines(p.text) {
			n++
			isBreak := func(c rune) bool { return c < utf8.RuneSelf && !outline.IsNameByte(byte(c)) }
			for word := range strings.FieldsFuncSeq(line, isBreak) {
				if known[word] {
					r.symbol(&p, n, word, "", unhedged)
				}
			}
		}
	}
	for i := range r.found {
		r.found[i].Line = r.doc.Line(r.found[i].pos)
	}
}

// symbol adds a symbol in a line of a block of code, which may come from an imported module.
func (r *reader) symbol(p *passage, line int, name, module string, around hedge) {
	if line > len(p.lines) || !identifier(name) || len(name) < 3 {
		return
	}
	start := p.starts[line-1]
	text, _, _ := strings.Cut(p.text[start:], "\n")
	at := outline.WordAt(text, name)
	if at < 0 {
		return
	}
	found := nameInText{kind: Symbol, name: name, in: module, casual: true, start: at, end: at + len(name), text: Span{at, at + len(name)}}
	r.add(p, start, text, found, Block).hedge(around)
}

// parseBlock parses a block of code. A block of Go may be a part of a file, or of a function.
func parseBlock(file repo.Path, text string) (*outline.Outline, *outline.References) {
	around := [][2]string{{"", ""}}
	if file == "b.go" {
		around = [][2]string{{"", ""}, {"package p; ", ""}, {"package p; func _() { ", "}\n"}}
	}
	for _, a := range around {
		o, refs, err := outline.ParseWithReferences(file, []byte(a[0]+text+a[1]))
		if err == nil && o.Partial == "" {
			return o, refs
		}
	}
	return nil, nil
}
