package find

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

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
	matched, unmatched, err := newQueryTerms(ctx, x, query)
	if err != nil {
		return nil, err
	}
	a := &Answer{Query: strings.Join(q.Words, " "), At: "worktree", Places: []Place{}, Unmatched: unmatched}
	for _, c := range list[:min(len(list), cmp.Or(q.Limit, defaultLimit))] {
		p, err := place(ctx, x, files, c, matched)
		if err != nil {
			return nil, err
		}
		a.Places = append(a.Places, p)
	}
	if !isAboutTests && !slices.Contains(q.Kinds, repo.KindTest) {
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

// place describes a candidate: its best lines, the symbols around them, and why it is listed.
func place(ctx context.Context, x *searchindex.Index, files Reader, c *candidate, q *queryTerms) (Place, error) {
	p := Place{
		Path: c.file.Path, PathJSON: c.file.Path.JSON(), Symbols: []Symbol{}, Score: math.Round(c.score*100) / 100,
		Copies: c.copies,
	}
	o, imports, _, err := x.Facts(ctx, c.file.Path)
	if err != nil {
		return p, err
	}
	var inText termSet
	content := files.Read(ctx, c.file.Path)
	if content != nil && hasText(repo.File{Kind: c.file.Kind, Size: int64(len(content))}) {
		var best []codeLine
		best, inText = q.bestLines(string(content), &o, imports, c.named)
		p.setLines(best, o.Symbols, strings.Split(string(content), "\n"))
	}
	p.Why, err = reasons(ctx, x, c, q, o.Symbols, inText)
	return p, err
}

// setLines sets the lines of a place and the symbols around them, each with the line of its declaration.
func (p *Place) setLines(best []codeLine, symbols []outline.Symbol, lines []string) {
	for _, b := range best {
		l := Line{Line: b.number, Text: b.text}
		if b.around >= 0 {
			s := Symbol{symbols[b.around].FullName(), symbols[b.around].NameLine(lines)}
			l.Symbol = s.Name
			if !slices.Contains(p.Symbols, s) {
				p.Symbols = append(p.Symbols, s)
			}
		}
		p.Lines = append(p.Lines, l)
	}
	if len(best) > 0 {
		p.Line = best[0].number
		p.Text = best[0].text
	}
}

// reasons returns why a file is listed: which terms its path, its names and its text have, each once, then what follows
// from other files and commits.
func reasons(ctx context.Context, x *searchindex.Index, c *candidate, q *queryTerms, symbols []outline.Symbol, inText termSet) ([]string, error) {
	why := []string{}
	add := func(reason string, holds bool) {
		if holds {
			why = append(why, reason)
		}
	}
	inPath := q.in(string(c.file.Path))
	var inNames termSet
	for i := range symbols {
		inNames |= q.in(symbols[i].Name)
	}
	inNames &^= inPath
	inText &^= inPath | inNames
	add("path: "+q.list(inPath), inPath != 0)
	add("names: "+q.list(inNames), inNames != 0)
	add("text: "+q.list(inText), inText != 0)
	add("summary", c.fields[searchindex.InSummary] > 0)
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
