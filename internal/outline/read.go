package outline

import (
	"bytes"
	"fmt"
	"strings"

	"ken/internal/outline/syntax"
	"ken/internal/repo"
)

// read parses a file.
func read(lang Language, path repo.Path, src []byte, refs bool) (*file, error) {
	if lang == Go {
		f := newFile(lang, src)
		f.wantRefs = refs
		return f, readGo(f)
	}
	if lang == C && strings.HasSuffix(strings.ToLower(string(path)), ".h") && isCPP(src) {
		lang = CPP
	}
	return readAs(lang, src, refs)
}

// isCPP reports whether a .h file contains C++.
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

// readAs parses a file with a tree-sitter grammar. Code that needs a preprocessor may not parse. In that
// case readAs retries with some branches and macros blanked, and returns the result with the fewest broken
// bytes.
func readAs(lang Language, src []byte, refs bool) (*file, error) {
	best, err := readTree(lang, src, src, nil, refs)
	if err != nil || best.broken == 0 || lang != C && lang != CPP && lang != CSharp {
		return best, err
	}
	text, blanked := src, []span(nil)
	try := func() *file {
		f, err := readTree(lang, src, text, blanked, refs)
		if err != nil {
			return best
		}
		if f.broken < best.broken {
			best, f = f, best
		}
		f.release()
		return best
	}
	if lang == C {
		// C does not see the branches for C++.
		if text, blanked = blankBranches(src, withoutCPP); len(blanked) > 0 && try().broken == 0 {
			return best, nil
		}
	}
	if lang != CSharp {
		plain, macros := withoutMacros(text)
		if text, blanked = plain, mergeSpans(blanked, macros); len(macros) > 0 && try().broken == 0 {
			return best, nil
		}
	}
	once, others := blankBranches(src, firstBranches)
	if len(others) == 0 {
		return best, nil
	}
	text, blanked = once, others
	if lang != CSharp {
		plain, macros := withoutMacros(once)
		text, blanked = plain, mergeSpans(others, macros)
	}
	was := best
	if try() != was {
		best.note(fmt.Sprintf("read by the first branch of each #if, from line %d", best.line(others[0].start)))
	}
	return best, nil
}

// grammarOf returns the grammar of a language and the method that walks its declarations. Both are nil for
// Go and unknown languages.
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

// plainName returns a qualified name with dots as separators.
func plainName(name string) string {
	if !strings.ContainsAny(name, `:#>\`) {
		return name
	}
	return dotted.Replace(name)
}

var dotted = strings.NewReplacer("::", ".", "#", ".", "->", ".", "\\", ".")
