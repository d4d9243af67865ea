package syntax

import (
	"fmt"
	"sync"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

// The grammars, each loaded when it is first asked for: a few milliseconds, or
// fifty for C++.
var (
	Bash       = loader(grammars.BashLanguage)
	C          = loader(grammars.CLanguage)
	CPP        = loader(grammars.CppLanguage)
	CSharp     = loader(grammars.CSharpLanguage)
	Java       = loader(grammars.JavaLanguage)
	JavaScript = loader(grammars.JavascriptLanguage)
	Markdown   = loader(grammars.MarkdownLanguage)
	PHP        = loader(grammars.PhpLanguage)
	Python     = loader(grammars.PythonLanguage)
	Ruby       = loader(grammars.RubyLanguage)
	Rust       = loader(grammars.RustLanguage)
	TSX        = loader(grammars.TsxLanguage)
	TypeScript = loader(grammars.TypescriptLanguage)
)

func loader(load func() *ts.Language) func() (*Grammar, error) {
	return sync.OnceValues(func() (g *Grammar, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("load the grammar: %v", r)
			}
		}()
		return newGrammar(load())
	})
}
