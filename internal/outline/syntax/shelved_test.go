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

// Tables read back as they were written, and with them comes the library's own scanner.
func TestShelved(t *testing.T) {
	for name := range all {
		want, lang := tablesFor(t, name)
		b := want.append(nil)
		got := readTables(name, b)
		if got == nil {
			t.Errorf("%s: what was written cannot be read", name)
			continue
		}
		for _, s := range []*tables{want, got} { // nil and empty are the same
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
			t.Errorf("%s: what was read is not what was written", name)
		}
		if scanner := scannerFor(got); !reflect.DeepEqual(scanner, lang.ExternalScanner) {
			t.Errorf("%s: scanner %v, want %v", name, scanner, lang.ExternalScanner)
		}
		t.Logf("%s: %d bytes", name, len(b))
	}
}

// The tables that are kept go with the library that is linked.
func TestShelvedLibrary(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "github.com/odvcencio/gotreesitter "+library+"\n") {
		t.Errorf("tables are those of %s, and the library is another", library)
	}
}

// A row has what the library's tables have.
func TestSpread(t *testing.T) {
	for name := range all {
		tables, lang := tablesFor(t, name)
		for state := range tables.modes {
			got, want := make([]uint16, tables.symbols), make([]uint16, tables.symbols)
			tables.spread(uint32(state), got)
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

// Nothing is read of tables that are damaged, cut, of another name, or of another format.
func TestShelvedDamage(t *testing.T) {
	want, _ := tablesFor(t, "markdown")
	b := want.append(nil)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		damaged := append([]byte(nil), b...)
		damaged[rnd.IntN(len(b))] ^= byte(1 << rnd.IntN(8))
		if readTables("markdown", damaged) != nil || readTables("markdown", b[:rnd.IntN(len(b))]) != nil {
			t.Fatal("damaged tables are read")
		}
	}
	if readTables("c", b) != nil || readTables("markdown", nil) != nil {
		t.Error("tables of another name are read")
	}
}

// A kept is a shelf in memory.
type kept map[string][]byte

func (k kept) LoadTables(name string) []byte    { return k[name] }
func (k kept) SaveTables(name string, b []byte) { k[name] = b }

// A grammar is loaded without the library where a shelf has its tables, and from it, silently,
// where what the shelf has is damaged; then the shelf has them again.
func TestKeepOn(t *testing.T) {
	k := make(kept)
	KeepOn(k)
	defer shelf.Store(nil)
	asked := 0
	load := func() *Grammar {
		t.Helper()
		g, err := loader("java", func() *ts.Language { asked++; return grammars.JavaLanguage() })()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	load()
	whole := string(k["java"])
	tree, err := load().Parse([]byte("class A { int f() { return 1; } }"))
	if asked != 1 || err != nil || !tree.Whole() {
		t.Errorf("the library was asked %d times; %v", asked, err)
	}
	k["java"][len(whole)/2]++
	load()
	if asked != 2 || string(k["java"]) != whole {
		t.Errorf("after damage the library was asked %d times", asked)
	}
}

// Whatever is read as tables can be parsed by, and comes to an end.
func FuzzReadTables(f *testing.F) {
	want, _ := tablesFor(f, "markdown")
	b := want.append(nil)
	head := 4 + len(shelvedHead("markdown"))
	f.Add(uint32(0), []byte{})
	f.Add(uint32(100), []byte{1, 2, 3})
	f.Add(uint32(len(b)-head-4), []byte{255, 255})
	f.Fuzz(func(t *testing.T, at uint32, over []byte) {
		changed := append([]byte(nil), b...)
		copy(changed[head+int(at)%(len(b)-head):], over)
		binary.LittleEndian.PutUint32(changed, shelvedSum(changed[4:]))
		read := readTables("markdown", changed)
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
		kept := t.append(nil)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := newGrammar(readTables(name, kept)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
