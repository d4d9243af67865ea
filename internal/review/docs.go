package review

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/docs"
	"ken/internal/docs/mention"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// Limits of the search for documents.
const (
	maxPhrases   = 1000 // removed names to search for
	maxDocuments = 1000 // documents with one of the names
	maxTexts     = 200  // files that may still contain the name of a removed symbol
)

// docs lists the mentions that the change broke. It reads only documents that contain a removed name.
func (j *judge) docs() error {
	if !j.removesAnything() {
		return nil
	}
	c := j.treeChange()
	phrases, err := c.SearchTerms()
	if err != nil || len(phrases) == 0 {
		return err
	}
	if len(phrases) > maxPhrases {
		j.unknown(Docs, fmt.Sprintf("the change removes many names; ken looked for %d of them in documents", maxPhrases), "ken docs")
		phrases = phrases[:maxPhrases]
	}
	documents, cut, err := j.documentsWith(phrases)
	if err != nil {
		return err
	}
	if cut {
		j.unknown(Docs, fmt.Sprintf("more than %d documents have a removed name", maxDocuments), "ken docs")
	}
	found := mentionCauses{by: make(map[string]*cause)}
	for _, p := range slices.Sorted(maps.Keys(documents)) {
		content := j.Tree.Read(j.ctx, p)
		if !slices.ContainsFunc(documents[p], func(phrase string) bool { return bytes.Contains(content, []byte(phrase)) }) {
			continue
		}
		broken, err := c.BrokenMentions(p, content, j.paths[p])
		if err != nil {
			return err
		}
		for i := range broken {
			found.add(&broken[i])
		}
	}
	for _, c := range found.list {
		j.addCause(c)
	}
	return nil
}

// mentionCauses groups broken mentions by what the change did.
type mentionCauses struct {
	list []*cause
	by   map[string]*cause // by text
}

func (m *mentionCauses) add(broken *docs.CheckedMention) {
	what := mentionText(broken)
	text := joined(what)
	c := m.by[text]
	if c == nil {
		c = &cause{kind: Docs, what: what}
		m.by[text] = c
		m.list = append(m.list, c)
	}
	c.add(broken.File, broken.Line)
}

// removesAnything reports whether the change removes a path or a symbol, or edits a document or a task file.
func (j *judge) removesAnything() bool {
	return len(j.Change.Removed) > 0 || slices.ContainsFunc(j.Change.Files, func(c change.File) bool {
		return c.Kind == repo.Deleted || c.From != "" || c.OldMode != 0 && (docs.IsTaskFile(c.Path) || mention.IsDocument(c.Path))
	})
}

// treeChange returns the change for package docs.
func (j *judge) treeChange() *docs.TreeChange {
	c := &docs.TreeChange{After: j.After(), Renamed: j.Change.Renamed, Read: j.Change.Read, Policy: j.Policy}
	isNew := make(map[repo.Path]bool)
	changed := make(map[repo.Path]repo.File)
	for i := range j.Change.Files {
		f := &j.Change.Files[i]
		if f.OldMode != 0 {
			changed[f.OldPath()] = repo.File{Path: f.OldPath(), ID: f.Old, Mode: f.OldMode}
		}
		if f.IsNew() {
			isNew[f.Path] = true
		}
	}
	there := make(map[repo.Path]bool, len(c.After))
	for _, f := range c.After {
		there[f.Path] = true
		if isNew[f.Path] {
			continue
		}
		if before, ok := changed[f.Path]; ok {
			f = before
		}
		c.Before = append(c.Before, f)
	}
	for p, f := range changed {
		if !there[p] || isNew[p] {
			c.Before = append(c.Before, f)
		}
	}
	for _, s := range j.Change.Removed {
		if !s.MayInherit {
			c.Symbols = append(c.Symbols, docs.RemovedSymbol{Path: s.Path, Package: s.Package, Symbol: s.Symbol})
		}
	}
	c.Named = j.named
	c.Declared = func(name string) ([]docs.RemovedSymbol, error) {
		found, err := j.Index.Declarations(j.ctx, name)
		var list []docs.RemovedSymbol
		for _, d := range found {
			list = append(list, docs.RemovedSymbol{Path: d.Path, Symbol: d.Symbol})
		}
		for i := range j.Change.Files { // including untracked files
			f := &j.Change.Files[i]
			if f.After == nil {
				continue
			}
			for _, s := range f.After.Symbols {
				if s.Name == name {
					list = append(list, docs.RemovedSymbol{Path: f.Path, Package: f.After.Package, Symbol: s})
				}
			}
		}
		return list, err
	}
	return c
}

// documentsWith lists the documents that contain the terms of one of the phrases.
func (j *judge) documentsWith(phrases []string) (documents map[repo.Path][]string, cut bool, err error) {
	documents = make(map[repo.Path][]string)
	byTerms := make(map[string][]string)
	for _, phrase := range phrases {
		key := strings.Join(searchindex.Terms(phrase), " ")
		if key != "" {
			byTerms[key] = append(byTerms[key], phrase)
		}
	}
	for key, alike := range byTerms {
		found, err := j.Index.DocumentsWith(j.ctx, strings.Fields(key), maxDocuments)
		if err != nil {
			return nil, false, err
		}
		for _, f := range found {
			if mention.IsDocument(f.Path) {
				documents[f.Path] = append(documents[f.Path], alike...)
			}
		}
		cut = cut || len(found) == maxDocuments
	}
	return documents, cut, nil
}

// named reports whether a file in a directory that is not a document contains a word. If too many files may
// contain it, it returns true.
func (j *judge) named(word string, dir repo.Path) (bool, error) {
	terms := searchindex.Terms(word)
	if len(terms) == 0 {
		return true, nil
	}
	found, err := j.Index.FilesWith(j.ctx, terms, maxTexts)
	if err != nil || len(found) == maxTexts {
		return true, err
	}
	for _, f := range found {
		if f.Path.Under(dir) && !mention.IsDocument(f.Path) && outline.HasWord(string(j.Tree.Read(j.ctx, f.Path)), word) {
			return true, nil
		}
	}
	return false, nil
}

// mentionText says what the change did to a mentioned thing.
func mentionText(m *docs.CheckedMention) []textPart {
	switch {
	case m.Verdict == docs.Moved:
		return []textPart{data(m.Text), prose(" was moved by this change to "), data(m.To.String())}
	case m.Kind == mention.Anchor:
		return []textPart{data(m.Text), prose(" leads to a heading that this change removed from "), data(m.Was.String())}
	case m.Kind == mention.Symbol:
		return []textPart{data(m.Text), prose(" was removed by this change from "), data(m.Was.String())}
	default:
		return []textPart{data(m.Text), prose(" was removed by this change")}
	}
}
