package outline

import (
	"bytes"
	"strings"

	"ken/internal/outline/syntax"
	"ken/internal/repo"
)

// read reads a file by the grammar of its language.
func read(lang Language, path repo.Path, src []byte) (*file, error) {
	if lang == Go {
		f := newFile(lang, src)
		return f, readGo(f)
	}
	if lang == C && strings.HasSuffix(strings.ToLower(string(path)), ".h") && isCPP(src) {
		lang = CPP
	}
	return readAs(lang, src)
}

// isCPP reports a header that C would not have: their name does not say.
func isCPP(src []byte) bool {
	if bytes.Contains(src, []byte("::")) {
		return true
	}
	for line := range bytes.Lines(src) {
		word, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		switch string(word) {
		case "class", "namespace", "template", "using", "public:", "private:", "protected:":
			return true
		}
	}
	return false
}

// readAs reads a file by a tree-sitter grammar. Where conditional compilation
// makes a text that does not parse as a whole, its first branches may.
func readAs(lang Language, src []byte) (*file, error) {
	f, err := readTree(lang, src, src, nil)
	if err != nil || f.partial == "" || lang != C && lang != CPP && lang != CSharp {
		return f, err
	}
	once, blanked := firstBranches(src)
	if len(blanked) == 0 {
		return f, nil
	}
	if other, err := readTree(lang, src, once, blanked); err == nil && other.broken < f.broken {
		return other, nil
	}
	return f, nil
}

// grammarOf returns the grammar of a language that is read by tree-sitter's
// tables, and how its declarations are walked.
func grammarOf(lang Language) (load func() (*syntax.Grammar, error), declare func(*reader, syntax.Node)) {
	switch lang {
	case Bash:
		return syntax.Bash, (*reader).bash
	case C:
		return syntax.C, (*reader).c
	case CPP:
		return syntax.CPP, (*reader).c
	case CSharp:
		return syntax.CSharp, (*reader).csharp
	case Java:
		return syntax.Java, (*reader).java
	case JavaScript:
		return syntax.JavaScript, (*reader).script
	case TypeScript:
		return syntax.TypeScript, (*reader).script
	case TSX:
		return syntax.TSX, (*reader).script
	case Markdown:
		return syntax.Markdown, (*reader).markdown
	case PHP:
		return syntax.PHP, (*reader).php
	case Python:
		return syntax.Python, (*reader).python
	case Ruby:
		return syntax.Ruby, (*reader).ruby
	case Rust:
		return syntax.Rust, (*reader).rust
	default:
		return nil, nil
	}
}

// plainName writes a qualified name with dots, however its language does.
func plainName(name string) string {
	return strings.NewReplacer("::", ".", "#", ".", "->", ".", "\\", ".").Replace(name)
}
