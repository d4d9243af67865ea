package find

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/outline"
	"ken/internal/project"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// Search answers a query from an index. It reads the lines of the places from files.
func Search(ctx context.Context, x *searchindex.Index, files Reader, q Query) (*Answer, error) {
	words, isAboutTests := withoutTestWords(q.Words)
	query := terms(words)
	list, err := rank(ctx, x, words, query, q.Kinds, tuned.forTests(isAboutTests))
	if err != nil {
		return nil, err
	}
	weights, unmatched, err := rarity(ctx, x, query)
	if err != nil {
		return nil, err
	}
	a := &Answer{Query: strings.Join(q.Words, " "), At: "worktree", Places: []Place{}, Unmatched: unmatched}
	for _, c := range list[:min(len(list), cmp.Or(q.Limit, defaultLimit))] {
		p, err := place(ctx, x, files, c, weights)
		if err != nil {
			return nil, err
		}
		a.Places = append(a.Places, p)
	}
	if q.NoCommands || !isAboutTests && !slices.Contains(q.Kinds, repo.KindTest) {
		return a, nil
	}
	return a, addCommands(ctx, x, files, a.Places)
}

// withoutTestWords returns a query without the words that ask for tests, and whether it had any. A query of only
// such words keeps them.
func withoutTestWords(words []string) ([]string, bool) {
	all := strings.Fields(strings.Join(words, " "))
	asked := false
	left := slices.DeleteFunc(slices.Clone(all), func(word string) bool {
		switch strings.ToLower(strings.Trim(word, "`'\"(),;:?!.")) {
		case "test", "tests", "tested":
			asked = true
			return true
		case "cover", "covers", "covered":
			return true
		}
		return false
	})
	if !asked || len(terms(left)) == 0 || slices.ContainsFunc(terms(left), func(t string) bool { return stopWords()[t] }) {
		return words, asked
	}
	return left, true
}

// addCommands sets the commands that run the tests among some places: the test around the line, or the file.
func addCommands(ctx context.Context, x *searchindex.Index, files Reader, places []Place) error {
	indexed, err := x.Files(ctx)
	if err != nil {
		return err
	}
	paths := slices.Sorted(maps.Keys(indexed))
	p, err := project.New(paths, func(f repo.Path) ([]byte, error) { return files.Read(ctx, f), nil })
	if err != nil {
		return err
	}
	for i := range places {
		at := &places[i]
		command, ok, _ := p.TestCommand(at.Path)
		if !ok {
			continue
		}
		one, isCase := p.TestCaseCommand(at.Path, p.TestCasesAt(at.Path, []int{at.Line}))
		if isCase {
			command = one
		} else if !p.IsTest(at.Path) {
			continue // the file contains tests, and the line is in none of them
		}
		at.Command = command.Run
	}
	return nil
}

// rarity returns the weight of each term in a line: a rare term has a high weight. Terms that occur in no file and
// no commit are unmatched.
func rarity(ctx context.Context, x *searchindex.Index, query []string) (weights map[string]float64, unmatched []string, err error) {
	weights, unmatched = make(map[string]float64), []string{}
	for _, term := range query {
		n, err := x.Count(ctx, searchindex.InText, term)
		if err != nil {
			return nil, nil, err
		}
		weights[stem(term)] = 1 / math.Log2(2+float64(n))
		for _, field := range []searchindex.Field{searchindex.InPath, searchindex.InSymbol, searchindex.InSummary, searchindex.InSubject} {
			if n > 0 {
				break
			}
			if n, err = x.Count(ctx, field, term); err != nil {
				return nil, nil, err
			}
		}
		if n == 0 && !slices.ContainsFunc(query, func(o string) bool { return o != term && strings.Contains(term, o) }) {
			unmatched = append(unmatched, term) // the parts of a compound count instead
		}
	}
	return weights, unmatched, nil
}

// place describes a candidate: its best line, the symbols there, and why it is listed.
func place(ctx context.Context, x *searchindex.Index, files Reader, c *candidate, weights map[string]float64) (Place, error) {
	p := Place{Path: c.file.Path, PathJSON: c.file.Path.JSON(), Symbols: []Symbol{}, Score: math.Round(c.score*100) / 100}
	o, imports, _, err := x.Facts(ctx, c.file.Path)
	if err != nil {
		return p, err
	}
	content := files.Read(ctx, c.file.Path)
	if content != nil && hasText(repo.File{Kind: c.file.Kind, Size: int64(len(content))}) {
		p.Line, p.Text = bestLine(string(content), weights, o.Symbols, imports)
	}
	lines := strings.Split(string(content), "\n")
	for i := range o.Symbols {
		if s := &o.Symbols[i]; c.named != "" && isNamed(s, c.named) && content != nil {
			p.Line = s.NameLine(lines)
			p.Text = english.Clip(strings.TrimSpace(lines[min(p.Line, len(lines))-1]), maxLine)
			break
		}
	}
	p.Symbols = symbolsAt(o.Symbols, p.Line, weights, lines)
	p.Why, err = reasons(ctx, x, c, o.Symbols, weights)
	return p, err
}

// maxLine is the maximum length of a line that is shown or compared. A longer one is data.
const maxLine = 500

// bestLine returns the line with the highest total weight of terms. A line that declares a symbol counts more than
// one in a body, and a line in a body more than an import.
func bestLine(content string, weights map[string]float64, symbols []outline.Symbol, imports []outline.Import) (int, string) {
	declares := make(map[int]bool)
	for i := range symbols {
		declares[symbols[i].Line] = true
	}
	isImport := make(map[int]bool)
	for _, im := range imports {
		isImport[im.Line] = true
	}
	best, at, text, n := 0.0, 0, "", 0
	worthOf := scorer(weights)
	for line := range strings.Lines(content) {
		n++
		if len(line) > maxLine {
			continue
		}
		score := worthOf(line)
		switch {
		case isImport[n]:
			score *= 0.3
		case declares[n]:
			score *= 1.3
		}
		if score > best {
			best, at, text = score, n, strings.TrimSpace(line)
		}
	}
	return at, text
}

// termWeight returns the total weight of the terms in a text, without duplicates.
func termWeight(text string, weights map[string]float64) float64 { return scorer(weights)(text) }

// scorer returns termWeight for many texts: it splits each word only once.
func scorer(weights map[string]float64) func(text string) float64 {
	known := make(map[string][]string) // the terms with a weight, by word
	return func(text string) float64 {
		sum := 0.0
		var seen []string
		searchindex.EachWord(text, func(word string) {
			terms, ok := known[word]
			if !ok {
				for _, term := range searchindex.Terms(word) {
					if term = stem(term); weights[term] > 0 {
						terms = append(terms, term)
					}
				}
				known[word] = terms
			}
			for _, term := range terms {
				if !slices.Contains(seen, term) {
					seen = append(seen, term)
					sum += weights[term]
				}
			}
		})
		return sum
	}
}

// stem removes the usual English endings, so that retries, retried and retry compare equal.
func stem(term string) string {
	for _, ending := range []string{"ies", "ied", "ing", "ers", "er", "ed", "es", "s", "y", "e"} {
		if cut, ok := strings.CutSuffix(term, ending); ok && len(cut) >= 3 {
			return cut
		}
	}
	return term
}

// maxSymbols limits the symbols of a place.
const maxSymbols = 3

// symbolsAt returns the innermost symbol around a line, then the symbols whose names contain terms, each with the
// line of its declaration.
func symbolsAt(symbols []outline.Symbol, line int, weights map[string]float64, lines []string) []Symbol {
	list := []Symbol{}
	around := -1
	for i := range symbols {
		if s := &symbols[i]; s.Line <= line && line <= s.EndLine && s.Kind != outline.Field && s.Kind != outline.Member {
			around = i
		}
	}
	if around >= 0 {
		list = append(list, Symbol{symbols[around].FullName(), symbols[around].NameLine(lines)})
	}
	type named struct {
		symbol *outline.Symbol
		worth  float64
	}
	var others []named
	for i := range symbols {
		if w := termWeight(symbols[i].Name, weights); i != around && w > 0 {
			others = append(others, named{&symbols[i], w})
		}
	}
	slices.SortStableFunc(others, func(a, b named) int { return cmp.Compare(b.worth, a.worth) })
	for _, o := range others[:min(len(others), maxSymbols-len(list))] {
		list = append(list, Symbol{o.symbol.FullName(), o.symbol.NameLine(lines)})
	}
	return list
}

// reasons returns why a file is listed, the strongest reason first.
func reasons(ctx context.Context, x *searchindex.Index, c *candidate, symbols []outline.Symbol, weights map[string]float64) ([]string, error) {
	why := []string{}
	named := slices.ContainsFunc(symbols, func(s outline.Symbol) bool { return termWeight(s.Name, weights) > 0 })
	add := func(reason string, holds bool) {
		if holds {
			why = append(why, reason)
		}
	}
	add("path", termWeight(string(c.file.Path), weights) > 0)
	add("name", named)
	add("doc comment", !named && c.fields[searchindex.InSymbol] > 0)
	add("summary", c.fields[searchindex.InSummary] > 0)
	add("text", len(why) == 0 && c.fields[searchindex.InText] > 0)
	switch c.commits {
	case 0:
	case 1:
		add("1 commit mentions it", true)
	default:
		add(fmt.Sprintf("%d commits mention it", c.commits), true)
	}
	add(fmt.Sprintf("used by %d of these", c.usedBy), c.usedBy > 2)
	if c.with == 0 || c.share < c.score/10 && len(why) > 0 {
		return why, nil
	}
	o, err := x.FileAt(ctx, c.with)
	if err != nil {
		return nil, err
	}
	return append(why, fmt.Sprintf(changesWith+"%s (%d of %d)", o.Path, c.together, c.of)), nil
}

// changesWith begins the only reason that names a path.
const changesWith = "changes with "
