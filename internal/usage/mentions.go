package usage

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"ken/internal/order"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// A Mention is a file whose text contains a path, or a name in another spelling.
type Mention struct {
	repo.PathJSON
	Lines     []int     `json:"lines"`
	More      int       `json:"more,omitempty"`
	Text      string    `json:"text"` // as the file spells it
	Kind      repo.Kind `json:"kind"`
	Generated bool      `json:"generated,omitempty"`

	path repo.Path
}

// mentionLines limits the lines of one file that has mentions.
const mentionLines = 5

// pathMentions lists the plain-text mentions of a path in manifests, scripts, CI and documents:
// moving the file breaks them. Files with an edge are listed as users.
func (r *reader) pathMentions(p repo.Path, edges []searchindex.Edge) error {
	base := p.Base()
	terms := searchindex.Terms(strings.TrimSuffix(base, path.Ext(base)))
	if len(terms) == 0 {
		return nil
	}
	known := make(map[repo.Path]bool)
	for _, e := range edges {
		known[e.From] = true
	}
	candidates, err := r.index.FilesWith(r.ctx, unique(terms), 2*maxMentionFiles)
	if err != nil {
		return err
	}
	slices.SortStableFunc(candidates, func(a, b searchindex.Entry) int { return mentionRank(a.Kind) - mentionRank(b.Kind) })
	for _, c := range candidates[:min(len(candidates), maxMentionFiles)] {
		isCode := c.Kind == repo.KindSource || c.Kind == repo.KindTest
		if c.Path.Under(p) || known[c.Path] && isCode || c.Kind == repo.KindVendored || c.Kind == repo.KindLockfile {
			continue
		}
		spelt := pathSpellings(p, c.Path)
		r.mention(c, func(line string) string {
			for _, s := range spelt {
				if hasPath(line, s) {
					return s
				}
			}
			return ""
		})
	}
	return nil
}

// mentionRank sorts the files first in which mentions of a path matter most.
func mentionRank(k repo.Kind) int {
	switch k {
	case repo.KindConfig, repo.KindUnknown:
		return 0
	case repo.KindDoc:
		return 1
	case repo.KindSource, repo.KindTest:
		return 2
	default:
		return 3
	}
}

// pathSpellings returns the ways in which a file may name a path: relative to the root, relative to its own directory,
// or as a Python module.
func pathSpellings(p, from repo.Path) []string {
	var list []string
	if p.Dir() != "" || p.Base() != path.Base(string(from)) && strings.Contains(p.Base(), ".") {
		list = append(list, string(p))
	}
	if rel := relativeTo(from.Dir(), p); from.Dir() != "" && strings.ContainsAny(rel, "/.") {
		list = append(list, rel)
	}
	if module, ok := strings.CutSuffix(string(p), ".py"); ok && strings.Contains(module, "/") {
		module = strings.TrimPrefix(strings.TrimSuffix(module, "/__init__"), "src/")
		if strings.Contains(module, "/") {
			list = append(list, strings.ReplaceAll(module, "/", "."))
		}
	}
	return list
}

// relativeTo returns a path as seen from a directory.
func relativeTo(dir, p repo.Path) string {
	up := ""
	for !p.Under(dir) {
		dir = dir.Dir()
		up += "../"
	}
	if dir != "" {
		p = p[len(dir)+1:]
	}
	return up + string(p)
}

// mention adds a file if match finds something in it.
func (r *reader) mention(c searchindex.Entry, match func(line string) string) {
	content := r.tree.Read(r.ctx, c.Path)
	if content == nil {
		return
	}
	m := Mention{PathJSON: c.Path.JSON(), path: c.Path, Lines: []int{}, Kind: c.Kind, Generated: c.Kind == repo.KindGenerated || c.Kind == repo.KindVendored}
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		if len(line) > 2000 {
			continue
		}
		found := match(line)
		if found == "" {
			continue
		}
		if m.Text == "" {
			m.Text = found
		}
		if len(m.Lines) == mentionLines {
			m.More++
			continue
		}
		m.Lines = append(m.Lines, n)
	}
	if m.Text != "" {
		r.answer.Mentions = append(r.answer.Mentions, m)
	}
}

// hasPath reports whether a line contains a path that is not part of a longer one.
func hasPath(line, p string) bool {
	for at := 0; ; {
		i := strings.Index(line[at:], p)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(p)
		before := strings.TrimSuffix(line[:i], "./")
		longer := before != "" && strings.ContainsRune("/.-_", rune(before[len(before)-1])) && !strings.HasSuffix(before, "..")
		if !longer && before != "" {
			longer = outline.IsNameByte(before[len(before)-1])
		}
		if !longer && end < len(line) {
			longer = outline.IsNameByte(line[end]) || line[end] == '-' || line[end] == '.' && end+1 < len(line) && outline.IsNameByte(line[end+1])
		}
		if !longer {
			return true
		}
		at = i + 1
	}
}

// otherSpellings lists the files that contain the words of a name in another spelling: snake case, camel case, with
// dashes, in quotes, or with a word before or after it. A single word does not count.
func (r *reader) otherSpellings(name string, declaring []repo.Path, known map[repo.Path]bool) error {
	words := searchindex.NameWords(name)
	if len(words) < 2 {
		return nil
	}
	pattern := `(?i)[a-z0-9_-]*` + strings.Join(quoteAll(words), `[_-]?`) + `[a-z0-9_-]*`
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	candidates, err := r.index.FilesWith(r.ctx, unique(words), maxMentionFiles)
	if err != nil {
		return err
	}
	whole, err := r.index.FilesWith(r.ctx, []string{strings.Join(words, "")}, maxMentionFiles)
	if err != nil {
		return err
	}
	seen := make(map[repo.Path]bool)
	for _, c := range append(whole, candidates...) {
		if seen[c.Path] || c.Kind == repo.KindVendored || c.Kind == repo.KindLockfile {
			continue
		}
		seen[c.Path] = true
		own := known[c.Path] || slices.Contains(declaring, c.Path)
		r.mention(c, func(line string) string {
			for _, m := range re.FindAllString(line, 8) {
				m = strings.Trim(m, "-_")
				isSame := m == name && (own || c.Kind == repo.KindSource || c.Kind == repo.KindTest)
				if sameWords(m, words) && !isSame && (m == name || !r.declares(m, declaring)) {
					return m
				}
			}
			return ""
		})
	}
	longer := func(m Mention) bool { return len(searchindex.NameWords(m.Text)) > len(words) }
	slices.SortStableFunc(r.answer.Mentions, func(a, b Mention) int {
		return cmp.Or(order.FalseFirst(a.Generated, b.Generated), order.FalseFirst(longer(a), longer(b)))
	})
	return nil
}

// declares reports whether a file in the language of some files declares a name. Then the name is another symbol.
func (r *reader) declares(name string, files []repo.Path) bool {
	found, err := r.index.Declarations(r.ctx, name)
	return err == nil && slices.ContainsFunc(found, func(d searchindex.Declaration) bool {
		return extensionFamily(d.Path) == extensionFamily(files[0])
	})
}

// sameWords reports whether an identifier consists of some words, with at most one more before
// and one after them.
func sameWords(identifier string, words []string) bool {
	has := searchindex.NameWords(identifier)
	if len(has) > len(words)+1 {
		return false
	}
	for at := 0; at+len(words) <= len(has); at++ {
		if slices.Equal(has[at:at+len(words)], words) {
			return true
		}
	}
	return false
}

func unique[T cmp.Ordered](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

func quoteAll(words []string) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = regexp.QuoteMeta(w)
	}
	return list
}
