package uses

import (
	"slices"
	"strings"

	"ken/internal/repo"
)

// byModuleRules resolves a module through the aliases of the nearest configuration of SvelteKit, Vite or Nuxt. It finds
// nothing if they lead to several files.
func (r *Resolver) byModuleRules(from repo.Path, spec string) (repo.Path, bool) {
	if len(r.script.rules) == 0 {
		return "", false
	}
	for dir := range from.Dir().Upward() {
		if _, ok := r.script.rules[dir]; !ok {
			continue
		}
		var found []repo.Path
		for _, target := range r.aliasTargets(dir, spec) {
			p, ok := join(dir, target)
			if !ok || isForeign(p) {
				continue
			}
			if file, ok := r.scriptFile(p, false); ok && !slices.Contains(found, file) {
				found = append(found, file)
			}
		}
		if len(found) != 1 {
			return "", false
		}
		return found[0], true
	}
	return "", false
}

// aliasTargets returns the paths that a module may stand for by the configurations of a directory.
func (r *Resolver) aliasTargets(dir repo.Path, spec string) (list []string) {
	longest := ""
	for _, rules := range r.script.rules[dir] {
		for name, target := range rules.Aliases {
			plain := strings.TrimSuffix(name, "/*")
			rest, ok := behindAlias(spec, plain)
			if !ok || len(plain) < len(longest) || plain != name && rest == "" {
				continue
			}
			if len(plain) > len(longest) {
				list = nil
			}
			longest = plain
			list = append(list, strings.TrimSuffix(target, "/*")+rest)
		}
	}
	if longest != "" {
		return list
	}
	for _, rules := range r.script.rules[dir] {
		if rest, ok := behindAlias(spec, "$lib"); ok && rules.Library != "" {
			list = append(list, rules.Library+rest)
		}
		for _, name := range []string{"~", "@"} {
			if rest, ok := behindAlias(spec, name); ok {
				for _, source := range rules.Sources {
					list = append(list, source+rest)
				}
			}
		}
	}
	return list
}

// behindAlias returns what follows an alias, "" or a path from the slash on.
func behindAlias(spec, name string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(spec, strings.TrimSuffix(name, "/"))
	return rest, ok && (rest == "" || rest[0] == '/')
}
