package mention

import (
	"cmp"
	"fmt"
	"strings"
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

// dataLanguages are those of configurations.
var dataLanguages = lexicon{text: `json jsonc json5 yaml yml toml ini`}

// declaration are the words before a name that a block declares, in many languages.
var declaration = lexicon{text: `def class func function fn const let var type struct enum trait interface module record`}

// blockFile returns the name of a file in the language of a block of code.
func blockFile(language string) repo.Path {
	if name, ok := fileNames[language]; ok {
		return repo.Path(name)
	}
	return repo.Path("b." + language)
}

// symbols reads the symbols that a block of code imports or uses, and those that it declares.
func (r *reader) symbols(p *passage, l *markup.Block, around hedge) {
	file := blockFile(l.Language)
	if len(p.text) > maxBlock {
		return
	}
	r.inBlock = make(map[string]bool)
	module := make(map[string]string) // by the local name of what is imported
	if outline.MayHaveOutline(file) {
		r.parsed(p, file, module, around)
	}
	isNote := l.Language == markup.VersionNote
	if !isNote && (l.Language != "" || r.plain) { // an indented block of Markdown may be the text of an admonition
		r.codeWords(p, l, module, around)
	}
}

// parsed reads the symbols of a block that parses, and sets the modules of the names that it imports.
func (r *reader) parsed(p *passage, file repo.Path, module map[string]string, around hedge) {
	declared, refs := parseBlock(file, dedented(p.text))
	if refs == nil {
		return
	}
	for i := range declared.Symbols {
		r.declared[declared.Symbols[i].Name] = true
	}
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
		isImported := !use.Member && module[use.Name] != "" // the import names it
		isCalled := use.Kind == outline.UseCall && (from != "" || !use.Member)
		isVariable := !use.Member && use.Kind == outline.UseMention
		if !isImported && !isVariable && symbolic([]string{use.Name}, isCalled, "") {
			for _, line := range use.Lines {
				r.symbol(p, line, use.Name, from, around)
			}
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

// codeWords adds the words of a block of code that are spelled like code: in a block that does not parse, or in no
// known language, nothing else says what it means. Blocks of data have keys, too. Notes about versions are of the past.
func (r *reader) codeWords(p *passage, l *markup.Block, module map[string]string, around hedge) {
	n := 0
	for line := range strings.Lines(p.text) {
		n++
		before := ""
		isBreak := func(c rune) bool { return c < utf8.RuneSelf && c != '-' && c != '.' && !outline.IsNameByte(byte(c)) }
		for word := range strings.FieldsFuncSeq(line, isBreak) {
			if _, isKey := keyOf(word, 0); isKey && dataLanguages.has(l.Language) {
				r.nameInLine(p, n, nameInText{kind: Option, name: word}, around)
			}
			if declaration.has(before) || strings.HasPrefix(strings.TrimSpace(line), word+" = ") {
				r.declared[word] = true
			}
			before = word
			from := "" // the module of the first part
			for part := range strings.FieldsFuncSeq(word, func(c rune) bool { return c == '-' || c == '.' }) {
				from = cmp.Or(module[part], from)
				if IsSpelledLikeCode(part) && symbolic([]string{part}, false, "") {
					r.symbol(p, n, part, from, around)
				}
			}
		}
	}
}

// symbol adds a symbol in a line of a block of code, which may come from an imported module.
func (r *reader) symbol(p *passage, line int, name, module string, around hedge) {
	if identifier(name) && len(name) >= 3 {
		r.nameInLine(p, line, nameInText{kind: Symbol, name: name, in: module}, around)
	}
}

// nameInLine adds a name in a line of a block of code once.
func (r *reader) nameInLine(p *passage, line int, n nameInText, around hedge) {
	key := fmt.Sprint(line, " ", n.name)
	if line > len(p.lines) || r.inBlock[key] {
		return
	}
	r.inBlock[key] = true
	start := p.starts[line-1]
	text, _, _ := strings.Cut(p.text[start:], "\n")
	at := outline.WordAt(text, n.name)
	if at < 0 {
		return
	}
	n.casual, n.start, n.end = true, at, at+len(n.name)
	n.text = Span{n.start, n.end}
	r.add(p, start, text, n, Block).hedge(around)
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
