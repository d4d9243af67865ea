package syntax

import (
	"fmt"
	"sync"
	"sync/atomic"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

// The grammars. Each is loaded on first use. That takes a few milliseconds, or fifty for C++, unless a
// [TableStore] has its tables.
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

// A TableStore saves the tables of grammars for later runs of the program, because converting the library's
// tables takes longer than parsing most files. It is optional.
type TableStore interface {
	// LoadTables returns the saved tables of a grammar, or nil. The caller detects damaged data.
	LoadTables(name string) []byte
	// SaveTables replaces the saved tables of a grammar. It may do nothing.
	SaveTables(name string, tables []byte)
}

var tableStore atomic.Pointer[TableStore]

// UseTables makes grammars that are loaded from now on take their tables from s, and save those that s
// lacks.
func UseTables(s TableStore) { tableStore.Store(&s) }

func loader(name string, load func() *ts.Language) func() (*Grammar, error) {
	return sync.OnceValues(func() (g *Grammar, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("load the grammar: %v", r)
			}
		}()
		store := tableStore.Load()
		if store != nil {
			if t := decodeTables(name, (*store).LoadTables(name)); t != nil {
				return newGrammar(t)
			}
		}
		t, err := tablesOf(name, load())
		if err != nil {
			return nil, err
		}
		if store != nil {
			(*store).SaveTables(name, t.append(nil))
		}
		return newGrammar(t)
	})
}

// scannerFor returns the library's external scanner for a language, or nil if it has none.
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
