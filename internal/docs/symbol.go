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

	"ken/internal/outline"
	"ken/internal/repo"
)

// What is read to learn whether symbols were defined. What is left is unknown.
const (
	maxText      = 16 << 20  // of one file of the tree
	maxPastTrees = 400       // commits whose files are listed
	maxPastBytes = 384 << 20 // of contents that are no more
	pastBatch    = 512       // contents that are asked for at a time
)

// A wordSet is words to look for in texts. It may be asked from several goroutines.
type wordSet map[string]*atomic.Bool

// wordOf is the word by which a symbol is found in a text: the last part of its name,
// without what only some spell.
func wordOf(name string) string {
	if i := strings.LastIndexAny(name, ".:#"); i >= 0 {
		name = name[i+1:]
	}
	return strings.Trim(name, "$@?!&*()")
}

// mark notes the words that a text has.
func (w wordSet) mark(text []byte) {
	eachWord(text, func(word []byte) {
		if seen := w[string(word)]; seen != nil && !seen.Load() {
			seen.Store(true)
		}
	})
}

// in returns the words that a text has, each once.
func (w wordSet) in(text []byte) map[string]bool {
	var found map[string]bool
	eachWord(text, func(word []byte) {
		if w[string(word)] == nil {
			return
		}
		if found == nil {
			found = make(map[string]bool)
		}
		found[string(word)] = true
	})
	return found
}

// wordBytes are those that identifiers are made of; bytes that are no ASCII are letters.
var wordBytes = sync.OnceValue(func() *[256]bool {
	var is [256]bool
	for c := range is {
		is[c] = c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
	}
	return &is
})

// eachWord calls f with each word of a text that is long enough to mean anything.
func eachWord(text []byte, f func(word []byte)) {
	start, is := -1, wordBytes()
	for i, c := range text {
		switch {
		case is[c] && start < 0:
			start = i
		case !is[c] && start >= 0:
			f(text[start:i])
			start = -1
		}
	}
	if start >= 0 {
		f(text[start:])
	}
}

// judgeSymbols decides which symbols hold: those whose name is anywhere in the tree
// beside its documents, be it defined there or merely used. A name that is still in use
// may be another's now, which nobody can tell from its spelling.
func (j *judge) judgeSymbols(ctx context.Context, files []File) error {
	words := make(wordSet)
	for i := range j.list {
		if m := &j.list[i]; m.Kind == Symbol {
			words[wordOf(m.Name)] = new(atomic.Bool)
		}
	}
	if len(words) == 0 {
		return nil
	}
	var texts []File
	for _, f := range files {
		if !f.Mode.SameType(repo.Regular) || IsDocument(f.Path) {
			continue
		}
		texts = append(texts, f)
		for element := range strings.SplitSeq(string(f.Path), "/") {
			words.mark([]byte(element))
		}
	}
	unread := make([]error, len(texts))
	err := j.tree.Read(ctx, texts, maxText, func(i int, content []byte, err error) {
		if err == nil {
			words.mark(content)
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrNotText) {
			unread[i] = err
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	blind := slices.IndexFunc(unread, func(err error) bool { return errors.Is(err, ErrAbsent) })
	why := WhyAbsent
	if blind < 0 {
		if blind = slices.IndexFunc(unread, func(err error) bool { return err != nil }); blind >= 0 {
			why = "it may be in " + texts[blind].Path.String() + ", which ken did not read: " + unreadWhy(unread[blind])
		}
	}
	for i := range j.list {
		switch m := &j.list[i]; {
		case m.Kind != Symbol:
		case words[wordOf(m.Name)].Load():
			m.Verdict = Holds
		case blind >= 0:
			m.Verdict, m.Why = Unknown, why
		}
	}
	return nil
}

// unreadWhy is an error in a few words.
func unreadWhy(err error) string {
	for _, known := range []error{ErrTooLarge, fs.ErrPermission} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// judgePastSymbols judges the symbols whose names are nowhere: were they defined when the
// document named them?
func (j *judge) judgePastSymbols(ctx context.Context, open []int, claims map[int]origin) error {
	words := make(wordSet)
	byCommit := make(map[repo.ID][]int)
	for _, i := range open {
		c := claims[i]
		words[wordOf(j.list[i].Name)] = new(atomic.Bool)
		byCommit[c.commit] = append(byCommit[c.commit], i)
	}
	commits := make([]repo.ID, 0, len(byCommit))
	for id := range byCommit {
		commits = append(commits, id)
	}
	// Where most is to be learnt first; of the rest, in some order that is always the same.
	slices.SortFunc(commits, func(a, b repo.ID) int {
		return cmp.Or(len(byCommit[b])-len(byCommit[a]), strings.Compare(a.String(), b.String()))
	})
	p := &definitionSearch{j: j, words: words, defines: make(map[repo.ID][]defined), budget: maxPastBytes, now: make(map[repo.ID]bool), blank: make(map[repo.ID]string), vague: make(map[repo.ID][]string)}
	for _, f := range j.index.files {
		if !f.Edited {
			p.now[f.ID] = true
		}
	}
	var gone []int
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
			m := &j.list[i]
			def, ok := where[wordOf(m.Name)]
			switch {
			case ok && def.faint && !m.plainly():
				m.Verdict, m.Why = Ambiguous, "it was a member in "+def.file.String()+", and other things have the same name"
			case ok:
				m.Verdict, m.True, m.Was = Gone, true, def.file
				gone = append(gone, i)
			case p.cut != "":
				m.Verdict, m.Why = Unknown, p.cut
			case p.unsure[wordOf(m.Name)]:
				m.Verdict, m.Why = Unknown, "a file that named it then has no outline"
			case claims[i].vague != "":
				m.Verdict, m.Why = Unknown, claims[i].vague
			default:
				m.Verdict, m.Why = Never, "it was not defined when the document named it"
			}
		}
	}
	return j.dateSymbols(ctx, gone)
}

// A defined is a word that a content defines.
type defined struct {
	word string
	// faint is set if the name alone does not tell it from an option, a key or a
	// column: that of a field, or of a method or a module in lower case.
	faint bool
}

// A definedAt is where a word was defined.
type definedAt struct {
	file  repo.Path
	faint bool // in each place
}

// A definitionSearch finds where words were defined.
type definitionSearch struct {
	j       *judge
	words   wordSet
	defines map[repo.ID][]defined // of the words, by content, once it was read
	now     map[repo.ID]bool      // contents that are in the tree, where the words are not
	blank   map[repo.ID]string    // contents that could not be read, with the reason
	vague   map[repo.ID][]string  // words of contents that have no outline
	budget  int64
	// Of the commit that was asked for last:
	cut    string          // why something could not be read, "" if all was
	unsure map[string]bool // words that files have which have no outline
}

// at returns which of the words a commit defined, and in which file.
func (p *definitionSearch) at(ctx context.Context, commit repo.ID) (map[string]definedAt, error) {
	files, err := p.j.past.filesAt(ctx, commit)
	if err != nil {
		return nil, err
	}
	var unread []File
	files = slices.DeleteFunc(files, func(f File) bool {
		return p.now[f.ID] || !f.Mode.SameType(repo.Regular) || IsDocument(f.Path) ||
			!outline.MayRead(f.Path) || outline.LanguageOf(f.Path, nil) == outline.Markdown
	})
	for _, f := range files {
		if _, read := p.defines[f.ID]; !read {
			p.defines[f.ID], p.blank[f.ID] = nil, whyTooMuch
			unread = append(unread, f)
		}
	}
	for batch := range slices.Chunk(unread, pastBatch) {
		if p.budget <= 0 {
			break
		}
		if err := p.read(ctx, batch); err != nil {
			return nil, err
		}
	}
	where := make(map[string]definedAt)
	p.cut, p.unsure = "", make(map[string]bool)
	for _, f := range files {
		if why := p.blank[f.ID]; p.cut != WhyAbsent && why != "" {
			p.cut = why
		}
		for _, word := range p.vague[f.ID] {
			p.unsure[word] = true
		}
		for _, d := range p.defines[f.ID] {
			if old, ok := where[d.word]; !ok || old.faint && !d.faint {
				where[d.word] = definedAt{f.Path, d.faint}
			}
		}
	}
	return where, nil
}

// read finds the words that contents define.
func (p *definitionSearch) read(ctx context.Context, files []File) error {
	ids := make([]repo.ID, len(files))
	for i, f := range files {
		ids[i] = f.ID
	}
	return p.j.past.eachContent(ctx, ids, func(i int, content []byte, err error) {
		if err != nil {
			p.blank[ids[i]] = unreadReason(err)
			return
		}
		delete(p.blank, ids[i])
		p.budget -= int64(len(content))
		found := p.words.in(content)
		if len(found) == 0 || outline.LanguageOf(files[i].Path, content) == outline.Unknown {
			return
		}
		o, err := outline.Of(files[i].Path, content)
		if err != nil {
			p.vague[ids[i]] = slices.Collect(maps.Keys(found))
			return
		}
		for k := range o.Symbols {
			s := &o.Symbols[k]
			if name := wordOf(s.Name); found[name] {
				p.defines[ids[i]] = append(p.defines[ids[i]], defined{name, isFaint(s)})
			}
		}
	})
}

func isFaint(s *outline.Symbol) bool {
	switch s.Kind {
	case outline.Field, outline.Property, outline.Member:
		return true
	case outline.Module:
		return s.Name == strings.ToLower(s.Name)
	default:
		return s.Depth > 0 && s.Name == strings.ToLower(s.Name)
	}
}

// plainly reports whether a mention can mean nothing but a symbol: it says whose it is, or
// calls it.
func (m *Mention) plainly() bool { return strings.ContainsAny(m.Text, ".:#(") }

// dateSymbols finds the commits that took symbols away, the last of each. One that took it out
// of a file may have put it into another.
func (j *judge) dateSymbols(ctx context.Context, gone []int) error {
	hunts := make(map[string]*removalSearch)
	var open []*removalSearch
	for _, i := range gone {
		m := &j.list[i]
		m.Why = "it was defined in " + m.Was.String()
		word := wordOf(m.Name)
		if hunts[word] == nil {
			hunts[word] = &removalSearch{file: m.Was, last: -1, is: func(v *fileVersion) bool { return v.defines(word) }}
			open = append(open, hunts[word])
		}
	}
	for range maxMoves {
		before := make([]repo.CommitNumber, len(open))
		for k, h := range open {
			before[k] = h.last
		}
		if err := j.findRemovals(ctx, open); err != nil {
			return err
		}
		var moved []*removalSearch
		for k, h := range open {
			if h.last > before[k] && !h.inHead && !h.blind {
				moved = append(moved, h)
			}
		}
		var err error
		if open, err = j.alsoIn(ctx, moved); err != nil || len(open) == 0 {
			if err != nil {
				return err
			}
			break
		}
	}
	for _, i := range gone {
		j.since(i, hunts[wordOf(j.list[i].Name)])
	}
	return nil
}

// since notes the commit at which a search says that something was removed.
func (j *judge) since(i int, h *removalSearch) {
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

// HasWord reports whether a text has a word.
func HasWord(content []byte, word string) (has bool) {
	eachWord(content, func(w []byte) { has = has || string(w) == word })
	return has
}
