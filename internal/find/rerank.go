package find

import (
	"context"
	"math"
	"slices"
	"strings"

	"ken/internal/repo"
	"ken/internal/searchindex"
)

const (
	reranked   = 60  // the number of best files that are compared in detail
	recentHalf = 100 // the number of commits after which a commit counts half
)

// The parts of a detailed comparison. All but byTextTerms and byTestAsked are relative to the file with the
// highest value.
const (
	byScore       = iota // the score so far
	bySymbols            // BM25 of symbols and doc comments
	byPath               // BM25 of the path
	byTextTerms          // share of the terms in the text, by rarity; unlike BM25 it does not penalise long files
	byPart               // terms before a colon that the path contains
	byPartCommits        // terms before a colon in the subjects of its commits
	byRecent             // commits that touched it, by logarithm; an old one counts less
	byDir                // scores of the other files in its directory
	byTestAsked          // 1 for a test if the query mentions tests
	partCount
)

type parts [partCount]float64

// partWeights were learnt from the tasks of ten repositories, which docs/evidence.md names: a softmax over the
// files of a task makes the changed files most probable. byPath and byTextTerms were reduced after that, because
// they made the results for questions ("where is …") worse.
var partWeights = parts{
	byScore: 3.3, bySymbols: 0.5, byPath: 1, byTextTerms: 2, byPart: 1, byPartCommits: 1.2,
	byRecent: 1, byDir: 0.3, byTestAsked: 1.3,
}

// rerank compares the best files in detail and sets new scores. The new best score is the old best score, so that
// scores of different queries stay comparable. The other files stay behind the compared ones.
func rerank(ctx context.Context, x *searchindex.Index, words, query []string, list []*candidate, w weights) error {
	if len(list) == 0 || list[0].score <= 0 {
		return nil
	}
	compared := list[:min(len(list), reranked)]
	others := list[len(compared):]
	all, err := compare(ctx, x, words, query, compared)
	if err != nil {
		return err
	}
	sums := make([]float64, len(compared))
	for i, c := range compared {
		for part, weight := range partWeights {
			sums[i] += weight * all[i][part]
		}
		if c.file.Kind != repo.KindTest { // byScore includes the factor of a test
			sums[i] *= w.factor(c.file.Kind)
		}
	}
	unit := list[0].score / slices.Max(sums)
	for i, c := range compared {
		// Rounded, because sums depend slightly on the order in which commits were indexed.
		c.score = math.Round(1e9*unit*sums[i]) / 1e9
	}
	if len(others) > 0 {
		shrink := min(1, unit*slices.Min(sums)/others[0].score)
		for _, c := range others {
			c.score *= shrink
		}
	}
	return nil
}

// compare returns the parts of each file.
func compare(ctx context.Context, x *searchindex.Index, words, query []string, list []*candidate) ([]parts, error) {
	all := make([]parts, len(list))
	rows := make([]int64, len(list))
	inDir := make(map[repo.Path]float64)
	for i, c := range list {
		rows[i] = c.file.Number
		inDir[c.file.Path.Dir()] += c.score
	}
	asksTests := slices.Contains(query, "test") || slices.Contains(query, "tests")
	for i, c := range list {
		all[i][byScore] = c.score
		all[i][bySymbols] = c.fields[searchindex.InSymbol]
		all[i][byPath] = c.fields[searchindex.InPath]
		all[i][byDir] = inDir[c.file.Path.Dir()] - c.score
		if asksTests && c.file.Kind == repo.KindTest {
			all[i][byTestAsked] = 1
		}
	}
	inFront := termsInFront(words)
	if err := addTerms(ctx, x, query, inFront, rows, all); err != nil {
		return nil, err
	}
	if err := addHistory(ctx, x, inFront, rows, all); err != nil {
		return nil, err
	}
	for part := range partCount {
		if part == byTextTerms || part == byTestAsked {
			continue
		}
		most := 0.0
		for i := range all {
			most = max(most, all[i][part])
		}
		for i := range all {
			if most > 0 {
				all[i][part] /= most
			}
		}
	}
	return all, nil
}

// maxFront limits the length of the part of a query before a colon.
const maxFront = 40

// termsInFront returns the terms before a colon: "parser: accept tabs" is about the parser.
func termsInFront(words []string) []string {
	front, _, found := strings.Cut(strings.Join(words, " "), ": ")
	if !found || len(front) > maxFront {
		return nil
	}
	return terms([]string{front})
}

// idf returns the weight of a term that some of all rows contain, as in BM25.
func idf(having, all int) float64 {
	if having == 0 {
		return 0
	}
	return math.Log(1 + (float64(all-having)+0.5)/(float64(having)+0.5))
}

// addTerms adds the share of the query in each text, and the share of the terms before a colon in each path.
func addTerms(ctx context.Context, x *searchindex.Index, query, inFront []string, rows []int64, all []parts) error {
	files, err := x.Size(ctx)
	if err != nil {
		return err
	}
	total := 0.0
	for _, term := range query {
		count, inText, err := x.RowsWithTerm(ctx, searchindex.InText, term, rows)
		if err != nil {
			return err
		}
		inPath := make(map[int64]bool)
		if slices.Contains(inFront, term) {
			if _, inPath, err = x.RowsWithTerm(ctx, searchindex.InPath, term, rows); err != nil {
				return err
			}
		}
		worth := idf(count, files)
		total += worth
		for i, row := range rows {
			if inText[row] {
				all[i][byTextTerms] += worth
			}
			if inPath[row] {
				all[i][byPart] += worth
			}
		}
	}
	for i := range all {
		if total > 0 {
			all[i][byTextTerms] /= total
		}
	}
	return nil
}

// addHistory adds how recently each file was touched, and whether its commits name the part before a colon.
func addHistory(ctx context.Context, x *searchindex.Index, inFront []string, rows []int64, all []parts) error {
	commits, _, err := x.History(ctx)
	if err != nil {
		return err
	}
	ages, err := x.CommitAges(ctx, 10*recentHalf)
	if err != nil {
		return err
	}
	touches := make([][]searchindex.Touch, len(rows))
	var touching []int64 // the commits
	for i, row := range rows {
		if touches[i], err = x.TouchesOf(ctx, row); err != nil {
			return err
		}
		recent := 0.0
		for _, t := range touches[i] {
			touching = append(touching, t.Commit)
			if age, ok := ages[t.Commit]; ok && t.Files <= MaxTogether {
				recent += math.Exp2(-float64(age) / recentHalf)
			}
		}
		all[i][byRecent] = math.Log1p(recent)
	}
	slices.Sort(touching)
	touching = slices.Compact(touching)
	for _, term := range inFront {
		count, found, err := x.RowsWithTerm(ctx, searchindex.InSubject, term, touching)
		if err != nil {
			return err
		}
		for i := range rows {
			said := 0.0
			for _, t := range touches[i] {
				if found[t.Commit] {
					said += commitWeight(t.Files)
				}
			}
			// A file with many commits has most words in some of them.
			all[i][byPartCommits] += idf(count, commits) * said / (said + 1 + float64(len(touches[i]))/50)
		}
	}
	return nil
}

// commitWeight returns the weight of a commit for each of its files: lower if it touched many.
func commitWeight(files int) float64 {
	return 1 / math.Sqrt(1+float64(files)/4)
}
