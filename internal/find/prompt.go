package find

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/workspace"
)

// Limits of a search for a prompt. They were tuned on flask, hono and etcd: 29 of 30 questions and tasks about the
// code pass, and none of 25 other sentences.
const (
	promptPlaces = 4
	promptScore  = 3.3  // minimum score of the best place, times the logarithm of the number of files
	promptShare  = 0.5  // minimum score of the others, as a share of the best score
	promptBytes  = 4000 // the maximum size of the prompt that is read
	promptTerms  = 24   // the maximum number of terms
	promptWords  = 2    // the minimum number of words that a place has in its path, symbols and line
)

// chatWords are about the work of an agent, not about a place in the code.
var chatWords = sync.OnceValue(func() map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(`about actually after again ahead alright already am another any anything around ask back bad because been before being best better
		bit both bug bugs build but call change changed changes check clean clear commit commits commit's compare complete continue correct could create
		day decide delete describe did didn different doc docs doesn doing don done down each edit else enough error errors even ever every everything example explain
		fail failed failing fails far few fine finish first follow found full function functions get give go going good got great had hand has have having hello help here hey hi
		idea implement implementation improve instead issue just keep kind know last later least leave left less let like line lines list little ll long look looking looks lot
		many may maybe mean means merge method might mind missing more morning most move much must my name need needs never next nice no nothing now off ok okay old once one ones
		open other others out over own part perfect place plan please point possible pr probably problem project pull push put question quick re read ready really redo refactor rename
		repo repository rest result results review revert right run running same say see seems set shall she short show side simple since small some something soon sorry start
		started still stop such summarize summary sure take task tell test tested testing tests thank thanks thats these they thing things think those though through time today todo
		together tomorrow too tool top touch tried try turn two type under understand undo until up upon useful user verify version very wait walk want wants way well were
		whether while whole wonder won word words work working works world wrong write yeah yes yesterday yet`) {
		words[w] = true
	}
	return words
})

// Prompt returns the places that a prompt is about, at most four. It returns none if the prompt is not a question
// or task about the code, and if there is no index. It does not update the index.
func (f *Finder) Prompt(ctx context.Context, prompt string) (list []Place, err error) {
	x := f.OpenExisting(ctx)
	if x == nil {
		return nil, nil
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	words, names := promptQuery(prompt)
	if len(words) == 0 {
		return nil, nil
	}
	files, err := x.Size(ctx)
	if err != nil {
		return nil, err
	}
	a, err := Search(ctx, x, currentFiles{f.Workspace}, Query{Words: words, Limit: 2 * promptPlaces, NoCommands: true})
	if err != nil || len(a.Places) == 0 {
		return nil, err
	}
	// The weight of a term is at most the logarithm of the number of files.
	least := promptScore * math.Log(float64(files))
	if a.Places[0].Score < least && len(names) == 0 {
		return nil, nil
	}
	asks := asksWhere(prompt)
	for _, p := range a.Places {
		if p.Score >= promptShare*a.Places[0].Score && p.Line > 0 && isAbout(p, words, names, asks) && len(list) < promptPlaces {
			list = append(list, p)
		}
	}
	return list, nil
}

// currentFiles reads the files of the work tree as they are now.
type currentFiles struct{ workspace *workspace.Workspace }

func (c currentFiles) Read(ctx context.Context, p repo.Path) []byte {
	return c.workspace.ReadFile(ctx, p, MaxBytes)
}

// promptQuery returns the words of a prompt that may name a place, and those among them that are spelt like
// identifiers or paths.
func promptQuery(prompt string) (words, names []string) {
	if len(prompt) > promptBytes {
		prompt = prompt[:promptBytes]
	}
	isBetween := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./-", r)
	}
	for field := range strings.FieldsFuncSeq(prompt, isBetween) {
		field = strings.Trim(field, "./-_")
		lower := strings.ToLower(field)
		isName := isIdentifier(field)
		if len(field) < 3 || slices.Contains(words, field) || !isName && (stopWords()[lower] || chatWords()[lower] || len(field) > 40) {
			continue
		}
		if isName {
			names = append(names, field)
		}
		if words = append(words, field); len(words) == promptTerms {
			break
		}
	}
	return words, names
}

// isIdentifier reports whether a word is spelt like a name in code: with an underscore, a
// capital inside, or a dot or slash between letters.
func isIdentifier(word string) bool {
	if strings.ContainsAny(word, "_/") && len(searchindex.NameWords(word)) > 1 {
		return true
	}
	previous := rune(0)
	for _, r := range word {
		if unicode.IsLower(previous) && unicode.IsUpper(r) || previous == '.' && unicode.IsLetter(r) {
			return true
		}
		previous = r
	}
	return false
}

// isAbout reports whether the path, symbols and line of a place contain a name of the prompt, or several of its
// words. For a question, one word is enough if both the path and a symbol contain it.
func isAbout(p Place, words, names []string, asks bool) bool {
	symbols := ""
	for _, s := range p.Symbols {
		symbols += " " + s.Name
	}
	inPath := searchindex.Terms(string(p.Path))
	inSymbols := searchindex.Terms(symbols)
	all := slices.Concat(inPath, inSymbols, searchindex.Terms(p.Text))
	text := string(p.Path) + symbols + " " + p.Text
	isNamed := func(n string) bool { return strings.Contains(text, n) || hasTerm(all, searchindex.JoinedName(n)) }
	if slices.ContainsFunc(names, isNamed) {
		return true
	}
	found := 0
	for _, w := range words {
		if asks && hasTerm(inPath, w) && hasTerm(inSymbols, w) {
			return true
		}
		if hasTerm(all, w) {
			found++
		}
	}
	return found >= promptWords
}

// asksWhere reports whether a prompt asks where something is or how it works.
func asksWhere(prompt string) bool {
	words := strings.Fields(strings.ToLower(prompt[:min(len(prompt), promptBytes)]))
	return slices.ContainsFunc(words, func(w string) bool { return w == "where" || w == "how" || w == "which" })
}

// hasTerm reports whether terms contain a word, possibly with another ending.
func hasTerm(terms []string, word string) bool {
	word = strings.ToLower(word)
	return slices.ContainsFunc(terms, func(t string) bool { return t == word || len(word) > 3 && len(t) > 3 && sameStem(t, word) })
}

// sameStem reports whether two words differ only in a short ending: sign, signed, signing.
func sameStem(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	a = strings.TrimSuffix(strings.TrimSuffix(a, "e"), "y")
	return len(b)-len(a) <= 4 && strings.HasPrefix(b, a)
}
