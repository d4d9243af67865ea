package find

import (
	"cmp"
	"context"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// weights of the fields, and of the files that follow from the best files. docs/evidence.md names the repositories
// on which they were tuned, and measures them on others.
type weights struct {
	Path, Symbol, Text, Summary, Subject float64
	Together                             float64 // share of a file's score for the files that change with it
	Busy                                 float64 // weight of many commits
	Used                                 float64 // share of the scores of the best files for a file that they use
	Test, Generated, Doc, Data           float64 // factors of kinds
}

var tuned = weights{
	Path: 1, Symbol: 0.8, Text: 1, Summary: 1, Subject: 0.9,
	Together: 0.15, Busy: 0.1, Used: 0.05,
	Test: 0.9, Generated: 0.2, Doc: 0.5, Data: 0.3,
}

// stopWords have no meaning for a place in code.
var stopWords = sync.OnceValue(func() map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(`a an and are as at be by can do does for from how if in into is it its not of on or so than that the their
		per them then there this to via was we what when where which who why will with without you your our us should would could
		use uses using used add adds added fix fixes fixed remove removes removed update updates updated make makes made
		allow allows support supports feat chore refactor new also all only handled handle handles happen happens code file files`) {
		words[w] = true
	}
	return words
})

// terms returns the terms of a query without stop words and duplicates. A query of only stop words keeps them.
func terms(words []string) []string {
	all := searchindex.Terms(strings.Join(words, " "))
	list := slices.DeleteFunc(slices.Clone(all), func(t string) bool { return stopWords()[t] })
	if len(list) == 0 {
		list = all
	}
	seen := make(map[string]bool)
	return slices.DeleteFunc(list, func(t string) bool {
		again := seen[t]
		seen[t] = true
		return again
	})
}

// A candidate is a file with its score so far.
type candidate struct {
	file         searchindex.Entry
	score        float64
	fields       map[searchindex.Field]float64
	commits      int     // commits with a matching subject
	with         int64   // the better file that changes together with it
	share        float64 // the part of the score from that file
	together, of int
	usedBy       int    // the number of best files that use it
	named        string // the symbol that the query names
	copies       int    // files that are not listed because of this one
}

const (
	fieldHits      = 300 // files per field
	commitHits     = 200
	companionSeeds = 5  // best files whose companions are added
	usesSeeds      = 12 // best files whose uses are added
)

// rank returns the files for a query, best first.
func rank(ctx context.Context, x *searchindex.Index, words, query []string, kinds []repo.Kind, w weights) ([]*candidate, error) {
	list, err := matching(ctx, x, query, kinds, w)
	if err != nil {
		return nil, err
	}
	if list, err = addNamed(ctx, x, words, kinds, list); err != nil {
		return nil, err
	}
	for _, c := range list {
		// Rounded, because sums depend slightly on the order in which commits were indexed.
		c.score = math.Round(1e9*c.score) / 1e9
	}
	sortCandidates(list)
	if err := raiseRare(ctx, x, query, list); err != nil {
		return nil, err
	}
	return withoutCopies(list), nil
}

// maxRare limits the files with a rare word.
const maxRare = 3

// raiseRare moves the source files with a rare word of the query up to the best two files.
func raiseRare(ctx context.Context, x *searchindex.Index, query []string, list []*candidate) error {
	if len(list) < 2 {
		return nil
	}
	rows := make([]int64, len(list))
	for i, c := range list {
		rows[i] = c.file.Number
	}
	for _, term := range query {
		count, has, err := x.RowsWithTerm(ctx, searchindex.InText, term, rows)
		if err != nil {
			return err
		}
		for _, c := range list {
			isRare := count <= maxRare && has[c.file.Number]
			if isRare && c.file.Kind == repo.KindSource {
				c.score = max(c.score, list[1].score)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *candidate) int { return cmp.Compare(b.score, a.score) })
	return nil
}

// withoutCopies keeps the best of the files with the same content, and of the generated or vendored files with the same
// name, and counts the others.
func withoutCopies(list []*candidate) []*candidate {
	kept := make(map[string]*candidate) // by content, and by name
	return slices.DeleteFunc(list, func(c *candidate) bool {
		keys := []string{c.file.ID.String()}
		if c.file.Kind == repo.KindGenerated || c.file.Kind == repo.KindVendored {
			keys = append(keys, c.file.Kind.String()+" "+c.file.Path.Base())
		}
		for _, key := range keys {
			if same := kept[key]; same != nil {
				same.copies++
				return true
			}
		}
		for _, key := range keys {
			kept[key] = c
		}
		return false
	})
}

// matching returns the files that match by their fields, best first, and the files that follow from the best of
// them.
func matching(ctx context.Context, x *searchindex.Index, query []string, kinds []repo.Kind, w weights) ([]*candidate, error) {
	found := make(map[int64]*candidate)
	get := func(row int64) *candidate {
		c := found[row]
		if c == nil {
			c = &candidate{fields: make(map[searchindex.Field]float64)}
			c.file.Number = row
			found[row] = c
		}
		return c
	}
	for _, field := range []struct {
		name   searchindex.Field
		weight float64
	}{{searchindex.InPath, w.Path}, {searchindex.InSymbol, w.Symbol}, {searchindex.InText, w.Text}, {searchindex.InSummary, w.Summary}} {
		hits, err := x.Match(ctx, field.name, query, fieldHits)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			c := get(h.Row)
			c.fields[field.name] = h.Score
			c.score += field.weight * h.Score
		}
	}
	if err := addSubjects(ctx, x, query, w, get); err != nil {
		return nil, err
	}
	files, err := x.FilesAt(ctx, slices.Collect(maps.Keys(found)))
	if err != nil {
		return nil, err
	}
	touches, err := x.TouchCounts(ctx)
	if err != nil {
		return nil, err
	}
	var list []*candidate
	for number, c := range found {
		c.file = files[number]
		c.score *= w.factor(c.file.Kind) * (1 + w.Busy*math.Log1p(float64(touches[number])))
		list = append(list, c)
	}
	sortCandidates(list)
	list, err = addCompanions(ctx, x, list, found, w)
	if err != nil {
		return nil, err
	}
	if list, err = addUsed(ctx, x, list, found, w); err != nil {
		return nil, err
	}
	if len(kinds) > 0 {
		inside, err := testsInside(ctx, x, kinds)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(c *candidate) bool { return !slices.Contains(kinds, c.file.Kind) && !inside[c.file.Path] })
	}
	sortCandidates(list)
	return list, nil
}

// testsInside returns the Rust source files with a test module, if the query asks for tests.
func testsInside(ctx context.Context, x *searchindex.Index, kinds []repo.Kind) (map[repo.Path]bool, error) {
	if !slices.Contains(kinds, repo.KindTest) {
		return nil, nil
	}
	inside := make(map[repo.Path]bool)
	for _, name := range []string{"tests", "test"} {
		found, err := x.Declarations(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			if d.Symbol.Kind == outline.Module && path.Ext(string(d.Path)) == ".rs" {
				inside[d.Path] = true
			}
		}
	}
	return inside, nil
}

// addSubjects adds the scores of the best commits to the files that they touched.
func addSubjects(ctx context.Context, x *searchindex.Index, query []string, w weights, get func(int64) *candidate) error {
	commits, err := x.Match(ctx, searchindex.InSubject, query, commitHits)
	if err != nil {
		return err
	}
	scores := make(map[int64][]float64)
	for _, commit := range commits {
		err := x.EachTouched(ctx, commit.Row, func(file int64, files int) {
			scores[file] = append(scores[file], commit.Score*commitWeight(files))
			get(file).commits++
		})
		if err != nil {
			return err
		}
	}
	for file, list := range scores {
		slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
		sum := 0.0
		for i, s := range list[:min(len(list), 5)] {
			sum += s / float64(i+1) / float64(i+1)
		}
		c := get(file)
		c.fields[searchindex.InSubject] = sum
		c.score += w.Subject * sum
	}
	return nil
}

// commitWeight returns the weight of a commit for each of its files: lower if it touched many.
func commitWeight(files int) float64 {
	return 1 / math.Sqrt(1+float64(files)/4)
}

// addCompanions adds a share of the best files' scores to the files that change with them.
func addCompanions(ctx context.Context, x *searchindex.Index, list []*candidate, found map[int64]*candidate, w weights) ([]*candidate, error) {
	for _, c := range slices.Clone(list[:min(len(list), companionSeeds)]) {
		companions, commits, err := x.Companions(ctx, c.file.Number, MaxTogether, 20)
		if err != nil {
			return nil, err
		}
		for _, m := range companions {
			if m.Together < 2 || IsSecondary(m.Kind) {
				continue
			}
			all, err := x.CommitCount(ctx, m.Number, MaxTogether)
			if err != nil {
				return nil, err
			}
			share := float64(m.Together) / math.Sqrt(float64(commits+2)*float64(all+2))
			gain := w.Together * c.score * share
			o := found[m.Number]
			if o == nil {
				o = &candidate{file: m.Entry, fields: make(map[searchindex.Field]float64)}
				found[m.Number] = o
				list = append(list, o)
			}
			if gain > o.share {
				o.score += gain - o.share
				o.share, o.with, o.together, o.of = gain, c.file.Number, m.Together, commits
			}
		}
	}
	return list, nil
}

// addUsed raises the score of a file that several of the best files use: an implementation often mentions the
// words less than its users do. A file that the whole repository uses gets little.
func addUsed(ctx context.Context, x *searchindex.Index, list []*candidate, found map[int64]*candidate, w weights) ([]*candidate, error) {
	if w.Used == 0 {
		return list, nil
	}
	sortCandidates(list)
	byPath := make(map[repo.Path]*candidate, len(list))
	for _, c := range list {
		byPath[c.file.Path] = c
	}
	users := make(map[repo.Path][]*candidate)
	for _, c := range list[:min(len(list), usesSeeds)] {
		edges, err := x.Uses(ctx, c.file.Path)
		if err != nil {
			return nil, err
		}
		seen := make(map[repo.Path]bool)
		for _, e := range edges {
			if e.Exact && !seen[e.To] {
				seen[e.To] = true
				users[e.To] = append(users[e.To], c)
			}
		}
	}
	gains := make(map[*candidate]float64) // all computed from the unchanged scores, so the order does not matter
	for p, by := range users {
		c := byPath[p]
		if c == nil || len(by) < 2 || IsSecondary(c.file.Kind) {
			continue // a file without any of the words is not a result
		}
		all, err := x.UserCount(ctx, p)
		if err != nil {
			return nil, err
		}
		gain := 0.0
		for _, u := range by {
			gain += u.score
		}
		c.usedBy = len(by)
		gains[c] = w.Used * gain / math.Sqrt(float64(max(all, len(by))))
	}
	for c, gain := range gains {
		c.score += gain
	}
	return list, nil
}

// maxNamed limits the declarations of one name that count as an answer.
const maxNamed = 5

// addNamed moves the files to the top that the query names: by their path or file name, or by the exact name of a
// symbol that they declare.
func addNamed(ctx context.Context, x *searchindex.Index, words []string, kinds []repo.Kind, list []*candidate) ([]*candidate, error) {
	best := 1.0
	for _, c := range list {
		best = max(best, c.score)
	}
	byPath := make(map[repo.Path]*candidate, len(list))
	for _, c := range list {
		byPath[c.file.Path] = c
	}
	raise := func(p repo.Path, share float64, name string) error {
		c := byPath[p]
		if c == nil {
			f, err := x.File(ctx, p)
			if err != nil || f.Number == 0 || len(kinds) > 0 && !slices.Contains(kinds, f.Kind) {
				return err
			}
			c = &candidate{file: f, fields: make(map[searchindex.Field]float64)}
			byPath[p], list = c, append(list, c)
		}
		c.score += best * share
		c.named = name
		return nil
	}
	for _, word := range names(words) {
		paths, err := x.PathsEndingIn(ctx, word, maxNamed+1)
		if err != nil {
			return nil, err
		}
		if len(paths) <= maxNamed {
			for _, p := range paths {
				if err := raise(p, 2, ""); err != nil {
					return nil, err
				}
			}
		}
		for _, name := range nameSpellings(word) {
			declared, err := x.Declarations(ctx, name[strings.LastIndexByte(name, '.')+1:])
			if err != nil {
				return nil, err
			}
			declared = slices.DeleteFunc(declared, func(d searchindex.Declaration) bool { return !isNamed(&d.Symbol, name) })
			if len(declared) > maxNamed {
				continue
			}
			for _, d := range declared {
				if err := raise(d.Path, 1/math.Sqrt(float64(len(declared))), name); err != nil {
					return nil, err
				}
			}
		}
	}
	return list, nil
}

// nameSpellings returns a name in the spellings of several languages: with_limits, withLimits and WithLimits.
func nameSpellings(name string) []string {
	list := []string{name}
	words := searchindex.NameWords(name)
	if len(words) < 2 || strings.ContainsAny(name, "./-") {
		return list
	}
	capital := make([]string, len(words))
	for i, word := range words {
		r, size := utf8.DecodeRuneInString(word)
		capital[i] = string(unicode.ToUpper(r)) + word[size:]
	}
	camel := words[0] + strings.Join(capital[1:], "")
	for _, other := range []string{strings.Join(words, "_"), camel, strings.Join(capital, "")} {
		if !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	return list
}

// isNamed reports whether a word is the name of a symbol that a query may ask for, which excludes fields and
// implementations.
func isNamed(s *outline.Symbol, word string) bool {
	switch s.Kind {
	case outline.Field, outline.Member, outline.Impl, outline.Module:
		return false
	default:
		return s.Name == word || s.FullName() == word
	}
}

// names returns the words of a query that may be names: the only word, or words that look like an identifier or a
// path.
func names(words []string) []string {
	all := strings.Fields(strings.Join(words, " "))
	var list []string
	for _, word := range all {
		word = strings.Trim(word, "`'\"(),;:?!")
		inner := strings.TrimRight(word, ".")
		if len(inner) > 1 && (len(all) == 1 || strings.ContainsAny(inner, "_./") || hasInnerCapital(inner)) {
			list = append(list, inner)
		}
	}
	return list
}

// hasInnerCapital reports whether a word has a capital after its first letter.
func hasInnerCapital(word string) bool {
	return len(word) > 1 && strings.ContainsFunc(word[1:], unicode.IsUpper)
}

// IsSecondary reports whether nobody wants to know that a file of a kind changes together with others.
func IsSecondary(k repo.Kind) bool {
	switch k {
	case repo.KindGenerated, repo.KindVendored, repo.KindLockfile, repo.KindBinary, repo.KindData, repo.KindLFS:
		return true
	default:
		return false
	}
}

// forTests returns the weights for a query about tests: then tests count more than the tested code.
func (w weights) forTests(asked bool) weights {
	if asked {
		w.Test = 2
	}
	return w
}

func (w weights) factor(k repo.Kind) float64 {
	switch k {
	case repo.KindTest:
		return w.Test
	case repo.KindGenerated, repo.KindVendored, repo.KindLockfile, repo.KindBinary, repo.KindLFS:
		return w.Generated
	case repo.KindDoc:
		return w.Doc
	case repo.KindData:
		return w.Data
	default:
		return 1
	}
}

func sortCandidates(list []*candidate) {
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(string(a.file.Path), string(b.file.Path)))
	})
}
