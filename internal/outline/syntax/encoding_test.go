package syntax

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

var languages = map[string]func() *ts.Language{
	"bash": grammars.BashLanguage, "c": grammars.CLanguage, "cpp": grammars.CppLanguage, "c_sharp": grammars.CSharpLanguage,
	"java": grammars.JavaLanguage, "javascript": grammars.JavascriptLanguage, "markdown": grammars.MarkdownLanguage,
	"php": grammars.PhpLanguage, "python": grammars.PythonLanguage, "ruby": grammars.RubyLanguage, "rust": grammars.RustLanguage,
	"tsx": grammars.TsxLanguage, "typescript": grammars.TypescriptLanguage,
}

func tablesFor(tb testing.TB, name string) (*tables, *ts.Language) {
	tb.Helper()
	lang := languages[name]()
	t, err := tablesOf(name, lang)
	if err != nil {
		tb.Fatal(err)
	}
	return t, lang
}

// Decoded tables equal the encoded ones, and scannerFor finds the library's scanner for them.
func TestEncodeTables(t *testing.T) {
	for name := range all {
		want, lang := tablesFor(t, name)
		b := want.append(nil)
		got := decodeTables(name, b)
		if got == nil {
			t.Errorf("%s: decodeTables rejects the encoded tables", name)
			continue
		}
		for _, s := range []*tables{want, got} { // nil and empty are equal
			if len(s.externals) == 0 {
				s.externals = nil
			}
			for i := range s.prods {
				if len(s.prods[i].children) == 0 {
					s.prods[i].children = nil
				}
			}
			if len(s.keyword.transitions) == 0 {
				s.keyword.transitions = nil
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: decoded tables differ from the encoded ones", name)
		}
		if scanner := scannerFor(got); !reflect.DeepEqual(scanner, lang.ExternalScanner) {
			t.Errorf("%s: scanner %v, want %v", name, scanner, lang.ExternalScanner)
		}
		t.Logf("%s: %d bytes", name, len(b))
	}
}

// libraryVersion is the version in go.mod.
func TestLibraryVersion(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "github.com/odvcencio/gotreesitter "+libraryVersion+"\n") {
		t.Errorf("libraryVersion is %s; go.mod has another version", libraryVersion)
	}
}

// An expanded row has the same values as the library's tables.
func TestExpandRow(t *testing.T) {
	for name := range all {
		tables, lang := tablesFor(t, name)
		for state := range tables.modes {
			got, want := make([]uint16, tables.symbols), make([]uint16, tables.symbols)
			tables.expandRow(uint32(state), got)
			if state < len(lang.ParseTable) {
				copy(want, lang.ParseTable[state])
			} else if i := state - len(lang.ParseTable); i < len(lang.SmallParseTableMap) {
				row := lang.SmallParseTable[lang.SmallParseTableMap[i]:]
				at := 1
				for range row[0] {
					for _, sym := range row[at+2 : at+2+int(row[at+1])] {
						if want[sym] == 0 {
							want[sym] = row[at]
						}
					}
					at += 2 + int(row[at+1])
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, state %d: %v, want %v", name, state, got, want)
			}
		}
	}
}

// decodeTables rejects tables that are damaged, truncated or of another language.
func TestDecodeDamagedTables(t *testing.T) {
	want, _ := tablesFor(t, "markdown")
	b := want.append(nil)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		damaged := append([]byte(nil), b...)
		damaged[rnd.IntN(len(b))] ^= byte(1 << rnd.IntN(8))
		if decodeTables("markdown", damaged) != nil || decodeTables("markdown", b[:rnd.IntN(len(b))]) != nil {
			t.Fatal("decodeTables accepts damaged tables")
		}
	}
	if decodeTables("c", b) != nil || decodeTables("markdown", nil) != nil {
		t.Error("decodeTables accepts tables of another language")
	}
}

// A memoryStore is a TableStore in memory.
type memoryStore map[string][]byte

func (s memoryStore) LoadTables(name string) []byte    { return s[name] }
func (s memoryStore) SaveTables(name string, b []byte) { s[name] = b }

// A grammar takes its tables from the store. If the stored tables are damaged, it takes them from the
// library and saves them again.
func TestUseTables(t *testing.T) {
	store := make(memoryStore)
	UseTables(store)
	defer tableStore.Store(nil)
	loads := 0
	load := func() *Grammar {
		t.Helper()
		g, err := loader("java", func() *ts.Language { loads++; return grammars.JavaLanguage() })()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	load()
	whole := string(store["java"])
	tree, err := load().Parse([]byte("class A { int f() { return 1; } }"))
	if loads != 1 || err != nil || !tree.Whole() {
		t.Errorf("the library was loaded %d times, want 1; %v", loads, err)
	}
	store["java"][len(whole)/2]++
	load()
	if loads != 2 || string(store["java"]) != whole {
		t.Errorf("after damage the library was loaded %d times, want 2", loads)
	}
}

// Parsing with any tables that decodeTables accepts does not panic and ends.
func FuzzDecodeTables(f *testing.F) {
	want, _ := tablesFor(f, "markdown")
	b := want.append(nil)
	head := 4 + len(tablesHeader("markdown"))
	f.Add(uint32(0), []byte{})
	f.Add(uint32(100), []byte{1, 2, 3})
	f.Add(uint32(len(b)-head-4), []byte{255, 255})
	f.Fuzz(func(t *testing.T, at uint32, over []byte) {
		changed := append([]byte(nil), b...)
		copy(changed[head+int(at)%(len(b)-head):], over)
		binary.LittleEndian.PutUint32(changed, checksum(changed[4:]))
		read := decodeTables("markdown", changed)
		if read == nil {
			return
		}
		g, err := newGrammar(read)
		if err != nil {
			return
		}
		if tree, err := g.Parse([]byte("# Title\n\nSome *text* with `code`.\n\n- one\n- two\n\n```go\nfunc f() {}\n```\n")); err == nil {
			_ = tree.Root().Children()
			tree.Release()
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"java", "typescript", "cpp"} {
		t, _ := tablesFor(b, name)
		encoded := t.append(nil)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := newGrammar(decodeTables(name, encoded)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
