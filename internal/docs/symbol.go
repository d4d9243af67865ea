package docs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"ken/internal/docs/mention"
	"ken/internal/outline"
	"ken/internal/repo"
)

// Limits on the search for definitions. Symbols beyond them are unknown.
const (
	maxText      = 16 << 20  // bytes of one file of the tree
	maxPastTrees = 400       // commits whose files are listed
	maxPastBytes = 384 << 20 // bytes of old contents
	pastBatch    = 512       // contents in one request
)

// eachOption calls f with each name in a text that may be an option: its position, and the word that identifies it.
func eachOption(text []byte, f func(at int, word []byte)) {
	var buffer []byte
	is := wordBytes()
	start := -1
	for i := 0; i <= len(text); i++ {
		inName := i < len(text) && (is[text[i]] || text[i] == '-')
		switch {
		case inName && start < 0:
			start = i
		case !inName && start >= 0:
			if word := mention.OptionWord(text[start:i], buffer); word != nil {
				f(start, word)
				buffer = word
			}
			start = -1
		}
	}
}

// wordBytes are the bytes of identifiers; bytes beyond ASCII count as letters.
var wordBytes = sync.OnceValue(func() *[256]bool {
	var is [256]bool
	for c := range is {
		is[c] = c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
	}
	return &is
})

// eachWord calls f with each word of a text and its position.
func eachWord(text []byte, f func(at int, word []byte)) {
	is := wordBytes()
	start := -1
	for i, c := range text {
		switch {
		case is[c] && start < 0:
			start = i
		case !is[c] && start >= 0:
			f(start, text[start:i])
			start = -1
		}
	}
	if start >= 0 {
		f(start, text[start:])
	}
}

// judgeSymbols decides which symbols hold: those whose name occurs in the code of the tree, as a definition or a
// use. A name in use may belong to another symbol by now, but its spelling does not show that. Comments do not
// count, and a qualified name must be declared where its first part is (see [judge.holds]).
func (j *judge) judgeSymbols(ctx context.Context) error {
	j.declare = make(map[symbolName]bool)
	for i := range j.list {
		m := &j.list[i]
		if !m.isName() || m.hasVerdict() {
			continue
		}
		if m.In != "" && !j.index.mayHave(m.In) {
			m.Verdict, m.Why = Never, "it is imported from "+m.In
			continue
		}
		if n := nameOf(&m.Mention); n.owner != "" {
			j.declare[n] = false
		}
	}
	if err := j.findInherited(ctx); err != nil {
		return err
	}
	if err := j.findDeclared(ctx); err != nil {
		return err
	}
	x := &j.record.Names
	for i := range j.list {
		m := &j.list[i]
		if !m.isName() || m.hasVerdict() {
			continue
		}
		n := nameOf(&m.Mention)
		switch {
		case j.holds(n) && j.isProven(n):
			m.Verdict = Holds
		case m.before != nil && (m.before.Verdict != Holds || j.holds(n)):
			*m = *m.before
		case x.unread >= 0 && x.Files[x.unread].Unread == WhyAbsent:
			m.Verdict, m.Why = Unknown, WhyAbsent
		case x.unread >= 0:
			f := &x.Files[x.unread]
			m.Verdict, m.Why = Unknown, "it may be in "+f.Path.String()+", which ken did not read: "+f.Unread
		}
	}
	return nil
}

// unreadWhy returns a short text for an error.
func unreadWhy(err error) string {
	if errors.Is(err, ErrAbsent) {
		return WhyAbsent
	}
	for _, known := range []error{mention.ErrTooLarge, fs.ErrPermission} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// judgePastSymbols judges the symbols whose names do not occur: did a file define the symbol when the document
// named it?
func (j *judge) judgePastSymbols(ctx context.Context, open []int, claims map[int]origin) error {
	words := make(map[string]bool)
	byCommit := make(map[repo.ID][]int)
	for _, i := range open {
		words[nameOf(&j.list[i].Mention).word()] = true
		id := claims[i].commit
		byCommit[id] = append(byCommit[id], i)
	}
	commits := make([]repo.ID, 0, len(byCommit))
	for id := range byCommit {
		commits = append(commits, id)
	}
	// Commits with the most mentions first; the order is deterministic.
	slices.SortFunc(commits, func(a, b repo.ID) int {
		return cmp.Or(len(byCommit[b])-len(byCommit[a]), strings.Compare(a.String(), b.String()))
	})
	p := &definitionSearch{
		j: j, words: words, budget: maxPastBytes,
		defines: make(map[repo.ID][]defined), now: make(map[repo.ID]bool),
		blank: make(map[repo.ID]string), vague: make(map[repo.ID][]string),
	}
	for _, f := range j.index.files {
		p.now[f.ID] = true
	}
	var gone []goneSymbol
	for n, id := range commits {
		if n >= maxPastTrees || p.budget <= 0 {
			for _, i := range byCommit[id] {
				j.list[i].Verdict, j.list[i].Why = Unknown, whyTooMuch
			}
			continue
		}
		where, err := p.at(ctx, id)
		if err != nil {
			return err
		}
		for _, i := range byCommit[id] {
			if g := j.judgeDefined(i, where, p, claims[i]); len(g.files) > 0 {
				gone = append(gone, g)
			}
		}
	}
	gone, err := j.stillDefined(ctx, gone)
	if err != nil {
		return err
	}
	return j.dateSymbols(ctx, gone, p)
}

// judgeDefined judges a symbol by the names that files defined at the commit that wrote the mention. It returns the
// symbol with the files that defined it.
func (j *judge) judgeDefined(i int, where map[string][]definedAt, p *definitionSearch, claim origin) goneSymbol {
	m := &j.list[i]
	g := j.pastSymbol(i, where)
	switch {
	case len(g.files) == 0 && j.holds(j.nameOf(&m.Mention)):
		m.Verdict = Holds // nothing proves that its word is about something else
	case len(g.files) > 0:
		m.Verdict, m.ExistedThen, m.Was = Gone, true, g.files[0]
	case g.faint != "":
		m.Verdict, m.Why = Ambiguous, "it was a member in "+g.faint.String()+", and other things have the same name"
	case p.cut != "":
		m.Verdict, m.Why = Unknown, p.cut
	case p.unsure[g.name.member]:
		m.Verdict, m.Why = Unknown, "a file that named it then has no outline"
	case claim.vague != "":
		m.Verdict, m.Why = Unknown, claim.vague
	default:
		m.Verdict, m.Why = Never, "it was not defined when the document named it"
	}
	return g
}

// pastSymbol returns a symbol with the files that defined it. If its owner is spelled like a type, it has to be of that.
func (j *judge) pastSymbol(i int, where map[string][]definedAt) goneSymbol {
	m := &j.list[i]
	g := goneSymbol{mention: i, name: nameOf(&m.Mention)}
	if g.name.owner == strings.ToLower(g.name.owner) { // it may be a variable
		g.name = j.nameOf(&m.Mention)
	}
	var texts []repo.Path
	for _, d := range where[g.name.word()] {
		isText := g.name.isOption || d.symbol.Kind == literal
		switch {
		case !g.name.definedBy(d.file, &d.symbol):
		case isText && isTest(d.file), m.Casual && isExample(d.file):
		case isText:
			texts = append(texts, d.file)
		case g.name.isAmbiguous(d.file, &d.symbol) && !m.isUnambiguous():
			g.faint = d.file
		default:
			g.files = append(g.files, d.file)
		}
	}
	g.isText = len(g.files) == 0
	g.files = append(g.files, texts...)
	return g
}

// whyStillDefined is the reason for a symbol that the history judged, and that a file of the tree defines.
const whyStillDefined = "a file defines it"

// A goneSymbol is a symbol that a file defined when the document named it.
type goneSymbol struct {
	mention int
	name    symbolName
	files   []repo.Path // those first that do more than have it in a string
	isText  bool        // all only have it in a string
	faint   repo.Path   // a file whose symbol may be something else
}

// stillDefined marks symbols as holding that a file of the tree defines, and returns the others. It reads the
// files that contain the name.
func (j *judge) stillDefined(ctx context.Context, gone []goneSymbol) ([]goneSymbol, error) {
	which := make(map[repo.Path]bool)
	var files []repo.File
	for _, g := range gone {
		for _, f := range j.having(g.name) {
			if !which[f.Path] && outline.MayHaveOutline(f.Path) {
				which[f.Path] = true
				files = append(files, f)
			}
		}
	}
	holds := make([]atomic.Bool, len(gone))
	err := j.tree.Read(ctx, files, maxText, func(i int, content []byte, err error) {
		if err != nil {
			return
		}
		o, err := outline.Parse(files[i].Path, content)
		for k, g := range gone {
			if err != nil || o.Partial != "" {
				if outline.HasWord(string(content), g.name.member) {
					holds[k].Store(true) // the file cannot be parsed
				}
				continue
			}
			defines := func(s outline.Symbol) bool { return !g.name.isOption && g.name.definedBy(files[i].Path, &s) }
			if slices.ContainsFunc(o.Symbols, defines) {
				holds[k].Store(true)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	var left []goneSymbol
	for k, g := range gone {
		if !holds[k].Load() {
			left = append(left, g)
			continue
		}
		m := &j.list[g.mention]
		m.Verdict, m.Why, m.ExistedThen, m.Was = Holds, whyStillDefined, false, ""
	}
	return left, nil
}

// A definedAt is a definition in a file.
type definedAt struct {
	file   repo.Path
	symbol outline.Symbol
}

// A defined is a word that a content defines.
type defined struct {
	word   string
	symbol outline.Symbol
}

// A definitionSearch finds the definitions of words.
type definitionSearch struct {
	j       *judge
	words   map[string]bool
	defines map[repo.ID][]defined // definitions of the words, by content, after it was read
	now     map[repo.ID]bool      // contents in the tree, which do not have the words
	blank   map[repo.ID]string    // contents that could not be read, with the reason
	vague   map[repo.ID][]string  // words of contents that have no outline
	budget  int64
	probes  int // the number of trees read to date symbols
	// These fields are for the latest commit:
	cut    string          // why something could not be read, "" if everything was read
	unsure map[string]bool // words in files without an outline
}

// at returns the words that a commit defined, with the files that define them.
func (ds *definitionSearch) at(ctx context.Context, commit repo.ID) (map[string][]definedAt, error) {
	files, err := ds.j.past.EntriesAt(ctx, commit)
	if err != nil {
		return nil, err
	}
	var unread []repo.File
	files = slices.DeleteFunc(files, func(f repo.File) bool {
		return ds.now[f.ID] || !f.Mode.SameType(repo.Regular) || mention.IsDocument(f.Path) || isVendored(f.Path) ||
			!outline.MayHaveOutline(f.Path) || outline.LanguageOf(f.Path, nil) == outline.Markdown
	})
	for _, f := range files {
		if _, read := ds.defines[f.ID]; !read {
			ds.defines[f.ID], ds.blank[f.ID] = nil, whyTooMuch
			unread = append(unread, f)
		}
	}
	for batch := range slices.Chunk(unread, pastBatch) {
		if ds.budget <= 0 {
			break
		}
		if err := ds.read(ctx, batch); err != nil {
			return nil, err
		}
	}
	where := make(map[string][]definedAt)
	ds.cut, ds.unsure = "", make(map[string]bool)
	for _, f := range files {
		if why := ds.blank[f.ID]; ds.cut != WhyAbsent && why != "" {
			ds.cut = why
		}
		for _, word := range ds.vague[f.ID] {
			ds.unsure[word] = true
		}
		for _, d := range ds.defines[f.ID] {
			where[d.word] = append(where[d.word], definedAt{f.Path, d.symbol})
		}
		if name := stemOf(f.Path); ds.words[name] {
			where[name] = append(where[name], definedAt{f.Path, outline.Symbol{Kind: literal, Name: name}})
		}
	}
	return where, nil
}

// read finds the words that contents define.
func (ds *definitionSearch) read(ctx context.Context, files []repo.File) error {
	ids := make([]repo.ID, len(files))
	for i, f := range files {
		ids[i] = f.ID
	}
	return ds.j.past.eachContent(ctx, ids, func(i int, content []byte, err error) {
		if err != nil {
			ds.blank[ids[i]] = unreadReason(err)
			return
		}
		delete(ds.blank, ids[i])
		ds.budget -= int64(len(content))
		if code := codeOf(files[i].Path); code.isProgram() {
			eachOption(content, func(at int, word []byte) {
				name := symbolName{member: string(word), isOption: true}
				if ds.words[name.word()] && !code.comment(content, at) {
					ds.defines[ids[i]] = append(ds.defines[ids[i]], defined{word: name.word()})
				}
			})
		}
		found := make(map[string]bool)
		eachWord(content, func(_ int, word []byte) {
			if ds.words[string(word)] {
				found[string(word)] = true
			}
		})
		if len(found) == 0 || outline.LanguageOf(files[i].Path, content) == outline.Unknown {
			return
		}
		eachLiteral(files[i].Path, content, func(word []byte) {
			if found[string(word)] {
				ds.defines[ids[i]] = append(ds.defines[ids[i]], defined{string(word), outline.Symbol{Kind: literal}})
			}
		})
		o, err := outline.Parse(files[i].Path, content)
		if err != nil {
			ds.vague[ids[i]] = slices.Collect(maps.Keys(found))
			return
		}
		for _, s := range o.Symbols {
			if name := mention.SymbolWord(s.Name); found[name] {
				ds.defines[ids[i]] = append(ds.defines[ids[i]], defined{name, s})
			}
		}
	})
}

// isName reports whether a mention is of a symbol or an option.
func (m *CheckedMention) isName() bool { return m.Kind == mention.Symbol || m.Kind == mention.Option }

// word returns the word that is searched for, with a mark for an option.
func (n symbolName) word() string {
	if n.isOption {
		return "-" + n.member
	}
	return n.member
}

// isUnambiguous reports whether a mention can only mean a symbol: it is qualified or called.
func (m *CheckedMention) isUnambiguous() bool { return strings.ContainsAny(m.Text, ".:#(") }

// dateSymbols finds the last commits that removed symbols. A commit that removed a symbol from one file may have
// moved it to another, and other files may still have defined it.
func (j *judge) dateSymbols(ctx context.Context, gone []goneSymbol, defs *definitionSearch) error {
	const most = 8 // files per symbol
	searches := make(map[definedName]*removalSearch)
	latest := make([]*removalSearch, len(gone))
	for i := range gone {
		g := &gone[i]
		m := &j.list[g.mention]
		m.Why = "it was defined in " + m.Was.String()
		g.files = g.files[:min(len(g.files), most)]
	}
	for range maxMoves {
		var open []*removalSearch
		for _, g := range gone {
			for _, file := range g.files {
				at := definedName{g.name, file}
				if searches[at] == nil {
					searches[at] = &removalSearch{file: file, last: -1, is: func(v *fileVersion) bool { return v.defines(g.name) }}
					open = append(open, searches[at])
				}
			}
		}
		if len(open) == 0 {
			break
		}
		if err := j.findRemovals(ctx, open); err != nil {
			return err
		}
		for i, g := range gone {
			latest[i] = lastOf(searches, g)
		}
		if err := j.definedElsewhere(ctx, gone, latest, defs, most); err != nil {
			return err
		}
	}
	for i, g := range gone {
		j.setRemovalCommit(g.mention, latest[i])
	}
	return j.checkRenames(ctx, gone, latest)
}

// A definedName is a symbol in a file.
type definedName struct {
	name symbolName
	file repo.Path
}

// lastOf returns the search of a symbol with the latest removal. One that HEAD still has is removed by no commit. A
// search without a result counts only if all are without.
func lastOf(searches map[definedName]*removalSearch, g goneSymbol) *removalSearch {
	last := searches[definedName{g.name, g.files[0]}]
	for _, file := range g.files {
		h := searches[definedName{g.name, file}]
		if h.inHead {
			return h
		}
		if !h.blind && (last.blind || h.last > last.last) {
			last = h
		}
	}
	return last
}

// maxProbes limits how many trees are read to date symbols.
const maxProbes = 100

// definedElsewhere adds the files that define symbols after the last removal that was found: in the tree of that
// commit, which may have moved them, and in those of a later one and of HEAD: a later commit may bring a symbol back.
func (j *judge) definedElsewhere(
	ctx context.Context, gone []goneSymbol, latest []*removalSearch, defs *definitionSearch, most int,
) error {
	byCommit := make(map[repo.CommitNumber][]int)
	for i, h := range latest {
		if h.last >= 0 && !h.inHead && !h.blind {
			byCommit[h.last] = append(byCommit[h.last], i)
		}
	}
	head := repo.CommitNumber(len(j.history.reached) - 1)
	for _, n := range slices.Sorted(maps.Keys(byCommit)) {
		for _, at := range []repo.CommitNumber{n, n + (head-n)/2, head} {
			for at > n && !j.history.reached[at] {
				at--
			}
			if defs.budget <= 0 || defs.probes == maxProbes {
				return nil
			}
			defs.probes++
			where, err := defs.at(ctx, j.history.Commit(at).ID)
			if err != nil {
				return err
			}
			for _, i := range byCommit[n] {
				g := &gone[i]
				for _, d := range where[g.name.word()] {
					if len(g.files) < 2*most && !slices.Contains(g.files, d.file) && g.name.definedBy(d.file, &d.symbol) {
						g.files = append(g.files, d.file)
					}
				}
			}
		}
	}
	return nil
}

// setRemovalCommit sets the commit that removed a thing according to a search.
func (j *judge) setRemovalCommit(i int, h *removalSearch) {
	m := &j.list[i]
	if m.Uncommitted = h.inHead; !h.inHead && !h.blind {
		m.Since = j.commit(h.last)
	}
}

// commit returns a commit by its number, nil for none.
func (j *judge) commit(n repo.CommitNumber) *Commit {
	if n < 0 {
		return nil
	}
	c := j.history.Commit(n)
	return &c
}
