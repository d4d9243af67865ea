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
		f := newFile(lang, src, refs)
		return f, readGo(f)
	}
	if lang == C && strings.HasSuffix(strings.ToLower(string(path)), ".h") && isCPP(src) {
		lang = CPP
	}
	if kind := componentKindOf(path); kind != "" {
		return readComponent(kind, src, refs)
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
	best := newFile(lang, src, refs)
	err := best.readTree(src, nil)
	if err != nil || best.broken == 0 || lang != C && lang != CPP && lang != CSharp {
		return best, err
	}
	text, blanked := src, []span(nil)
	try := func() *file {
		f := newFile(lang, src, refs)
		if err := f.readTree(text, blanked); err != nil {
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

// A grammar has the functions for a language with a tree-sitter grammar.
type grammar struct {
	load    func() (*syntax.Grammar, error)
	declare func(*reader, syntax.Node) // adds the declarations of a file

	// For references; visit is nil for Markdown, which has none. builtin and member report names that do not identify a
	// declaration: predeclared names, and members of the language's own types.
	visit           func(*treeNames, syntax.Node, kindCode)
	builtin, member func(name string) bool
	separator       string // in paths
}

// grammars has all languages but Go.
var grammars = map[Language]grammar{ //nolint:exhaustive // go/parser reads Go, and an unknown language has no grammar
	Bash:       {syntax.Bash, (*reader).bash, (*treeNames).bash, isBashBuiltin, noMember, "."},
	C:          {syntax.C, (*reader).c, (*treeNames).c, isCBuiltin, isCMember, "::"},
	CPP:        {syntax.CPP, (*reader).c, (*treeNames).c, isCBuiltin, isCMember, "::"},
	CSharp:     {syntax.CSharp, (*reader).csharp, (*treeNames).csharp, isCSharpBuiltin, isCSharpMember, "."},
	Java:       {syntax.Java, (*reader).java, (*treeNames).java, isJavaBuiltin, isJavaMember, "."},
	JavaScript: {syntax.JavaScript, (*reader).script, (*treeNames).script, isScriptBuiltin, isScriptMember, "."},
	TypeScript: {syntax.TypeScript, (*reader).script, (*treeNames).script, isScriptBuiltin, isScriptMember, "."},
	TSX:        {syntax.TSX, (*reader).script, (*treeNames).script, isScriptBuiltin, isScriptMember, "."},
	Markdown:   {load: syntax.Markdown, declare: (*reader).markdown},
	PHP:        {syntax.PHP, (*reader).php, (*treeNames).php, isPHPBuiltin, isPHPMember, `\`},
	Python:     {syntax.Python, (*reader).python, (*treeNames).python, isPythonBuiltin, isPythonMember, "."},
	Ruby:       {syntax.Ruby, (*reader).ruby, (*treeNames).ruby, isRubyBuiltin, isRubyMember, "::"},
	Rust:       {syntax.Rust, (*reader).rust, (*treeNames).rust, isRustBuiltin, isRustMember, "::"},
}

// plainName returns a qualified name with dots as separators.
func plainName(name string) string {
	if !strings.ContainsAny(name, `:#>\`) {
		return name
	}
	return dotted.Replace(name)
}

var dotted = strings.NewReplacer("::", ".", "#", ".", "->", ".", "\\", ".")
