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
// an option it is the word that identifies it, and isText is set: a string is enough to define it.
type symbolName struct {
	owner, member    string
	isOption, isText bool
}

// stemOf returns the name of a file without its extension: a component has that of its file.
func stemOf(p repo.Path) string {
	base := p.Base()
	return strings.TrimSuffix(base, path.Ext(base))
}

// mark returns the kind of the name's last part in an index of names.
func (n symbolName) mark() string {
	if n.isOption {
		return optionMark
	}
	return memberMark
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

// quoted reports whether a word in a text is a string.
func quoted(text []byte, at, size int) bool {
	const quotes = "\"'`"
	end := at + size
	isInside := at > 0 && end < len(text)
	return isInside && text[at-1] == text[end] && strings.IndexByte(quotes, text[end]) >= 0
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
	names := []string{stemOf(p)}
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
	if m.Kind != mention.Option {
		n := split(m.Name)
		n.isText = n.owner == "" && mention.IsSpelledLikeCode(n.member)
		return n
	}
	if word := mention.OptionWord([]byte(m.Name), nil); word != nil {
		return symbolName{member: string(word), isOption: true, isText: true}
	}
	return symbolName{member: m.Name, isText: true}
}

// nameOf returns the name to search for. It has no owner if no file declares the owner, unless the owner checks
// like a type that is gone.
func (j *judge) nameOf(m *mention.Mention) symbolName {
	n := nameOf(m)
	if n.owner != "" && len(j.homes(n)) == 0 && !j.ownerGone(n) {
		n.owner, n.isText = "", mention.IsSpelledLikeCode(n.member)
	}
	return n
}

// isForeign reports whether a name that code only had in a string may be that of another program or of a library, which
// code used: it is no option, and no environment variable of which code still has another one with its first part.
func (j *judge) isForeign(m *CheckedMention, n symbolName) bool {
	prefix := prefixOf(n.member)
	isOption := m.Kind == mention.Option && strings.HasPrefix(m.Text, "--")
	return !isOption && (prefix == "" || !j.record.Names.occurs(prefixMark, prefix))
}

// isVendored reports whether a path is that of another project's code.
func isVendored(p repo.Path) bool {
	return isBelow(p, func(dir string) bool { return vendorDirs[dir] })
}

var vendorDirs = setOf(strings.Fields("vendor vendored third_party third-party node_modules external deps"))

// having returns the files that have the last part of a name.
func (j *judge) having(n symbolName) []repo.File {
	x := &j.record.Names
	which := x.of(x.having, n.mark(), n.member)
	return x.files(which[:min(len(which), maxHaving)])
}

// coding returns the positions of the files that have the last part of a name in code.
func (j *judge) coding(n symbolName) []int {
	x := &j.record.Names
	return x.of(x.coding, n.mark(), n.member)
}

// homes returns the positions of the files that declare the owner of a name, or belong to it.
func (j *judge) homes(n symbolName) []int {
	x := &j.record.Names
	return x.of(x.homes, ownerMark, n.owner)
}

// ownerGone reports whether the owner of a name checks like a type and occurs in no code.
func (j *judge) ownerGone(n symbolName) bool {
	x := &j.record.Names
	return n.owner != strings.ToLower(n.owner) && len(x.of(x.coding, ownerMark, n.owner)) == 0
}

// isProven reports whether a name that holds is proven to. The word of a qualified name may be about anything else in
// the file of its owner: the name is proven if code writes it with its owner, or if the owner declares or inherits it.
func (j *judge) isProven(n symbolName) bool {
	homes := len(j.homes(n))
	isLoose := n.owner == "" || homes == 0 || homes > maxHaving
	return isLoose || j.record.Names.isWritten(n) || j.declare[n]
}

// holds reports whether a name occurs in the code of the tree. A qualified name has to be where its owner is: in the files
// that declare a type of that name, or that belong to a package of that name. If there are none, the owner is a variable
// or from another project, and only the last part counts. It also counts in a file that declares a type which the
// declaration of the owner names: the owner may inherit it.
func (j *judge) holds(n symbolName) bool {
	x := &j.record.Names
	if !x.occurs(n.mark(), n.member) {
		return false
	}
	if n.owner == "" {
		return true
	}
	if j.ownerGone(n) {
		return false
	}
	homes, coded := j.homes(n), j.coding(n)
	isLoose := len(homes) == 0 || len(homes) > maxHaving || len(coded) > maxHaving
	if isLoose || x.isWritten(n) || j.declare[n] {
		return true
	}
	at := make(map[repo.Path]bool)
	for _, i := range homes {
		at[placeOf(x.Files[i].Path)] = true
	}
	return slices.ContainsFunc(coded, func(i int) bool { return at[placeOf(x.Files[i].Path)] })
}

// placeOf returns the path of a file, or for Go that of its package.
func placeOf(p repo.Path) repo.Path {
	if strings.HasSuffix(string(p), ".go") {
		return p.Dir() + "/*.go"
	}
	return p
}

// findDeclared finds the qualified names that a file of their owner declares. A file that cannot be parsed may declare all.
func (j *judge) findDeclared(ctx context.Context) error {
	x := &j.record.Names
	asked := make(map[int][]symbolName)
	var which []int
	for n := range j.declare {
		if !j.holds(n) || j.isProven(n) {
			continue
		}
		for _, i := range j.coding(n) {
			if asked[i] == nil {
				which = append(which, i)
			}
			asked[i] = append(asked[i], n)
		}
	}
	var mu sync.Mutex
	return j.tree.Read(ctx, x.files(which), maxText, func(i int, text []byte, err error) {
		p := x.Files[which[i]].Path
		var o *outline.Outline
		if err == nil {
			o, err = outline.Parse(p, text)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, n := range asked[which[i]] {
			isDeclared := err != nil || o.Partial != "" || slices.ContainsFunc(o.Symbols, func(d outline.Symbol) bool { return n.definedBy(p, &d) })
			j.declare[n] = j.declare[n] || isDeclared
		}
	})
}

// findInherited finds the qualified names whose last part is in a file that declares a type which the declaration of the
// owner names.
func (j *judge) findInherited(ctx context.Context) error {
	x := &j.record.Names
	owners := make(map[string]bool)
	var which []int
	for n := range j.declare {
		owners[n.owner] = true
		if x.occurs(n.mark(), n.member) && !j.holds(n) {
			which = append(append(which, j.homes(n)...), j.coding(n)...)
		}
	}
	slices.Sort(which)
	which = slices.Compact(which)
	var mu sync.Mutex
	types := make(map[int]map[string]bool)    // types by the file that declares them
	named := make(map[string]map[string]bool) // types by the owner whose declaration names them
	err := j.tree.Read(ctx, x.files(which), maxText, func(i int, text []byte, err error) {
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
			if owners[string(word)] {
				line := lineBefore(text, at)
				parts[string(word)] = append(append(parts[string(word)], line...), declarationFrom(text[at:], x.Files[which[i]].Path)...)
			}
		})
		mu.Lock()
		defer mu.Unlock()
		types[which[i]] = declared
		for owner, part := range parts {
			if named[owner] == nil {
				named[owner] = make(map[string]bool)
			}
			eachWord(part, func(_ int, word []byte) { named[owner][string(word)] = true })
		}
	})
	for n := range j.declare {
		for _, i := range j.coding(n) {
			for name := range types[i] {
				if name != n.owner && named[n.owner][name] && !isTest(x.Files[i].Path) {
					j.declare[n] = true
				}
			}
		}
	}
	return err
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

// literal is the kind of a name that code has in a string, or takes from the environment.
const literal outline.Kind = "literal"

// variableMarks stand before the name of an environment variable.
var variableMarks = []string{"env.", "$", "${"}

// eachLiteral calls f with each word of a text that is a string, or the name of an environment variable.
func eachLiteral(p repo.Path, text []byte, f func(word []byte)) {
	code := codeOf(p)
	eachWord(text, func(at int, word []byte) {
		before := text[:at]
		isLiteral := quoted(text, at, len(word)) || bytes.HasSuffix(before, []byte("--")) && !bytes.HasSuffix(before, []byte(" --"))
		if prefixOf(string(word)) != "" {
			isVariable := func(mark string) bool { return bytes.HasSuffix(before, []byte(mark)) }
			isLiteral = isLiteral || slices.ContainsFunc(variableMarks, isVariable)
		}
		if isLiteral && !code.comment(text, at) {
			f(word)
		}
	})
}

// isExample reports whether a path is below a directory of examples, which have names that documents use for their own.
func isExample(p repo.Path) bool {
	return isBelow(p, func(dir string) bool { return testDirs[dir] && !strings.Contains(dir, "test") })
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
	if s.Kind == literal {
		return n.isText
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

// isAmbiguous reports whether the name may also be an ordinary word: it is spelled like one and is no type, but the name of a
// member or a module.
func (n symbolName) isAmbiguous(file repo.Path, s *outline.Symbol) bool {
	if n.isText || mention.IsSpelledLikeCode(n.member) {
		return false
	}
	if mention.IsCapitalised(n.member) && n.owner == "" {
		return !typeKind(s.Kind)
	}
	switch s.Kind {
	case outline.Field, outline.Property, outline.Member:
		return true
	case outline.Module:
		return s.Name == strings.ToLower(s.Name)
	default:
		return s.Depth > 0 && s.Name == strings.ToLower(s.Name)
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
