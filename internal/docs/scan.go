package docs

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"ken/internal/docs/mention"
	"ken/internal/outline"
	"ken/internal/repo"
)

// A symbolName is the name of a symbol: a member, and its owner if the repository has that: a type, or a package. For
// an option it is the word that identifies it.
type symbolName struct {
	owner, member string
	isOption      bool
}

// A symbolScan searches the files of the tree for names of symbols.
//
// A name counts in code and not in a comment. A qualified name is searched for where its owner is: in the files
// that declare a type of that name, or that belong to a package of that name. If there are none, the owner is a
// variable or from another project, and only the member counts. A member also counts in a file that declares a
// type which the declaration of the owner names: the owner may inherit it.
type symbolScan struct {
	options wordSet                // words of options, and whether a file has them
	words   wordSet                // members, and whether they occur in code
	pairs   map[symbolName]bool    // qualified names, and whether they occur in code
	owned   wordSet                // words that own a member, and whether they occur in code
	ofAny   map[string][]string    // owners by member
	homes   map[string][]repo.File // files by the owners that they declare, or belong to
	coded   map[string][]repo.File // files by the members of pairs in their code
	known   map[symbolName]bool    // pairs that the owner declares, or may inherit

	mu     sync.Mutex
	having map[string][]repo.File // files by the words that occur anywhere in them
}

// maxHaving limits how many files may contain a name that is examined more closely.
const maxHaving = 300

func newSymbolScan() *symbolScan {
	return &symbolScan{
		options: make(wordSet), words: make(wordSet), pairs: make(map[symbolName]bool), owned: make(wordSet), ofAny: make(map[string][]string),
		homes: make(map[string][]repo.File), coded: make(map[string][]repo.File), known: make(map[symbolName]bool), having: make(map[string][]repo.File),
	}
}

// split returns the last two parts of a name.
func split(name string) symbolName {
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".:#", r) })
	n := symbolName{member: mention.SymbolWord(name)}
	if len(parts) > 1 {
		n.owner = strings.Trim(parts[len(parts)-2], "$@?!&*()")
	}
	return n
}

// add adds the name of a mention to the search.
func (s *symbolScan) add(m *mention.Mention) {
	n := nameOf(m)
	if n.isOption {
		s.options.add(n.member)
		return
	}
	s.words.add(n.member)
	if _, known := s.pairs[n]; n.owner != "" && !known {
		s.pairs[n] = false
		s.owned.add(n.owner)
		s.ofAny[n.member] = append(s.ofAny[n.member], n.owner)
	}
}

// path marks the words in the path of a file.
func (s *symbolScan) path(p repo.Path) {
	for element := range strings.SplitSeq(string(p), "/") {
		s.words.mark([]byte(element))
		s.options.markOptions([]byte(element))
	}
}

// text marks the names in a file. It is safe for concurrent use.
func (s *symbolScan) text(f repo.File, text []byte) {
	s.options.markOptions(text)
	code := codeOf(f.Path)
	has := make(map[string]bool)   // anywhere
	coded := make(map[string]bool) // members, in code
	home := make(map[string]bool)  // owners that the file declares
	var used []symbolName
	eachWord(text, func(at int, word []byte) {
		known, owns := s.words[string(word)], s.owned[string(word)]
		if known == nil && owns == nil {
			return
		}
		if owns != nil && !owns.Load() && !code.comment(text, at) {
			owns.Store(true)
		}
		if owns != nil && !home[string(word)] && declares(text, at) {
			home[string(word)] = true
		}
		if known == nil {
			return
		}
		owners := s.ofAny[string(word)]
		if has[string(word)] && known.Load() && len(owners) == 0 {
			return
		}
		has[string(word)] = true
		if known.Load() && len(owners) == 0 || code.comment(text, at) {
			return
		}
		known.Store(true)
		if len(owners) > 0 {
			coded[string(word)] = true
			isQuoted := quoted(text, at, len(word)) // code may look the name up
			for _, owner := range owners {
				if isQuoted || after(text[:at], owner) {
					used = append(used, symbolName{owner: owner, member: string(word)})
				}
			}
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for word := range has {
		if len(s.having[word]) <= maxHaving {
			s.having[word] = append(s.having[word], f)
		}
	}
	for word := range coded {
		s.coded[word] = append(s.coded[word], f)
	}
	for _, name := range packagesOf(f.Path) {
		if s.owned[name] != nil {
			home[name] = true
		}
	}
	for owner := range home {
		s.homes[owner] = append(s.homes[owner], f)
	}
	for _, n := range used {
		s.pairs[n] = true
	}
}

// quoted reports whether a word in a text is a string.
func quoted(text []byte, at, size int) bool {
	const quotes = "\"'`"
	end := at + size
	isInside := at > 0 && end < len(text)
	return isInside && text[at-1] == text[end] && strings.IndexByte(quotes, text[end]) >= 0
}

// after reports whether a text ends with an owner and a separator.
func after(text []byte, owner string) bool {
	for _, mark := range []string{".", "::", "#", "->", "?.", `\`} {
		rest, ok := bytes.CutSuffix(text, []byte(mark))
		if !ok {
			continue
		}
		rest, ok = bytes.CutSuffix(rest, []byte(owner))
		if ok && (len(rest) == 0 || !wordBytes()[rest[len(rest)-1]]) {
			return true
		}
	}
	return false
}

// lineBefore returns the line before a position, shortened to the end of a long one.
func lineBefore(text []byte, at int) []byte {
	const most = 400
	before := text[max(0, at-most):at]
	return before[bytes.LastIndexByte(before, '\n')+1:]
}

// declares reports whether the word at a position is declared as a type, by the word before it.
func declares(text []byte, at int) bool {
	line := lineBefore(text, at)
	fields := bytes.Fields(line)
	if len(fields) == 0 {
		return false
	}
	last := string(fields[len(fields)-1])
	switch {
	case typeWords[last]:
		return true
	case string(fields[0]) == "impl" || bytes.HasPrefix(fields[0], []byte("impl<")):
		return len(fields) == 1 || last == "for" || bytes.HasPrefix(fields[0], []byte("impl<")) && bytes.HasSuffix(bytes.TrimRight(line, " "), []byte(">"))
	case string(fields[0]) == "func" && len(fields) <= 3: // a receiver
		return bytes.HasSuffix(bytes.TrimRight(line, "*"), []byte(" ")) || bytes.HasSuffix(line, []byte("(")) || bytes.HasSuffix(line, []byte("(*"))
	}
	return false
}

var typeWords = setOf(strings.Fields("class struct type trait interface enum module mod namespace object record union protocol extension mixin"))

// packagesOf returns the names of the packages that a file may belong to: its own name, and those of its
// directories.
func packagesOf(p repo.Path) []string {
	base := p.Base()
	names := []string{strings.TrimSuffix(base, path.Ext(base))}
	for dir := range strings.SplitSeq(string(p.Dir()), "/") {
		names = append(names, dir)
	}
	for _, name := range names {
		if strings.Contains(name, "-") {
			names = append(names, strings.ReplaceAll(name, "-", "_"))
		}
	}
	return names
}

// packageOf reports whether a file may belong to a package with this name.
func packageOf(p repo.Path, name string) bool { return slices.Contains(packagesOf(p), name) }

// nameOf returns the name of a symbol or an option.
func nameOf(m *mention.Mention) symbolName {
	if m.Kind == mention.Option {
		return symbolName{member: string(mention.OptionWord([]byte(m.Name), nil)), isOption: true}
	}
	return split(m.Name)
}

// nameOf returns the name to search for. It has no owner if no file declares the owner, unless the owner checks
// like a type that is gone.
func (s *symbolScan) nameOf(m *mention.Mention) symbolName {
	n := nameOf(m)
	if n.owner != "" && len(s.homes[n.owner]) == 0 && !s.ownerGone(n.owner) {
		n.owner = ""
	}
	return n
}

// ownerGone reports whether an owner checks like a type and occurs in no code.
func (s *symbolScan) ownerGone(owner string) bool {
	return owner != strings.ToLower(owner) && !s.owned[owner].Load()
}

// isProven reports whether a name that holds is proven to. The word of a qualified name may be about anything else in
// the file of its owner: the name is proven if code writes it with its owner, or if the owner declares or inherits it.
func (s *symbolScan) isProven(n symbolName) bool {
	isLoose := n.owner == "" || len(s.homes[n.owner]) == 0 || len(s.homes[n.owner]) > maxHaving
	return isLoose || s.pairs[n] || s.known[n]
}

// holds reports whether a name occurs in the code of the tree.
func (s *symbolScan) holds(n symbolName) bool {
	if n.isOption {
		return s.options[n.member].Load()
	}
	if !s.words[n.member].Load() {
		return false
	}
	if n.owner != "" && s.ownerGone(n.owner) {
		return false
	}
	homes := s.homes[n.owner]
	coded := s.coded[n.member]
	if n.owner == "" || len(homes) == 0 || s.pairs[n] || s.known[n] || len(coded) > maxHaving || len(homes) > maxHaving {
		return true
	}
	at := make(map[repo.Path]bool)
	for _, f := range homes {
		at[f.Path] = true
		if strings.HasSuffix(string(f.Path), ".go") {
			at[f.Path.Dir()+"/*.go"] = true
		}
	}
	return slices.ContainsFunc(coded, func(f repo.File) bool {
		return at[f.Path] || strings.HasSuffix(string(f.Path), ".go") && at[f.Path.Dir()+"/*.go"]
	})
}

// declared finds the qualified names that a file of their owner declares. A file that cannot be parsed may declare all.
func (s *symbolScan) declared(ctx context.Context, tree *workTree) error {
	asked := make(map[repo.Path][]symbolName)
	var files []repo.File
	for n := range s.pairs {
		if !s.holds(n) || s.isProven(n) {
			continue
		}
		for _, f := range s.coded[n.member] {
			if asked[f.Path] == nil {
				files = append(files, f)
			}
			asked[f.Path] = append(asked[f.Path], n)
		}
	}
	var mu sync.Mutex
	return tree.Read(ctx, files, maxText, func(i int, text []byte, err error) {
		f := files[i]
		var o *outline.Outline
		if err == nil {
			o, err = outline.Parse(f.Path, text)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, n := range asked[f.Path] {
			isDeclared := err != nil || o.Partial != "" || slices.ContainsFunc(o.Symbols, func(d outline.Symbol) bool { return n.definedBy(f.Path, &d) })
			s.known[n] = s.known[n] || isDeclared
		}
	})
}

// inherited finds the qualified names whose member is in a file that declares a type which the declaration of the
// owner names.
func (s *symbolScan) inherited(ctx context.Context, tree *workTree) error {
	var files []repo.File
	asked := make(map[repo.Path]bool)
	ask := func(list []repo.File) {
		for _, f := range list {
			if !asked[f.Path] {
				asked[f.Path] = true
				files = append(files, f)
			}
		}
	}
	for n := range s.pairs {
		if !s.holds(n) && s.words[n.member].Load() {
			ask(s.homes[n.owner])
			ask(s.coded[n.member])
		}
	}
	if len(files) == 0 {
		return nil
	}
	var mu sync.Mutex
	types := make(map[repo.Path]map[string]bool) // types by the file that declares them
	named := make(map[string]map[string]bool)    // types by the owner whose declaration names them
	err := tree.Read(ctx, files, maxText, func(i int, text []byte, err error) {
		if err != nil {
			return
		}
		declared := make(map[string]bool)
		parts := make(map[string][]byte) // parts of declarations, by owner
		eachWord(text, func(at int, word []byte) {
			if len(word) < 3 || word[0] < 'A' || word[0] > 'Z' || !declares(text, at) {
				return
			}
			declared[string(word)] = true
			if s.owned[string(word)] != nil {
				line := lineBefore(text, at)
				parts[string(word)] = append(append(parts[string(word)], line...), declarationFrom(text[at:], files[i].Path)...)
			}
		})
		mu.Lock()
		defer mu.Unlock()
		types[files[i].Path] = declared
		for owner, part := range parts {
			if named[owner] == nil {
				named[owner] = make(map[string]bool)
			}
			eachWord(part, func(_ int, word []byte) { named[owner][string(word)] = true })
		}
	})
	if err != nil {
		return err
	}
	s.inheritedFrom(named, types)
	return nil
}

// inheritedFrom marks the qualified names that an owner may inherit, given the types that its declaration names
// and those that files declare.
func (s *symbolScan) inheritedFrom(named map[string]map[string]bool, types map[repo.Path]map[string]bool) {
	for n := range s.pairs {
		for _, f := range s.coded[n.member] {
			for name := range types[f.Path] {
				if name != n.owner && named[n.owner][name] && !isTest(f.Path) {
					s.known[n] = true
				}
			}
		}
	}
}

// declarationFrom returns the part of a declaration that names the base types: up to its body, and in Go also the
// body with its embedded fields.
func declarationFrom(text []byte, p repo.Path) []byte {
	const most = 2000
	text = text[:min(len(text), most)]
	end := bytes.IndexAny(text, "{:;")
	if path.Ext(string(p)) == ".go" {
		end = bytes.Index(text, []byte("\n}"))
	}
	if path.Ext(string(p)) == ".rb" {
		end = bytes.IndexByte(text, '\n')
	}
	if end < 0 {
		return text
	}
	return text[:end]
}

// isTest reports whether a path is that of a test or an example.
func isTest(p repo.Path) bool {
	return ofTests(p) || p.IsTest()
}

// definedBy reports whether a symbol of a file has this name.
func (n symbolName) definedBy(file repo.Path, s *outline.Symbol) bool {
	if n.isOption {
		return true
	}
	if mention.SymbolWord(s.Name) != n.member {
		return false
	}
	if n.owner == "" {
		return true
	}
	if s.Depth == 0 && s.Qualified == "" {
		return packageOf(file, n.owner)
	}
	owner := split(s.Qualified).owner
	return owner == n.owner || owner == "" && packageOf(file, n.owner)
}

// isAmbiguous reports whether the name may also be an option, a key, a column or an ordinary word: the name of a
// field, of a method or module in lower case, or a capitalised word that is not the name of a type.
func (n symbolName) isAmbiguous(file repo.Path, s *outline.Symbol) bool {
	if mention.IsCapitalised(n.member) && n.owner == "" {
		return !typeKind(s.Kind)
	}
	switch s.Kind {
	case outline.Field, outline.Property, outline.Member:
		return true
	case outline.Module:
		return s.Name == strings.ToLower(s.Name)
	default:
		plain := !strings.Contains(strings.Trim(s.Name, "_"), "_") || path.Ext(string(file)) == ".rb" // its settings are methods
		return s.Depth > 0 && s.Name == strings.ToLower(s.Name) && plain
	}
}

func typeKind(k outline.Kind) bool {
	return slices.Contains([]outline.Kind{outline.Type, outline.Class, outline.Struct, outline.Union, outline.Interface, outline.Trait, outline.Enum}, k)
}

// commentMarks are the comment syntax of a kind of file.
type commentMarks struct {
	line  []string // up to the end of the line
	stars bool     // /* … */, with a star at the start of each line
	shell bool
}

// isProgram reports whether a file of this kind is the source of a program, and no script of a shell.
func (c commentMarks) isProgram() bool { return len(c.line) > 0 && !c.shell }

// codeOf returns the comment syntax of a file, zero if it is not source code.
func codeOf(p repo.Path) commentMarks {
	switch lang := outline.LanguageOf(p, nil); lang {
	case outline.Python, outline.Ruby, outline.Bash:
		return commentMarks{line: []string{"#"}, shell: lang == outline.Bash}
	case outline.Go, outline.Rust, outline.Java, outline.JavaScript, outline.TypeScript, outline.TSX, outline.C, outline.CPP, outline.CSharp, outline.PHP:
		return commentMarks{line: []string{"//"}, stars: true}
	default:
		return commentMarks{}
	}
}

// comment reports whether a position in a text is in a comment, judged by its line.
func (c commentMarks) comment(text []byte, at int) bool {
	line := lineBefore(text, at)
	trimmed := bytes.TrimLeft(line, " \t")
	if c.stars && (bytes.HasPrefix(trimmed, []byte("* ")) || bytes.HasPrefix(trimmed, []byte("/*"))) {
		return true
	}
	for _, mark := range c.line {
		if bytes.HasPrefix(trimmed, []byte(mark)) {
			return true
		}
		i := bytes.Index(line, []byte(" "+mark+" "))
		if i >= 0 && bytes.Count(line[:i], []byte(`"`))%2 == 0 && bytes.Count(line[:i], []byte(`'`))%2 == 0 {
			return true
		}
	}
	return false
}
