package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// edges compares ken's edges between files with those of compilers and type checkers.
func (st *study) edges(ctx context.Context) (string, error) {
	var sections []section
	for _, repo := range st.repos {
		name := repoName(repo)
		t, err := st.clone(ctx, repo, "HEAD")
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		progress("%s: ken uses --all", name)
		ken, err := st.kenEdges(ctx, t)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		for _, l := range edgeLanguages {
			if len(l.files(t)) < fewFiles {
				continue
			}
			progress("%s: %s", name, l.judge)
			truth, err := l.truth(st, ctx, t, l.files(t))
			if err != nil {
				return "", fmt.Errorf("%s, %s: %w", name, l.judge, err)
			}
			c := compareEdges(l.own(ken), truth)
			if err := st.detailEdges(name, l.name, c); err != nil {
				return "", err
			}
			sections = append(sections, section{name, append([]string{name, t.commit, l.name}, append(c.cells(), truth.note)...)})
		}
		if err := os.RemoveAll(t.dir); err != nil {
			return "", err
		}
	}
	return bothTables([]string{
		"repository", "tree", "language", "edges (package level)", "ken exact", "precision", "recall", "recall, package level",
		"ken likely", "precision", "recall with likely", "not judged", "",
	}, sections, nil)
}

// fewFiles of a language in a repository are not worth a line.
const fewFiles = 10

// An edgeLanguage is one whose edges a tool of others can tell.
type edgeLanguage struct {
	name       string
	judge      string // the tool
	extensions []string
	truth      func(st *study, ctx context.Context, t tree, files []string) (edgeTruth, error)
}

var edgeLanguages = []edgeLanguage{
	{"Go", "go/packages", []string{".go"}, (*study).goTruth},
	{"TypeScript", "TypeScript's resolver", []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}, (*study).typescriptTruth},
	{"Python", "pyright", []string{".py", ".pyi"}, (*study).pythonTruth},
}

func (l edgeLanguage) has(file string) bool { return slices.Contains(l.extensions, path.Ext(file)) }

func (l edgeLanguage) files(t tree) []string {
	return slices.DeleteFunc(slices.Clone(t.files), func(f string) bool { return !l.has(f) })
}

// own returns the edges between files of the language.
func (l edgeLanguage) own(edges []kenEdge) []kenEdge {
	return slices.DeleteFunc(slices.Clone(edges), func(e kenEdge) bool { return !l.has(e.From) || !l.has(e.To) })
}

// A kenEdge is one line of ken uses --all --json.
type kenEdge struct {
	From, To  string
	Certainty string // exact or likely
	Via       string // the file that re-exports it; "" for a direct use
	Symbol    string
	Kind      string
}

func (st *study) kenEdges(ctx context.Context, t tree) ([]kenEdge, error) {
	out, err := st.output(ctx, t.dir, st.ken, "uses", "--all", "--json")
	if err != nil {
		return nil, err
	}
	var answer struct{ Edges []kenEdge }
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, fmt.Errorf("ken uses --all --json: %w", err)
	}
	if len(answer.Edges) == 0 {
		return nil, errors.New("ken uses --all --json has no edges")
	}
	return answer.Edges, nil
}

// An edge says that one file uses another.
type edge struct{ from, to string }

// edgeTruth is what a tool of others knows about the files of one language.
type edgeTruth struct {
	// edges has true for those by a name of a package, and false for those by methods and
	// fields alone. Where the tool sees only imports, all are true.
	edges map[edge]bool
	read  map[string]bool // files whose uses the tool knows completely
	known map[string]bool // files that it could have named
	// unclear lists, by file, the directories in which something is that the file imports
	// and the tool did not find.
	unclear map[string][]string
	note    string
}

func newTruth(files []string) edgeTruth {
	t := edgeTruth{edges: make(map[edge]bool), read: make(map[string]bool), known: make(map[string]bool), unclear: make(map[string][]string)}
	for _, f := range files {
		t.read[f] = true
		t.known[f] = true
	}
	return t
}

// add notes an edge between two known files.
func (t edgeTruth) add(from, to string, packageLevel bool) {
	if from != to && t.known[from] && t.known[to] {
		e := edge{from, to}
		t.edges[e] = t.edges[e] || packageLevel
	}
}

// judges reports whether the tool can tell if an edge is right.
func (t edgeTruth) judges(e edge) bool {
	if !t.read[e.from] || !t.known[e.to] {
		return false
	}
	return !slices.ContainsFunc(t.unclear[e.from], func(dir string) bool { return dir == "." || strings.HasPrefix(e.to, dir+"/") })
}

// edgeCounts is the result for one language of one repository.
type edgeCounts struct {
	all, packageLevel           int // edges of the tool
	exact, exactRight           int
	exactPackageLevel           int // of exactRight
	likely, likelyRight         int // pairs of files that have no exact edge
	notJudged                   int
	wrong, wrongLikely, missing []edge
}

// compareEdges counts pairs of files. Edges through a re-export are left out: the tools
// tell where an import leads, and not what is behind it.
func compareEdges(ken []kenEdge, truth edgeTruth) edgeCounts {
	exact := make(map[edge]bool) // false for likely ones
	for _, k := range ken {
		e := edge{k.From, k.To}
		// Go's type checker knows no object of an import for its side effects.
		if strings.HasSuffix(k.From, ".go") && (k.Symbol == "" || k.Symbol == "init") {
			continue
		}
		isExact := k.Certainty == "exact"
		direct := k.Via == "" && k.From != k.To
		if direct && (isExact || k.Certainty == "likely") {
			exact[e] = exact[e] || isExact
		}
	}
	var c edgeCounts
	for e, isExact := range exact {
		packageLevel, right := truth.edges[e]
		switch {
		case !right && !truth.judges(e):
			c.notJudged++
		case isExact && right:
			c.exact++
			c.exactRight++
			if packageLevel {
				c.exactPackageLevel++
			}
		case isExact:
			c.exact++
			c.wrong = append(c.wrong, e)
		case right:
			c.likely++
			c.likelyRight++
		default:
			c.likely++
			c.wrongLikely = append(c.wrongLikely, e)
		}
	}
	for e, packageLevel := range truth.edges {
		c.all++
		if packageLevel {
			c.packageLevel++
		}
		if _, found := exact[e]; !found {
			c.missing = append(c.missing, e)
		}
	}
	return c
}

func (c edgeCounts) cells() []string {
	return []string{
		fmt.Sprintf("%d (%d)", c.all, c.packageLevel),
		fmt.Sprint(c.exact), share(c.exactRight, c.exact), share(c.exactRight, c.all), share(c.exactPackageLevel, c.packageLevel),
		fmt.Sprint(c.likely), share(c.likelyRight, c.likely), share(c.exactRight+c.likelyRight, c.all),
		fmt.Sprint(c.notJudged),
	}
}

func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", float64(part)/float64(whole))
}

// detailEdges lists the mistakes.
func (st *study) detailEdges(repo, language string, c edgeCounts) error {
	for _, list := range []struct {
		what  string
		edges []edge
	}{{"wrong", c.wrong}, {"wrong likely", c.wrongLikely}, {"missing", c.missing}} {
		slices.SortFunc(list.edges, func(x, y edge) int {
			return strings.Compare(x.from+"\x00"+x.to, y.from+"\x00"+y.to)
		})
		for _, e := range list.edges {
			if err := st.detail(map[string]string{"repo": repo, "language": language, "what": list.what, "from": e.from, "to": e.to}); err != nil {
				return err
			}
		}
	}
	return nil
}
