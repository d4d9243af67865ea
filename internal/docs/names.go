package docs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// A nameIndex says which files of the tree have which names. It is kept between checks: a check reads the files that
// changed, and all files only for names that no document had before.
//
// A name counts in code and not in a comment. Documents have no names.
type nameIndex struct {
	Names []string      // each after the mark of its kind
	Files []indexedFile // all tracked files, by path

	numbers map[string]int
	// These are of the files that changed: their words as they were, and their contents before and after.
	lost     map[string]bool
	contents map[repo.ID]bool
	// These are made by index: the files by the number of a name.
	having  [][]int // they have it anywhere
	coding  [][]int // they have it in code
	homes   [][]int // they declare the owner, or belong to a package of its name
	inPaths []bool  // the path of a file has the word
	uses    map[[2]int]bool
	unread  int // the first file that could not be read, -1 for none
}

// The kinds of names, as marks before them. One word can be a name of several kinds.
const (
	memberMark = ":" // the last part of a symbol's name
	ownerMark  = "." // the part before: a type or a package
	optionMark = "-" // of a program, in the spelling of mention.OptionWord
	quotedMark = `"` // a path that code may have in a string
	prefixMark = "^" // the first part of names like BD_DEBUG, with its underscore
)

// An indexedFile is a tracked file with the names that it has.
type indexedFile struct {
	Path   repo.Path
	ID     repo.ID // of its content
	Mode   repo.Mode
	Has    []int    // numbers of names, each shifted to make room for how it is there
	Uses   [][2]int // the owner and the member of qualified names that its code writes
	Unread string   // why it could not be read; "" if it was

	isDirty bool // its names are not known yet
}

// How a file has a name.
const (
	inText   = 1 << iota
	inCode   // not in a comment
	declared // as a type
	howBits  = iota
)

// maxHaving limits how many files may have a name that is examined more closely.
const maxHaving = 300

// isText reports whether ken looks for names in a file.
func (f *indexedFile) isText() bool {
	return f.Mode.SameType(repo.Regular) && !mention.IsDocument(f.Path)
}

func (f *indexedFile) file() repo.File { return repo.File{Path: f.Path, ID: f.ID, Mode: f.Mode} }

// update sets the files of the tree, and returns the paths of those that changed. They lose their names.
// pathsChanged reports whether a path came or went.
func (x *nameIndex) update(files []repo.File) (changed []repo.Path, pathsChanged bool) {
	x.lost, x.contents = make(map[string]bool), make(map[repo.ID]bool)
	lose := func(f *indexedFile, isPath bool) {
		changed = append(changed, f.Path)
		x.contents[f.ID] = !f.ID.IsZero()
		pathsChanged = pathsChanged || isPath
		x.addWords(f, isPath, x.lost)
	}
	before := x.Files
	x.Files = make([]indexedFile, len(files))
	at := 0
	for i, f := range files {
		for ; at < len(before) && before[at].Path < f.Path; at++ {
			lose(&before[at], true)
		}
		x.Files[i] = indexedFile{Path: f.Path, ID: f.ID, Mode: f.Mode, isDirty: true}
		if at == len(before) || before[at].Path != f.Path {
			lose(&x.Files[i], true)
			continue
		}
		old := &before[at]
		at++
		if old.ID == f.ID && old.Mode == f.Mode && !f.ID.IsZero() && old.Unread == "" {
			x.Files[i] = *old
		} else {
			lose(old, !old.Mode.SameType(f.Mode))
			x.contents[f.ID] = !f.ID.IsZero()
		}
	}
	for ; at < len(before); at++ {
		lose(&before[at], true)
	}
	return changed, pathsChanged
}

// addWords adds the words that a file has, and if isPath is set those of its path.
func (x *nameIndex) addWords(f *indexedFile, isPath bool, words map[string]bool) {
	for _, has := range f.Has {
		words[x.Names[has>>howBits][1:]] = true
	}
	if !isPath || !f.isText() {
		return
	}
	add := func(_ int, word []byte) { words[string(word)] = true }
	eachWord([]byte(f.Path), add)
	eachOption([]byte(f.Path), add)
	for _, name := range packagesOf(f.Path) {
		words[name] = true
	}
}

// learn reads the files that are necessary to know which files have some names, and returns the words in the files that
// changed since.
func (x *nameIndex) learn(ctx context.Context, tree *workTree, names map[string]bool) (map[string]bool, error) {
	x.number()
	known := len(x.Names)
	for name := range names {
		if _, ok := x.numbers[name]; !ok {
			x.numbers[name] = len(x.Names)
			x.Names = append(x.Names, name)
		}
	}
	lexer := newLexer(x.Names)
	isNew := hasAny(x.Names[known:])
	var which []int
	var files []repo.File
	for i := range x.Files {
		f := &x.Files[i]
		if f.isText() && (f.isDirty || known < len(x.Names)) {
			which = append(which, i)
			files = append(files, f.file())
		}
	}
	err := tree.Read(ctx, files, maxText, func(k int, text []byte, err error) {
		f := &x.Files[which[k]]
		switch {
		case err == nil && (f.isDirty || isNew(text)):
			f.Has, f.Uses = lexer.scan(f.Path, text)
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, mention.ErrNotText):
			f.Unread = unreadWhy(err)
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	changed := make(map[string]bool)
	for i := range x.Files {
		if f := &x.Files[i]; f.isDirty {
			f.isDirty = false
			x.addWords(f, false, changed)
		}
	}
	x.index()
	return changed, err
}

// number sets the numbers of the names.
func (x *nameIndex) number() {
	x.numbers = make(map[string]int, len(x.Names))
	for i, name := range x.Names {
		x.numbers[name] = i
	}
}

// index sorts the files by the names that they have.
func (x *nameIndex) index() {
	n := len(x.Names)
	x.having, x.coding, x.homes = make([][]int, n), make([][]int, n), make([][]int, n)
	x.inPaths, x.uses, x.unread = make([]bool, n), make(map[[2]int]bool), -1
	markPath := func(mark, word string) {
		if number, ok := x.numbers[mark+word]; ok {
			x.inPaths[number] = true
		}
	}
	for i := range x.Files {
		f := &x.Files[i]
		if !f.isText() {
			continue
		}
		if f.Unread != "" && (x.unread < 0 || f.Unread == WhyAbsent && x.Files[x.unread].Unread != WhyAbsent) {
			x.unread = i
		}
		for _, has := range f.Has {
			number := has >> howBits
			x.having[number] = append(x.having[number], i)
			if has&inCode != 0 {
				x.coding[number] = append(x.coding[number], i)
			}
			if has&declared != 0 {
				x.homes[number] = append(x.homes[number], i)
			}
		}
		for _, use := range f.Uses {
			x.uses[use] = true
		}
		for _, name := range packagesOf(f.Path) {
			number, ok := x.numbers[ownerMark+name]
			if !ok {
				continue
			}
			if homes := x.homes[number]; len(homes) == 0 || homes[len(homes)-1] != i {
				x.homes[number] = append(homes, i)
			}
		}
		eachWord([]byte(f.Path), func(_ int, word []byte) { markPath(memberMark, string(word)) })
		eachOption([]byte(f.Path), func(_ int, word []byte) { markPath(optionMark, string(word)) })
	}
}

// files returns the files at some positions.
func (x *nameIndex) files(which []int) []repo.File {
	list := make([]repo.File, len(which))
	for i, k := range which {
		list[i] = x.Files[k].file()
	}
	return list
}

// of returns the entry of a list for a name; nothing for a name that was not learnt.
func (x *nameIndex) of(list [][]int, mark, word string) []int {
	if number, ok := x.numbers[mark+word]; ok {
		return list[number]
	}
	return nil
}

// occurs reports whether code or a path has a word.
func (x *nameIndex) occurs(mark, word string) bool {
	number, ok := x.numbers[mark+word]
	return ok && (x.inPaths[number] || len(x.coding[number]) > 0)
}

// unreadFiles lists the files that could not be read.
func (x *nameIndex) unreadFiles() []string {
	var list []string
	for i := range x.Files {
		if f := &x.Files[i]; f.Unread != "" {
			list = append(list, string(f.Path)+" "+f.Unread)
		}
	}
	return list
}

// isWritten reports whether code writes a qualified name out, or has its last part as a string: it may look it up.
func (x *nameIndex) isWritten(n symbolName) bool {
	member, ok := x.numbers[memberMark+n.member]
	owner, known := x.numbers[ownerMark+n.owner]
	return ok && known && (x.uses[[2]int{owner, member}] || x.uses[[2]int{-1, member}])
}

// A lexer finds names in texts. Each map has the numbers of the names of one kind.
type lexer struct{ members, owners, options, quoted, prefixes map[string]int }

func newLexer(names []string) *lexer {
	kinds := make(map[string]map[string]int)
	for _, mark := range []string{memberMark, ownerMark, optionMark, quotedMark, prefixMark} {
		kinds[mark] = make(map[string]int)
	}
	l := &lexer{kinds[memberMark], kinds[ownerMark], kinds[optionMark], kinds[quotedMark], kinds[prefixMark]}
	for number, name := range names {
		kinds[name[:1]][name[1:]] = number
	}
	return l
}

// hasAny returns a quick check whether a text may have one of some names.
func hasAny(names []string) func(text []byte) bool {
	const few = 16
	isSpelled := func(name string) bool { return name[:1] == optionMark } // in several ways
	if len(names) > few || slices.ContainsFunc(names, isSpelled) {
		return func([]byte) bool { return true }
	}
	return func(text []byte) bool {
		return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(text, []byte(name[1:])) })
	}
}

// scan returns the names in a file, as in an indexedFile.
func (l *lexer) scan(p repo.Path, text []byte) (list []int, uses [][2]int) {
	code := codeOf(p)
	has := make(map[int]int)
	used := make(map[[2]int]bool)
	eachWord(text, func(at int, word []byte) {
		member, isMember := l.members[string(word)]
		owner, isOwner := l.owners[string(word)]
		if number, ok := l.prefixes[prefixOf(string(word))]; ok && !isMember {
			has[number] |= inText | inCode
		}
		if !isMember && !isOwner {
			return
		}
		use := [2]int{-1, member} // of no owner: a string
		isUse := isMember && quoted(text, at, len(word))
		if isMember && !isUse {
			use[0], isUse = l.owners[string(ownerBefore(text[:at]))]
		}
		isKnown := (!isMember || has[member]&inCode != 0) && (!isOwner || has[owner]&inCode != 0)
		isCode := isKnown && !isUse || !code.comment(text, at)
		where := inText
		if isCode {
			where |= inCode
		}
		if isMember {
			has[member] |= where
		}
		if isOwner {
			has[owner] |= where
			if has[owner]&declared == 0 && declares(text, at) {
				has[owner] |= declared
			}
		}
		if isUse && isCode {
			used[use] = true
		}
	})
	if len(l.options) > 0 {
		eachOption(text, func(_ int, word []byte) {
			if number, ok := l.options[string(word)]; ok {
				has[number] |= inText | inCode
			}
		})
	}
	for name, number := range l.quoted {
		if quotes(text, name) {
			has[number] |= inText | inCode
		}
	}
	for number, how := range has {
		list = append(list, number<<howBits|how)
	}
	for use := range used {
		uses = append(uses, use)
	}
	slices.Sort(list)
	return list, uses
}

// ownerBefore returns the word at the end of a text that a separator follows, nil if there is none.
func ownerBefore(text []byte) []byte {
	rest := text
	for _, mark := range []string{".", "::", "#", "->", `\`} {
		cut, ok := bytes.CutSuffix(text, []byte(mark))
		if ok {
			rest = bytes.TrimSuffix(cut, []byte("?"))
			break
		}
	}
	start := len(rest)
	for start > 0 && wordBytes()[rest[start-1]] {
		start--
	}
	if len(rest) == len(text) || start == len(rest) {
		return nil
	}
	return rest[start:]
}

// prefixOf returns the first part of the name of an environment variable, with the underscore; "" for another word.
func prefixOf(word string) string {
	first, _, ok := strings.Cut(word, "_")
	if !ok || first == "" || strings.ToUpper(word) != word {
		return ""
	}
	return first + "_"
}

// namesToLearn adds the names to learn for a mention of a symbol or an option.
func namesToLearn(m *mention.Mention, names map[string]bool) {
	n := nameOf(m)
	if n.isOption {
		names[optionMark+n.member] = true
		return
	}
	names[memberMark+n.member] = true
	if prefix := prefixOf(n.member); prefix != "" {
		names[prefixMark+prefix] = true
	}
	if n.owner != "" {
		names[ownerMark+n.owner] = true
	}
}

// touches reports whether words include a part of a name.
func (n symbolName) touches(words map[string]bool) bool {
	return words[n.member] || n.owner != "" && words[n.owner]
}

// quotes reports whether a text has a string that begins with a path.
func quotes(text []byte, p string) bool {
	const quote = "\"'`"
	for {
		i := bytes.Index(text, []byte(p))
		if i < 0 {
			return false
		}
		before, after := bytes.TrimSuffix(text[:i], []byte("./")), text[i+len(p):]
		if len(before) > 0 && len(after) > 0 && strings.IndexByte(quote, before[len(before)-1]) >= 0 &&
			strings.IndexByte(quote+"/", after[0]) >= 0 {
			return true
		}
		text = after
	}
}
