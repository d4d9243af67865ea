package docs

import (
	"maps"
	"path"
	"slices"
	"strings"

	"ken/internal/docs/mention"
	"ken/internal/outline"
	"ken/internal/repo"
)

// A TreeChange has both trees of a change and the symbols that it removes. It finds the mentions that hold before
// the change and not after it. It needs no history: the tree before the change proves that a mention was right.
type TreeChange struct {
	Before, After []repo.File             // of both trees
	Renamed       map[repo.Path]repo.Path // new paths by old ones
	Symbols       []RemovedSymbol
	// Named reports whether a file below dir in the new tree that is not a document contains a word.
	Named func(word string, dir repo.Path) (bool, error)
	// Declared lists the symbols of this name that the new tree declares.
	Declared func(name string) ([]RemovedSymbol, error)
	// Read returns the content of a file before or after the change; nil if it cannot be read.
	Read   func(p repo.Path, before bool) []byte
	Policy Policy

	removed       map[string]bool // last elements of the paths of files and directories
	words         map[string][]RemovedSymbol
	tools         map[string]changedTool
	pages         map[string]bool               // last elements of links to removed pages of a site
	anchors       map[repo.Path]map[string]bool // removed anchors of edited documents
	before, after *treeIndex
}

// A RemovedSymbol is a symbol with the file that declares it.
type RemovedSymbol struct {
	Path    repo.Path
	Package string
	Symbol  outline.Symbol
}

// A changedTool has the commands of a tool before and after a change.
type changedTool struct{ before, after commandList }

// IsTaskFile reports whether a file lists the commands of a tool: Makefile, package.json.
func IsTaskFile(p repo.Path) bool {
	for _, kind := range taskFiles {
		if kind.has(p) {
			return true
		}
	}
	return false
}

// SearchTerms returns the texts to search documents for: last elements of paths, symbols and commands. The change
// breaks no mention in a document without any of them. If a symbol's name is still declared elsewhere, the term
// is the name with its type, package, module or directory.
func (c *TreeChange) SearchTerms() ([]string, error) {
	c.collect()
	terms := make(map[string]bool)
	maps.Copy(terms, c.removed)
	for word, removed := range c.words {
		now, err := c.Declared(word)
		if err != nil {
			return nil, err
		}
		if len(now) == 0 {
			terms[word] = true
			continue
		}
		for _, s := range removed {
			for _, q := range s.qualifiers() {
				for _, separator := range []string{".", "::", "#"} {
					terms[q+separator+word] = true
				}
			}
		}
	}
	for page := range c.pages {
		terms["/"+page] = true
	}
	for _, anchors := range c.anchors {
		for name := range anchors {
			terms["#"+name] = true
		}
	}
	for tool, t := range c.tools {
		for name := range t.before.names {
			if !t.after.names[name] {
				terms[tool+" "+name] = true
				terms["run "+name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(terms)), nil
}

// collect finds the paths, symbols, commands and anchors that the change removed.
func (c *TreeChange) collect() {
	if c.removed != nil {
		return
	}
	c.removed = make(map[string]bool)
	c.words = make(map[string][]RemovedSymbol)
	c.tools = make(map[string]changedTool)
	c.pages = make(map[string]bool)
	c.anchors = make(map[repo.Path]map[string]bool)
	there := make(map[repo.Path]repo.ID, len(c.After))
	dirs := map[repo.Path]bool{"": true}
	for _, f := range c.After {
		there[f.Path] = f.ID
		for dir := f.Path.Dir(); !dirs[dir]; dir = dir.Dir() {
			dirs[dir] = true
		}
	}
	changed := make(map[string]bool) // tools with a changed task file
	for _, f := range c.Before {
		id, ok := there[f.Path]
		if !ok || id != f.ID {
			for tool, kind := range taskFiles {
				changed[tool] = changed[tool] || kind.has(f.Path)
			}
		}
		if ok {
			if id != f.ID && mention.IsMarkdown(f.Path) {
				c.compareAnchors(f.Path)
			}
			continue
		}
		c.removed[f.Path.Base()] = true
		base := f.Path.Base()
		stem := strings.TrimSuffix(base, path.Ext(base))
		if mention.IsMarkdown(f.Path) && stem != "index" && stem != "README" {
			c.pages[stem] = true
		}
		for dir := f.Path.Dir(); !dirs[dir]; dir = dir.Dir() {
			c.removed[dir.Base()] = true
			dirs[dir] = true
		}
	}
	for tool := range changed {
		if changed[tool] {
			kind := taskFiles[tool]
			c.tools[tool] = changedTool{c.commands(&kind, c.Before, true), c.commands(&kind, c.After, false)}
		}
	}
	for _, s := range c.Symbols {
		word := mention.SymbolWord(s.Symbol.Name)
		c.words[word] = append(c.words[word], s)
	}
}

// compareAnchors finds the anchors that an edited document no longer has.
func (c *TreeChange) compareAnchors(p repo.Path) {
	before, after := c.Read(p, true), c.Read(p, false)
	if before == nil || after == nil || max(len(before), len(after)) > mention.MaxBytes || includes().Match(after) {
		return
	}
	left := mention.Anchors(before)
	for name := range mention.Anchors(after) {
		delete(left, name)
	}
	if len(left) > 0 {
		c.anchors[p] = left
	}
}

// includes matches the directives that include another document, which may have the heading.
var includes = lazyRegexp(`@include|\{%-?\s*include|\{include\}|--8<--|\{\{[<%]|\bimport\b.*\.mdx?['"]`)

// commands reads all task files of a tool.
func (c *TreeChange) commands(kind *taskFile, files []repo.File, before bool) commandList {
	all := commandList{names: make(map[string]bool)}
	for _, f := range files {
		if !kind.has(f.Path) {
			continue
		}
		content := c.Read(f.Path, before)
		if content == nil || len(content) > maxTaskFile {
			all.open = true
			continue
		}
		all.add(kind.commands(content))
	}
	return all
}

// BrokenMentions returns the mentions of a document in the new tree that the change broke. edited says that the change
// also edited the document.
func (c *TreeChange) BrokenMentions(doc repo.Path, content []byte, edited bool) ([]CheckedMention, error) {
	if !mention.IsDocument(doc) || mention.IsHistorical(doc) || excluded(c.Policy.Exclude, doc) {
		return nil, nil
	}
	c.collect()
	j := &judge{policy: c.Policy}
	list, _, err := readMentions(doc, content)
	if err != nil {
		return nil, nil //nolint:nilerr // a document that ken cannot read has no mentions
	}
	found := false
	for i := range list {
		m := &list[i]
		if m.Hidden == HiddenHedged && !edited {
			// A hedge hides names that may never have existed. This one did exist.
			m.Hidden = ""
		}
		var err error
		switch m.Kind {
		case mention.Path:
			c.judgePath(m)
		case mention.Command:
			c.judgeCommand(m)
		case mention.Symbol:
			err = c.judgeSymbol(m)
		case mention.Option: // a change removes symbols, and ken reads no options from them
		case mention.Anchor:
			c.judgeAnchor(m)
		}
		if err != nil {
			return nil, err
		}
		found = found || m.Verdict == Gone || m.Verdict == Moved
	}
	if !found {
		return nil, nil
	}
	for i := range list { // the line may name the new path
		m := &list[i]
		if m.Kind == mention.Path && !m.hasVerdict() && c.after != nil && c.after.holdsPath(&m.Mention, possiblePaths(doc, &m.Mention, false)) {
			m.Verdict = Holds
		}
	}
	told := j.statementsOf(list)
	return slices.DeleteFunc(list, func(m CheckedMention) bool {
		return m.Verdict != Gone && m.Verdict != Moved || told.hidden(&m) != ""
	}), nil
}

// judgeAnchor judges a link to a heading of a document that the change edited.
func (c *TreeChange) judgeAnchor(m *CheckedMention) {
	if len(c.anchors) == 0 {
		return
	}
	c.index()
	target := m.File
	if m.In != "" {
		var ok bool
		if target, ok = c.after.page(m.File, m.In); !ok {
			return
		}
	}
	if c.anchors[target][strings.ToLower(m.Name)] {
		m.Verdict, m.ExistedThen, m.Was = Gone, true, target
	}
}

func (c *TreeChange) index() {
	if c.after == nil {
		c.before, c.after = newTreeIndex(c.Before), newTreeIndex(c.After)
	}
}

func (c *TreeChange) judgePath(m *CheckedMention) {
	base := path.Base(path.Clean(m.Name))
	if m.Glob || !c.removed[base] && (m.Form != mention.Link || !c.pages[strings.TrimSuffix(base, ".html")]) {
		return
	}
	c.index()
	paths := possiblePaths(m.File, &m.Mention, false)
	if m.Form == mention.Link {
		if _, ok := c.after.page(m.File, m.Name); ok {
			return
		}
	}
	if c.after.holdsPath(&m.Mention, paths) && !c.leadsAstray(m, paths) || c.after.behind(strings.TrimPrefix(m.Name, "/"), repo.Gitlink) {
		return
	}
	was, ok := c.meant(m, paths)
	if !ok {
		return
	}
	m.Verdict, m.ExistedThen, m.Was = Gone, true, was
	if to, ok := c.Renamed[m.Was]; ok {
		m.Verdict, m.To = Moved, to
		return
	}
	if c.before.dirs[string(m.Was)] {
		var left []repo.Removal
		for from, to := range c.Renamed {
			left = append(left, repo.Removal{Path: from, MovedTo: to})
		}
		for _, f := range c.Before {
			if _, moved := c.Renamed[f.Path]; !moved && f.Path.Under(m.Was) {
				left = append(left, repo.Removal{Path: f.Path})
			}
		}
		if to := movedDir(m.Was, left); to != "" && c.after.has(string(to)) {
			m.Verdict, m.To = Moved, to
		}
	}
}

// leadsAstray reports whether a relative link led to a page before the change, and after it only another directory
// has a page of that name.
func (c *TreeChange) leadsAstray(m *CheckedMention, paths []string) bool {
	if m.Form != mention.Link || strings.HasPrefix(m.Name, "/") || slices.ContainsFunc(paths, c.after.has) {
		return false
	}
	p, ok := c.before.page(m.File, m.Name)
	return ok && mention.IsMarkdown(p)
}

// meant returns the path in the old tree that a mention meant, or false if it may mean a file of the reader. If a
// document shortens a path to a bare name, the name must have been the only one below the directory of the
// document, or else in the tree.
func (c *TreeChange) meant(m *CheckedMention, paths []string) (repo.Path, bool) {
	for _, p := range paths {
		if c.before.has(p) {
			return repo.Path(p), true
		}
	}
	if p, ok := c.before.page(m.File, m.Name); ok && m.Form == mention.Link {
		return p, true
	}
	base := path.Base(path.Clean("/" + m.Name))
	var called []repo.Path
	for _, p := range c.before.byBase[base] {
		called = append(called, repo.Path(p))
	}
	list := endingIn(&m.Mention, map[string][]repo.Path{base: called})
	below := slices.DeleteFunc(slices.Clone(list), func(p repo.Path) bool { return !p.Under(m.File.Dir()) })
	if len(below) > 0 {
		list = below
	}
	if len(list) == 0 || len(list) > 1 && !strings.Contains(m.Name, "/") {
		return "", false
	}
	return list[0], true
}

func (c *TreeChange) judgeCommand(m *CheckedMention) {
	t, ok := c.tools[m.Tool]
	if !ok || !t.before.names[m.Name] || t.after.names[m.Name] || t.after.open && !t.before.open {
		return
	}
	m.Verdict, m.ExistedThen = Gone, true
}

// judgeSymbol judges a symbol that the change removed from a file. A qualified name is broken if no other
// declaration has the same qualifier, a bare one if no file contains the word.
func (c *TreeChange) judgeSymbol(m *CheckedMention) error {
	word := mention.SymbolWord(m.Name)
	removed := c.words[word]
	if len(removed) == 0 {
		return nil
	}
	qualifier := qualifierOf(m.Name)
	if i := slices.IndexFunc(removed, func(s RemovedSymbol) bool { return qualifier != "" && s.belongsTo(qualifier) }); i >= 0 {
		now, err := c.Declared(word)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(now, func(s RemovedSymbol) bool { return s.belongsTo(qualifier) }) {
			return nil
		}
		if !removed[i].hasOwner() { // a module may import the name or generate it
			named, err := c.Named(word, removed[i].Path.Dir())
			if err != nil || named {
				return err
			}
		}
		m.Verdict, m.ExistedThen, m.Was = Gone, true, removed[i].Path
		return nil
	}
	if split(m.Name).isAmbiguous(removed[0].Path, &removed[0].Symbol) && !m.isUnambiguous() {
		return nil
	}
	named, err := c.Named(word, "")
	if err != nil || named {
		return err
	}
	m.Verdict, m.ExistedThen, m.Was = Gone, true, removed[0].Path
	return nil
}

// qualifierOf returns the qualifier of a name; "" for a bare name.
func qualifierOf(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == ':' || r == '#' })
	if len(parts) < 2 {
		return ""
	}
	return parts[len(parts)-2]
}

// hasOwner reports whether the symbol belongs to a type.
func (s *RemovedSymbol) hasOwner() bool {
	return s.Symbol.Qualified != "" && s.Symbol.Qualified != s.Symbol.Name
}

// belongsTo reports whether a qualifier names the type, package, module or directory of the symbol.
func (s *RemovedSymbol) belongsTo(qualifier string) bool {
	return slices.Contains(s.qualifiers(), qualifier)
}

// qualifiers returns the names that may qualify the symbol: its type, or else its package, its module and its
// directory.
func (s *RemovedSymbol) qualifiers() []string {
	if s.hasOwner() {
		return []string{qualifierOf(s.Symbol.Qualified)}
	}
	base := s.Path.Base()
	list := []string{s.Package, strings.TrimSuffix(base, path.Ext(base)), s.Path.Dir().Base()}
	return slices.DeleteFunc(list, func(q string) bool { return q == "" })
}
