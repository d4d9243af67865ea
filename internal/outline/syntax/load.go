package syntax

import (
	"fmt"
	"sync"
	"sync/atomic"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

// The grammars, each loaded when it is first asked for: a few milliseconds, or
// fifty for C++, unless a [Shelf] has its tables.
var (
	Bash       = loader("bash", grammars.BashLanguage)
	C          = loader("c", grammars.CLanguage)
	CPP        = loader("cpp", grammars.CppLanguage)
	CSharp     = loader("c_sharp", grammars.CSharpLanguage)
	Java       = loader("java", grammars.JavaLanguage)
	JavaScript = loader("javascript", grammars.JavascriptLanguage)
	Markdown   = loader("markdown", grammars.MarkdownLanguage)
	PHP        = loader("php", grammars.PhpLanguage)
	Python     = loader("python", grammars.PythonLanguage)
	Ruby       = loader("ruby", grammars.RubyLanguage)
	Rust       = loader("rust", grammars.RustLanguage)
	TSX        = loader("tsx", grammars.TsxLanguage)
	TypeScript = loader("typescript", grammars.TypescriptLanguage)
)

// A Shelf keeps the tables of grammars from one run of the program to the next: taking
// them from the library takes longer than parsing most files. It is never needed.
type Shelf interface {
	// LoadTables returns what was saved under a name last, nil for nothing. Whatever
	// else it returns is recognised.
	LoadTables(name string) []byte
	// SaveTables keeps tables under a name, in place of those before, or does not.
	SaveTables(name string, tables []byte)
}

var shelf atomic.Pointer[Shelf]

// KeepOn has grammars that are loaded from now on take their tables from a shelf, and put
// there what it does not have.
func KeepOn(s Shelf) { shelf.Store(&s) }

func loader(name string, load func() *ts.Language) func() (*Grammar, error) {
	return sync.OnceValues(func() (g *Grammar, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("load the grammar: %v", r)
			}
		}()
		kept := shelf.Load()
		if kept != nil {
			if t := readTables(name, (*kept).LoadTables(name)); t != nil {
				return newGrammar(t)
			}
		}
		t, err := tablesOf(name, load())
		if err != nil {
			return nil, err
		}
		if kept != nil {
			(*kept).SaveTables(name, t.append(nil))
		}
		return newGrammar(t)
	})
}

// scannerFor returns the library's scanner for a language, nil where it has none.
func scannerFor(t *tables) ts.ExternalScanner {
	scanner := grammars.LookupExternalScanner(t.name)
	bound, ok := scanner.(interface {
		ExternalScannerForLanguage(lang *ts.Language) ts.ExternalScanner
	})
	if ok {
		return bound.ExternalScannerForLanguage(&ts.Language{Name: t.name, SymbolNames: t.names, ExternalSymbols: t.externals})
	}
	return scanner
}
