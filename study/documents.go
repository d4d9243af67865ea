package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// documents breaks what documents of real repositories mention, one commit for each case, and
// counts the cases that ken docs lists. Cases are chosen from the text of the documents
// alone, with a fixed seed, so that anyone can repeat them.
func (st *study) documents(ctx context.Context) (string, error) {
	counts := make(map[string]map[string]plantCount) // by repository and kind
	trees := make(map[string]string)
	for _, repo := range st.repos {
		name := repoName(repo)
		t, err := st.clone(ctx, repo, "HEAD")
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		trees[name] = t.commit
		if counts[name], err = st.plantAndCount(ctx, name, t); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if err := os.RemoveAll(t.dir); err != nil {
			return "", err
		}
	}
	sum := func(repos []string) []string {
		all := make(map[string]plantCount)
		for _, repo := range repos {
			for kind, n := range counts[repo] {
				all[kind] = all[kind].plus(n)
			}
		}
		return append([]string{"all", ""}, plantCells(all)...)
	}
	var sections []section
	for _, repo := range st.repos {
		name := repoName(repo)
		sections = append(sections, section{name, append([]string{name, trees[name]}, plantCells(counts[name])...)})
	}
	header := slices.Concat([]string{"repository", "tree"}, plantKinds, []string{"paths, symbols and commands", "all", "right commit"})
	text, err := bothTables(header, sections, sum)
	return "Found / planted.\n\n" + text, err
}

// The kinds of cases.
const (
	plantFile      = "file"                     // a path is deleted or renamed
	plantFence     = "file in a block"          // the same, in a block of code
	plantBare      = "bare file name"           // a name without a directory
	plantDir       = "directory"                // it is moved
	plantSymbol    = "symbol"                   // it is renamed or deleted everywhere but in documents
	plantComment   = "symbol left in a comment" // likewise, but a comment still names it
	plantQualified = "qualified name"           // Type.method, package.Func, crate::item: the last part is renamed where the first is
	plantCommand   = "command"                  // a target of make, a script of a package
	plantAnchor    = "anchor"                   // the heading that a link leads to is changed
)

var plantKinds = []string{plantFile, plantFence, plantBare, plantDir, plantSymbol, plantComment, plantQualified, plantCommand, plantAnchor}

// plantQuota is how many cases of a kind a repository gets at most.
var plantQuota = map[string]int{
	plantFile: 4, plantFence: 2, plantBare: 2, plantDir: 2, plantSymbol: 4, plantComment: 2, plantQualified: 4, plantCommand: 3, plantAnchor: 2,
}

type plantCount struct{ found, planted, dated int }

func (c plantCount) plus(o plantCount) plantCount {
	return plantCount{c.found + o.found, c.planted + o.planted, c.dated + o.dated}
}

func plantCells(counts map[string]plantCount) []string {
	var cells []string
	var named, all plantCount
	for _, kind := range plantKinds {
		n := counts[kind]
		all = all.plus(n)
		if kind != plantAnchor {
			named = named.plus(n)
		}
		cells = append(cells, n.cell())
	}
	return append(cells, named.cell(), all.cell(), fmt.Sprintf("%d / %d", all.dated, all.found))
}

func (c plantCount) cell() string {
	if c.planted == 0 {
		return "–"
	}
	return fmt.Sprintf("%d / %d", c.found, c.planted)
}

// A plant is a mention that is made stale.
type plant struct {
	Kind string `json:"kind"`
	Doc  string `json:"doc"`
	Line int    `json:"line"`
	Text string `json:"text"` // as the document has it
	Name string `json:"name"` // what a finding on that line must contain

	target string // path of a file, a directory or a document; name of a symbol; tool and target of a command
	within string // of a qualified name: its first part; of an anchor: the heading's slug
}

// A plantAnswer is a case with ken's answer, for -details.
type plantAnswer struct {
	Repo string `json:"repo"`
	plant
	Found   bool   `json:"found"`
	Dated   bool   `json:"dated"`
	Verdict string `json:"verdict,omitempty"` // of a mention on that line that ken does not list
	Hidden  string `json:"hidden,omitempty"`
}

// plantAndCount plants cases in a tree, each in a commit of its own, and counts those that
// ken lists.
func (st *study) plantAndCount(ctx context.Context, repo string, t tree) (map[string]plantCount, error) {
	g := newGardener(st, t)
	if err := g.read(); err != nil {
		return nil, err
	}
	seed := fnv.New64a()
	fmt.Fprint(seed, repo)
	rng := rand.New(rand.NewPCG(18, seed.Sum64()))
	counts := make(map[string]plantCount)
	type planted struct {
		plant
		commit string
	}
	var done []planted
	for _, kind := range plantKinds {
		candidates := g.candidates(kind)
		rng.Shuffle(len(candidates), func(i, k int) { candidates[i], candidates[k] = candidates[k], candidates[i] })
		perDoc := make(map[string]int)
		n := 0
		for _, p := range candidates {
			if n == plantQuota[kind] {
				break
			}
			if perDoc[p.Doc] == 2 || g.taken(p) {
				continue
			}
			ok, err := g.breakIt(p, n)
			if err != nil {
				return nil, fmt.Errorf("%s of %s:%d: %w", p.Kind, p.Doc, p.Line, err)
			}
			if !ok {
				continue
			}
			commit, err := g.commit(ctx, fmt.Sprintf("change %d", len(done)))
			if err != nil {
				return nil, err
			}
			perDoc[p.Doc]++
			n++
			done = append(done, planted{p, commit})
		}
	}
	listed, err := st.docsFindings(ctx, t.dir)
	if err != nil {
		return nil, err
	}
	for _, p := range done {
		a := plantAnswer{Repo: repo, plant: p.plant}
		for _, f := range listed {
			onLine := f.File == p.Doc && f.Line == p.Line
			named := strings.Contains(f.Mention, p.Name) || strings.Contains(f.Name, p.Name)
			if !onLine || !named {
				continue
			}
			isFinding := f.Hidden == "" && f.Verdict != "holds"
			switch {
			case isFinding:
				a.Found = true
				a.Dated = a.Dated || f.Since == p.commit
			case !a.Found:
				a.Verdict = f.Verdict
				a.Hidden = f.Hidden
			}
		}
		n := plantCount{planted: 1}
		if a.Found {
			n.found = 1
			a.Verdict = ""
			a.Hidden = ""
		}
		if a.Dated {
			n.dated = 1
		}
		counts[p.Kind] = counts[p.Kind].plus(n)
		if err := st.detail(a); err != nil {
			return nil, err
		}
	}
	progress("%s: %d cases planted", repo, len(done))
	return counts, nil
}

// A docsFinding is a mention in ken's answer.
type docsFinding struct {
	File, Mention, Name, Verdict, Hidden, Since string
	Line                                        int
}

func (st *study) docsFindings(ctx context.Context, dir string) ([]docsFinding, error) {
	out, err := st.output(ctx, dir, st.ken, "docs", "--json", "--all")
	if err != nil {
		return nil, err
	}
	var answer struct{ Mentions []docsFinding }
	err = json.Unmarshal(out, &answer)
	return answer.Mentions, err
}
