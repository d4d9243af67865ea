package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"ken/internal/markup"
	"ken/internal/order"
	"ken/internal/repo"
)

// An Instruction is a document that tells people or agents how to work in a directory and below it.
type Instruction struct {
	Source   repo.Path
	Scope    repo.Path // the directory that it is for; "" for the whole repository
	Headings []string  // each on one line, at most maxHeadings
	Lines    []InstructionLine
}

// An InstructionLine is a line of a document that names a path or its directory.
type InstructionLine struct {
	Text string // without control characters, at most maxText characters
	Line int
}

const (
	maxHeadings = 40
	// maxLines is how many lines of a document are quoted.
	maxLines = 8
)

// Instructions returns the instruction documents that apply to a path, the nearest first: agents' documents such as
// AGENTS.md and CLAUDE.md in a directory above it, CONTRIBUTING, and guides for developers. Each has the lines that
// name the path or its directory. A document is left out if another one says the same.
func (p *Project) Instructions(file repo.Path) []Instruction {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Instruction
	var texts []string
	quoted := make(map[string]bool)
	for _, doc := range p.instructionFiles(file) {
		text := string(p.text(doc))
		if doc == file || slices.Contains(texts, text) {
			continue
		}
		texts = append(texts, text)
		in := Instruction{Source: doc, Scope: instructionScope(doc), Headings: headings(p.prose(doc))}
		for _, l := range p.linesNaming(text, in.Scope, file) {
			if !quoted[l.Text] && len(in.Lines) < maxLines {
				in.Lines = append(in.Lines, l)
			}
			quoted[l.Text] = true
		}
		list = append(list, in)
	}
	return list
}

// instructionFiles returns the instruction documents for a path, the nearest first, and agents' documents before
// guides.
func (p *Project) instructionFiles(file repo.Path) []repo.Path {
	var list []repo.Path
	for _, f := range p.instructions {
		if file.Under(instructionScope(f)) {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b repo.Path) int {
		return cmp.Or(
			cmp.Compare(len(instructionScope(b)), len(instructionScope(a))),
			order.TrueFirst(isAgentFile(a), isAgentFile(b)),
		)
	})
	return list
}

// isInstruction reports whether a file is a document with instructions.
func isInstruction(file repo.Path) bool {
	return (isAgentFile(file) || isGuide(file)) && !isForeign(file)
}

// isAgentFile reports whether a file is a document with instructions for agents.
func isAgentFile(file repo.Path) bool {
	switch file.Base() {
	case "AGENTS.md", "AGENT.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules":
		return true
	case "copilot-instructions.md":
		return file.Dir().Base() == ".github"
	}
	return false
}

// isGuide reports whether a file is a document with instructions for people.
func isGuide(file repo.Path) bool {
	base := strings.ToLower(file.Base())
	ext := path.Ext(base)
	switch ext {
	case ".md", ".mdx", ".rst", ".txt", ".adoc", "":
	default:
		return false
	}
	stem := strings.ReplaceAll(strings.TrimSuffix(base, ext), "_", "-")
	if stem == "contributing" {
		return true
	}
	switch strings.ToLower(string(file.Dir())) {
	case "", "docs", "doc", "documentation", ".github":
	default:
		return false
	}
	switch stem {
	case "development", "developing", "developer-guide", "hacking", "styleguide", "style-guide", "coding-style",
		"code-style", "coding-standards", "conventions", "ai-policy":
		return true
	}
	return false
}

// instructionScope returns the directory that a document is for.
func instructionScope(doc repo.Path) repo.Path {
	dir := doc.Dir()
	switch strings.ToLower(dir.Base()) {
	case ".github":
		return dir.Dir()
	case "docs", "doc", "documentation":
		if !isAgentFile(doc) {
			return dir.Dir()
		}
	}
	return dir
}

// headings returns the headings of a document.
func headings(doc *markup.Document) []string {
	var list []string
	for i := range doc.Blocks {
		if doc.Blocks[i].Kind != markup.Heading || len(list) == maxHeadings {
			continue
		}
		if heading := cleanText(doc.Text(&doc.Blocks[i])); heading != "" {
			list = append(list, heading)
		}
	}
	return list
}

// prose returns a parsed document, without blocks if it is too complex.
func (p *Project) prose(file repo.Path) *markup.Document {
	doc, err := markup.Parse(markup.FormatOf(string(file)), p.text(file))
	if err != nil {
		return &markup.Document{}
	}
	return doc
}

// linesNaming returns the lines of a document that name a path or its directory.
func (p *Project) linesNaming(text string, scope, file repo.Path) []InstructionLine {
	var list []InstructionLine
	n := 0
	for line := range strings.Lines(text) {
		n++
		names := func(word string) bool { return p.namesPath(word, scope, file) }
		if slices.ContainsFunc(pathWords(line), names) {
			line = strings.TrimLeft(line, " \t")
			line = strings.TrimPrefix(strings.TrimPrefix(line, "- "), "* ")
			list = append(list, InstructionLine{Text: cleanText(line), Line: n})
		}
	}
	return list
}

// pathWords returns the words of a line that may be paths.
func pathWords(line string) []string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n`'\"()[]<>|,;", r) })
	for i, word := range words {
		word, _, _ = strings.Cut(word, "#")
		words[i] = strings.Trim(strings.TrimRight(word, ".:!?"), "*_")
	}
	return words
}

// namesPath reports whether a word is a path or its directory, from the root or from the directory that a document is
// for. A word without a slash can only be a file with an extension.
func (p *Project) namesPath(word string, scope, file repo.Path) bool {
	for _, all := range []string{"/...", "/**", "/*"} {
		if dir, ok := strings.CutSuffix(word, all); ok {
			word = dir + "/"
		}
	}
	hasSlash := strings.Contains(strings.TrimPrefix(word, "./"), "/")
	isDir := p.isDir(file)
	isFileName := !isDir && strings.Contains(word, ".")
	for _, named := range []repo.Path{join("", word), join(scope, word)} {
		switch {
		case named == "":
		case named == file && (hasSlash || isFileName):
			return true
		case named == file.Dir() && hasSlash && !isDir:
			return true
		}
	}
	return false
}
