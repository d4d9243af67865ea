package brief

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ken/internal/repo"
	"ken/internal/searchindex"
)

// namedGlobs are the names of files in languages whose uses ken finds by name alone, so that
// none of them is certain.
var namedGlobs = []string{"*.rb", "*.php", "*.cs"}

// byName reports whether ken finds the uses of a file by name alone.
func byName(p repo.Path) bool {
	return slices.ContainsFunc(namedGlobs, func(glob string) bool { return strings.HasSuffix(string(p), glob[1:]) })
}

// namedGlobs returns those of namedGlobs that a file below a directory has.
func (r *collector) namedGlobs(dir repo.Path) []string {
	var list []string
	for _, glob := range namedGlobs {
		if slices.ContainsFunc(r.below(dir), func(p repo.Path) bool { return strings.HasSuffix(string(p), glob[1:]) }) {
			list = append(list, glob)
		}
	}
	return list
}

// pairs returns which files use files of a directory. Uses that are likely count in languages
// that have no other.
func (r *collector) pairs(ctx context.Context, dir repo.Path) ([]searchindex.Pair, error) {
	list, err := r.x.Pairs(ctx, dir)
	if err != nil {
		return nil, err
	}
	likely, err := r.x.LikelyPairs(ctx, dir, r.namedGlobs(dir))
	list = slices.DeleteFunc(list, func(p searchindex.Pair) bool { return byName(p.To) })
	return append(list, likely...), err
}

// readMostUsed reads which source files are used most.
func (r *collector) readMostUsed(ctx context.Context) error {
	used, err := r.x.MostUsed(ctx, repo.KindSource)
	if err != nil {
		return err
	}
	used = slices.DeleteFunc(used, func(u searchindex.UseCount) bool { return byName(u.Path) })
	likely, err := r.x.LikelyPairs(ctx, "", r.namedGlobs(""))
	if err != nil {
		return err
	}
	counts := make(map[repo.Path]*searchindex.UseCount)
	for _, p := range likely {
		if r.kind(p.To) != repo.KindSource {
			continue
		}
		u := counts[p.To]
		if u == nil {
			u = &searchindex.UseCount{Path: p.To}
			counts[p.To] = u
		}
		if r.kind(p.From) == repo.KindTest {
			u.Tests++
		} else {
			u.Users++
		}
	}
	for _, u := range counts {
		used = append(used, *u)
	}
	slices.SortFunc(used, func(a, b searchindex.UseCount) int {
		return cmp.Or(cmp.Compare(b.Users, a.Users), cmp.Compare(b.Tests, a.Tests), strings.Compare(string(a.Path), string(b.Path)))
	})
	r.used = used
	return nil
}

// generatedWords returns what a generated file says of its origin, from its first lines.
func generatedWords(content []byte) string {
	const head, longest = 2 << 10, 200
	text := strings.ToValidUTF8(string(content[:min(len(content), head)]), "")
	said := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "/*#-<>!;"))
		low := strings.ToLower(line)
		switch {
		case len(line) > longest: // code
		case said == "" && (strings.Contains(low, "generated") || strings.Contains(low, "do not edit")):
			said = line
		case said != "" && strings.HasPrefix(low, "source:"):
			said += " (" + line + ")"
		}
	}
	if said == "" {
		return "a generated file"
	}
	return "a generated file: " + said
}
