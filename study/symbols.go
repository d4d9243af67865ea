package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// symbols asks ken uses about symbols that other files use, as compilers and type checkers say, and counts how many of
// these files the answer names.
func (st *study) symbols(ctx context.Context) (string, error) {
	var sections []section
	for _, repo := range st.repos {
		name := repoName(repo)
		t, err := st.clone(ctx, repo, "HEAD")
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		for _, l := range symbolLanguages {
			if len(l.files(t)) < fewFiles {
				continue
			}
			progress("%s: %s", name, l.judge)
			truth, err := l.truth(st, ctx, t, l.files(t))
			if err != nil {
				return "", fmt.Errorf("%s, %s: %w", name, l.judge, err)
			}
			progress("%s: ken uses, for %d symbols", name, len(truth.used))
			for _, group := range symbolGroups {
				c, err := st.askSymbols(ctx, t, truth, group.member)
				if err != nil {
					return "", fmt.Errorf("%s: %w", name, err)
				}
				sections = append(sections, section{name, append([]string{name, t.commit, l.name, group.name}, c.cells()...)})
			}
		}
		if err := os.RemoveAll(t.dir); err != nil {
			return "", err
		}
	}
	return bothTables([]string{
		"repository", "tree", "language", "symbols", "asked", "silent zeros", "files that use them", "exact", "exact or likely",
		"told", "exact files", "precision of exact", "not judged",
	}, sections, nil)
}

var symbolGroups = []struct {
	name   string
	member bool
}{{"top level", false}, {"methods", true}}

// A symbolLanguage is one for which a tool of others lists the uses of a symbol.
type symbolLanguage struct {
	edgeLanguage
	truth func(st *study, ctx context.Context, t tree, files []string) (symbolTruth, error)
}

// A symbolTruth lists used symbols, and the files whose uses the tool knows.
type symbolTruth struct {
	used []usedSymbol
	read map[string]bool
}

var symbolLanguages = []symbolLanguage{
	{edgeLanguages[0], (*study).goSymbols},
	{edgeLanguages[1], (*study).typescriptSymbols},
	{edgeLanguages[2], (*study).pythonSymbols},
}

// A usedSymbol is a symbol that files other than its own use.
type usedSymbol struct {
	Path   string
	Name   string // as ken names it: Type.Method
	Member bool
	Users  []string // other files, sorted
}

// sample returns some symbols, spread evenly by a hash of their names.
func (st *study) sample(all []usedSymbol) []usedSymbol {
	hash := func(s usedSymbol) uint64 {
		h := fnv.New64a()
		h.Write([]byte(s.Path + "#" + s.Name))
		return h.Sum64()
	}
	slices.SortFunc(all, func(a, b usedSymbol) int { return cmp.Compare(hash(a), hash(b)) })
	var list []usedSymbol
	for _, group := range symbolGroups {
		left := st.sampled
		for _, s := range all {
			if s.Member == group.member && left > 0 {
				list = append(list, s)
				left--
			}
		}
	}
	return list
}

// symbolCounts is the result for one group of symbols.
type symbolCounts struct {
	asked, silent          int
	users                  int // files that use the symbols
	exact, certain, told   int // of these: exact, also likely, in any list of the answer
	exactFiles, exactRight int // that ken lists
	notJudged              int
	unknownToKen           int // symbols that ken does not know by this name
}

func (c symbolCounts) cells() []string {
	return []string{
		fmt.Sprint(c.asked), fmt.Sprint(c.silent), fmt.Sprint(c.users), share(c.exact, c.users), share(c.certain, c.users),
		share(c.told, c.users), fmt.Sprint(c.exactFiles), share(c.exactRight, c.exactFiles), fmt.Sprint(c.notJudged),
	}
}

// A kenUses is the answer of ken uses, as far as it names files.
type kenUses struct {
	UsedBy []struct {
		Path      string
		Certainty string
	} `json:"used_by"`
	Through []struct {
		UsedBy []kenPath `json:"used_by"`
	}
	AmbiguousIn []kenPath `json:"ambiguous_in"`
	Unresolved  struct {
		Files  int
		UpTo   int `json:"up_to"`
		Places []kenPath
	}
	Unknown []any
}

type kenPath struct{ Path string }

// askSymbols asks ken about each symbol.
func (st *study) askSymbols(ctx context.Context, t tree, truth symbolTruth, member bool) (symbolCounts, error) {
	var c symbolCounts
	for _, s := range truth.used {
		if s.Member != member {
			continue
		}
		out, err := st.output(ctx, t.dir, st.ken, "uses", "--all", "--json", s.Path+"#"+s.Name)
		if err != nil {
			c.unknownToKen++
			if err := st.detail(map[string]string{"what": "not known to ken", "symbol": s.Path + "#" + s.Name}); err != nil {
				return c, err
			}
			continue
		}
		var answer kenUses
		if err := json.Unmarshal(out, &answer); err != nil {
			return c, fmt.Errorf("ken uses %s#%s: %w", s.Path, s.Name, err)
		}
		if err := st.countSymbol(&c, s, truth.read, &answer); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (st *study) countSymbol(c *symbolCounts, s usedSymbol, read map[string]bool, answer *kenUses) error {
	exact := make(map[string]bool)
	certain := make(map[string]bool)
	told := make(map[string]bool)
	for _, u := range answer.UsedBy {
		exact[u.Path] = exact[u.Path] || u.Certainty == "exact"
		certain[u.Path] = true
		told[u.Path] = true
	}
	for _, i := range answer.Through {
		for _, u := range i.UsedBy {
			certain[u.Path] = true
			told[u.Path] = true
		}
	}
	for _, list := range [][]kenPath{answer.AmbiguousIn, answer.Unresolved.Places} {
		for _, u := range list {
			told[u.Path] = true
		}
	}
	c.asked++
	c.users += len(s.Users)
	said := len(told) > 0 || answer.Unresolved.Files+answer.Unresolved.UpTo > 0 || len(answer.Unknown) > 0
	var missing []string
	for _, u := range s.Users {
		switch {
		case exact[u]:
			c.exact++
			c.certain++
			c.told++
		case certain[u]:
			c.certain++
			c.told++
		case told[u] || answer.Unresolved.UpTo > 0:
			c.told++
		default:
			missing = append(missing, u)
		}
	}
	var wrong []string
	for u, is := range exact {
		switch {
		case !is || u == s.Path:
		case slices.Contains(s.Users, u):
			c.exactFiles++
			c.exactRight++
		case !read[u]:
			c.notJudged++
		default:
			c.exactFiles++
			wrong = append(wrong, u)
		}
	}
	symbol := s.Path + "#" + s.Name
	if !said {
		c.silent++
		if err := st.detail(map[string]any{"what": "silent", "symbol": symbol, "users": s.Users}); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		if err := st.detail(map[string]any{"what": "missing", "symbol": symbol, "files": missing}); err != nil {
			return err
		}
	}
	if len(wrong) > 0 {
		return st.detail(map[string]any{"what": "wrong", "symbol": symbol, "files": wrong})
	}
	return nil
}

// nodeSymbols asks a script of this directory, which prints used symbols as JSON.
func (st *study) nodeSymbols(ctx context.Context, script string, t tree, files []string) (symbolTruth, error) {
	cmd := exec.CommandContext(ctx, "node", "--max-old-space-size=8000", script, t.dir, fmt.Sprint(st.sampled))
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(st.npmDir(), "node_modules"))
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return symbolTruth{}, fmt.Errorf("node %s: %w\n%s", script, err, tail(stderr.Bytes()))
	}
	var list []usedSymbol
	if err := json.Unmarshal(out, &list); err != nil {
		return symbolTruth{}, errors.Join(fmt.Errorf("node %s: %w", script, err), errors.New(string(tail(stderr.Bytes()))))
	}
	for i := range list {
		slices.Sort(list[i].Users)
	}
	return symbolTruth{list, newTruth(files).read}, nil
}

// typescriptSymbols asks TypeScript's language service.
func (st *study) typescriptSymbols(ctx context.Context, t tree, files []string) (symbolTruth, error) {
	if err := st.installNpm(ctx, typescriptPackage, typescriptVersion); err != nil {
		return symbolTruth{}, err
	}
	truth, err := st.nodeSymbols(ctx, "symbols_typescript.js", t, t.files)
	truth.read = newTruth(files).read // not components of Vue and Svelte
	return truth, err
}

// pythonSymbols asks pyright's language server.
func (st *study) pythonSymbols(ctx context.Context, t tree, files []string) (symbolTruth, error) {
	if err := st.installNpm(ctx, pyrightPackage, pyrightVersion); err != nil {
		return symbolTruth{}, err
	}
	config := filepath.Join(t.dir, "pyrightconfig.json")
	if err := os.WriteFile(config, []byte(pyrightConfig), 0o644); err != nil {
		return symbolTruth{}, err
	}
	list, err := st.nodeSymbols(ctx, "symbols_python.js", t, files)
	return list, errors.Join(err, os.Remove(config))
}
