package uses_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/uses"
)

// A tree is a source in memory. Manifests have their real content. Other files have facts,
// one to a line:
//
//	package NAME
//	import MODULE [NAME | NAME>LOCAL | >LOCAL | *]...
//	reexport MODULE NAMES
//	decl KIND NAME        or TYPE.NAME
//	local KIND NAME       the same, not exported
//	use NAME              or QUALIFIER.NAME; .NAME is a member of an expression
//	call NAME             the same, as a call
//
// Facts are numbered like lines, from 1.
type tree struct {
	content map[repo.Path]string
	files   map[repo.Path]*uses.ParsedFile
	refs    map[repo.Path]*outline.References
	links   map[repo.Path]string
	asked   []repo.Path // what was read
}

// newTree reads an archive: "-- path --" begins a file, and "-- path -> target --" is a symbolic link.
func newTree(t *testing.T, archive string) *tree {
	t.Helper()
	tr := &tree{
		content: make(map[repo.Path]string),
		files:   make(map[repo.Path]*uses.ParsedFile),
		refs:    make(map[repo.Path]*outline.References),
		links:   make(map[repo.Path]string),
	}
	at := repo.Path("")
	for line := range strings.Lines(archive) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok {
			name, target, isLink := strings.Cut(strings.TrimSuffix(name, " --"), " -> ")
			at = repo.Path(name)
			if isLink {
				tr.links[at] = target
			}
			tr.content[at] = ""
			continue
		}
		if at != "" {
			tr.content[at] += strings.TrimLeft(line, "\t")
		}
	}
	for p, content := range tr.content {
		lang := outline.LanguageOf(p, nil)
		if tr.links[p] == "" && lang != outline.Unknown && lang != outline.Markdown && !uses.IsManifest(p) {
			tr.addFacts(t, p, lang, content)
		}
	}
	return tr
}

func (tr *tree) addFacts(t *testing.T, p repo.Path, lang outline.Language, content string) {
	t.Helper()
	f := &uses.ParsedFile{Path: p, Outline: &outline.Outline{Language: lang}}
	refs := new(outline.References)
	n := 0
	for line := range strings.Lines(content) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "package":
			f.Package = words[1]
		case "import", "reexport":
			im := outline.Import{Module: strings.Trim(words[1], `"`), Reexport: words[0] == "reexport", Line: n}
			for _, w := range words[2:] {
				name, as, _ := strings.Cut(w, ">")
				im.Names = append(im.Names, outline.Binding{Name: name, As: as})
			}
			refs.Imports = append(refs.Imports, im)
		case "decl", "local":
			f.Symbols = append(f.Symbols, symbol(words[1], words[2], lang, words[0] == "decl", n))
		case "use", "call":
			refs.Uses = append(refs.Uses, use(words[0], words[1], n))
		default:
			t.Fatalf("%s:%d: unknown fact %q", p, n, words[0])
		}
	}
	f.Imports = refs.Imports
	tr.files[p] = f
	tr.refs[p] = refs
}

func symbol(kind, full string, lang outline.Language, exported bool, line int) outline.Symbol {
	s := outline.Symbol{Kind: outline.Kind(kind), Name: full, Exported: exported, Line: line}
	if i := strings.LastIndexByte(full, '.'); i > 0 && full != "module.exports" {
		s.Name, s.Qualified = full[i+1:], full
		if kind != "method" || lang != outline.Go {
			s.Depth = 1
		}
	}
	if lang == outline.Go {
		s.Exported = unicode.IsUpper(rune(s.Name[0]))
	}
	return s
}

func use(kind, full string, line int) outline.Use {
	u := outline.Use{Name: full, Lines: []int{line}}
	if kind == "call" {
		u.Kind = "call"
	}
	for _, sep := range []string{"::", "."} {
		if i := strings.LastIndex(full, sep); i >= 0 {
			u.Qualifier, u.Name, u.Member = full[:i], full[i+len(sep):], true
			break
		}
	}
	return u
}

func (tr *tree) Paths() []repo.Path {
	var list []repo.Path
	for p := range tr.content {
		list = append(list, p)
	}
	slices.Sort(list)
	return list
}

func (tr *tree) Links() (map[repo.Path]string, error) { return tr.links, nil }

func (tr *tree) Read(p repo.Path) ([]byte, error) {
	tr.asked = append(tr.asked, p)
	content, ok := tr.content[p]
	if !ok {
		return nil, fmt.Errorf("%s: %w", p, fs.ErrNotExist)
	}
	return []byte(content), nil
}

func (tr *tree) File(p repo.Path) (*uses.ParsedFile, error) {
	tr.asked = append(tr.asked, p)
	return tr.files[p], nil
}

func (tr *tree) Declarations(name string) ([]uses.Declaration, error) {
	var list []uses.Declaration
	for _, p := range tr.Paths() {
		if f := tr.files[p]; f != nil {
			for _, s := range f.Symbols {
				if s.Name == name {
					list = append(list, uses.Declaration{Path: p, Symbol: s})
				}
			}
		}
	}
	return list, nil
}

// edgesOf returns the edges of a file, each on a line: "[likely ]to[#symbol][ via path]",
// and "ambiguous N" last.
func (tr *tree) edgesOf(t *testing.T, from repo.Path) string {
	t.Helper()
	r, err := uses.NewResolver(tr)
	if err != nil {
		t.Fatalf("NewResolver: %v", err)
	}
	if tr.files[from] == nil {
		t.Fatalf("the archive has no facts of %s", from)
	}
	found, err := r.Edges(tr.files[from], tr.refs[from])
	if err != nil {
		t.Fatalf("Edges(%s): %v", from, err)
	}
	var lines []string
	for _, e := range found.Edges {
		if e.From != from {
			t.Errorf("edge %+v: From should be %s", e, from)
		}
		if len(e.Lines) == 0 {
			t.Errorf("edge %+v has no line", e)
		}
		line := string(e.To)
		if e.Certainty == uses.Likely {
			line = "likely " + line
		}
		if e.Symbol != "" {
			line += "#" + e.Symbol
		}
		if e.Via != "" {
			line += " via " + string(e.Via)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if found.Ambiguous > 0 {
		lines = append(lines, fmt.Sprint("ambiguous ", found.Ambiguous))
	}
	for _, p := range tr.asked {
		if _, ok := tr.content[p]; !ok {
			t.Errorf("the resolver asked for %s, which is not in the tree", p)
		}
	}
	return strings.Join(lines, "\n")
}

// A resolveCase gives the edges of one file of an archive.
type resolveCase struct {
	name    string
	archive string
	from    repo.Path
	want    string
}

func runCases(t *testing.T, cases []resolveCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			compareEdges(t, c, newTree(t, c.archive).edgesOf(t, c.from))
		})
	}
}

func compareEdges(t *testing.T, c resolveCase, got string) {
	t.Helper()
	var want []string
	for line := range strings.Lines(c.want) {
		if line = strings.TrimSpace(line); line != "" {
			want = append(want, line)
		}
	}
	if got != strings.Join(want, "\n") {
		t.Errorf("edges of %s:\n%s\nshould be:\n%s", c.from, got, strings.Join(want, "\n"))
	}
}
