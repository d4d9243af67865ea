package usage

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// OfPath returns the mentions of a path that the tree no longer has: files that name it as a path or as a module, and
// imports of its name that ken cannot resolve.
func (m *MentionSearch) OfPath(p repo.Path) (Unresolved, error) {
	var found Unresolved
	stem := strings.TrimSuffix(p.Base(), path.Ext(p.Base()))
	switch stem {
	case "index", "__init__", "mod":
		stem = cmp.Or(p.Dir().Base(), stem)
	}
	terms := searchindex.Terms(stem)
	if len(terms) == 0 {
		return found, nil
	}
	candidates, err := m.index.FilesWith(m.ctx, terms, maxNamedAtAll)
	if err != nil {
		return found, err
	}
	candidates = slices.DeleteFunc(candidates, func(c searchindex.Entry) bool { return !m.mayMention(&c) })
	if len(candidates) > maxMentionFiles {
		found.UpTo = len(candidates)
		return found, nil
	}
	for _, c := range candidates {
		in := FileLines{PathJSON: c.Path.JSON()}
		in.addLines(linesWithPath(m.tree.Read(m.ctx, c.Path), pathSpellings(p, c.Path)), 0)
		if len(in.Lines) > 0 {
			found.add(in)
		}
	}
	return found, m.openImports(p, found.add)
}

// linesWithPath returns the lines that have a path, or the name of a module with what is in it.
func linesWithPath(content []byte, spelt []string) (lines []int) {
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		text := strings.TrimSpace(line)
		isNamed := slices.ContainsFunc(spelt, func(s string) bool {
			isModule := !strings.Contains(s, "/") && strings.Contains(s, ".") && path.Ext(s) != ".py"
			return hasPath(text, s) || isModule && outline.HasWord(text, s)
		})
		if isNamed && !outline.IsComment(text) {
			lines = append(lines, n)
		}
	}
	return lines
}
