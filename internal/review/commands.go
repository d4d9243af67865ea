package review

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/docs/mention"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// maxCommandFiles limits the files that are read for one removed command.
const maxCommandFiles = 200

// addCommands adds the places that run or set something which the change removes: a script of package.json, a target of
// a Makefile, an option or a subcommand of a program, an environment variable, a custom property of CSS.
func (u *unsureMentions) addCommands() error {
	for i := range u.Change.Files {
		f := &u.Change.Files[i]
		isEdited := f.OldMode != 0 && f.Kind != repo.Deleted && !f.Unmerged
		if !isEdited || f.FileKind == repo.KindTest {
			continue
		}
		now := u.commandsIn(f, false)
		was := u.commandsIn(f, true)
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if now[name] != "" || !u.allows("scripts, options and commands") {
				continue
			}
			if err := u.addCommand(f.OldPath(), name, was[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Patterns of what is before a name where a line runs it.
const (
	beforeMakeTarget = `\b(?:make|MAKE\)|just)\b.*\s`
	beforeScript     = `\b(?:npm|pnpm|yarn|bun|deno|turbo|nx|run-[sp])\b.*[\s"'=]`
	beforeOption     = "(?:^|[\\s\"'`])"
	beforeName       = `(?:^|[^\w-])`
)

// Patterns of the names that a file declares.
var (
	makeTarget  = lazyPattern(`(?m)^([A-Za-z0-9][\w./-]*)[^\n=:]*:(?:[^=]|$)`)
	option      = lazyPattern(`["'\x60](--[a-z][a-z0-9]*(?:-[a-z0-9]+)*)["'\x60]`)
	shortOption = lazyPattern(`["'\x60]([a-z][a-z0-9]*(?:-[a-z0-9]+)+)["'\x60]`) // without its dashes
	subcommand  = lazyPattern(`(?:add_parser|ommand|::new)\(\s*["']([a-z][a-z0-9]*(?:-[a-z0-9]+)+)["']`)
	variable    = lazyPattern(`(?:["'\x60]|\benv\.|\$\{?)(_*[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b`)
	property    = lazyPattern(`(?m)^\s*(--[a-z][a-z0-9]*(?:-[a-z0-9]+)*)\s*:`) // of CSS
)

// commandsIn returns the names of the commands that one version of a changed file declares, each with the pattern of what
// is before it where a line runs it.
func (u *unsureMentions) commandsIn(f *change.File, before bool) map[string]string {
	p := f.Path
	if before {
		p = f.OldPath()
	}
	found := make(map[string]string)
	addAll := func(pattern *regexp.Regexp, prefix string) {
		for _, m := range pattern.FindAllSubmatch(u.Change.Read(p, before), -1) {
			found[string(m[1])] = prefix
		}
	}
	switch base := p.Base(); {
	case base == "package.json":
		var manifest struct {
			Scripts map[string]string `json:"scripts"`
		}
		if json.Unmarshal(u.Change.Read(p, before), &manifest) == nil {
			for name := range manifest.Scripts {
				found[name] = beforeScript
			}
		}
	case slices.Contains([]string{"Makefile", "makefile", "GNUmakefile", "justfile"}, base), strings.HasSuffix(base, ".mk"):
		addAll(makeTarget(), beforeMakeTarget)
	default:
		addAll(variable(), beforeName)
		addAll(property(), beforeName)
		if f.Before == nil {
			break
		}
		addAll(shortOption(), "--")
		addAll(option(), beforeOption)
		addAll(subcommand(), beforeOption+"(?:--)?")
	}
	return found
}

// addCommand adds the places that run a removed command.
func (u *unsureMentions) addCommand(p repo.Path, name, prefix string) error {
	candidates, err := u.Index.FilesWith(u.ctx, searchindex.Terms(name), maxCommandFiles+1)
	if err != nil {
		return err
	}
	if len(candidates) > maxCommandFiles {
		candidates = candidates[:maxCommandFiles]
		why := fmt.Sprintf("more than %d files have the words of %s; ken read %[1]d of them", maxCommandFiles, name)
		u.unknown(Unsure, why, "")
	}
	pattern := regexp.MustCompile(prefix + regexp.QuoteMeta(name) + "(?:[^\\w-]|$)")
	for _, f := range candidates {
		isText := f.Kind != repo.KindVendored && f.Kind != repo.KindGenerated && f.Kind != repo.KindLockfile
		isPast := strings.HasPrefix(strings.ToUpper(f.Path.Base()), "CHANGE")
		isListed := prefix == beforeMakeTarget && mention.IsDocument(f.Path) // in a line of the kind docs
		isPlace := isText && !isPast && !isListed
		if isPlace && u.wasThere(f.Path) {
			u.add(mentionsIn(f.Path, u.Change.Read(f.Path, false), pattern), p, name)
		}
	}
	return nil
}

// beforePath is what is before a path that a text names.
const beforePath = "[\\s\"'`(=./]"

// addShortPaths adds the places that name a removed file without its extension, as in "./runtime/bun", or the directory
// that it was the last file of.
func (u *unsureMentions) addShortPaths(p repo.Path) error {
	stem := strings.TrimSuffix(string(p), path.Ext(string(p)))
	if parts := strings.Split(stem, "/"); len(parts) > 1 {
		name := strings.Join(parts[len(parts)-2:], "/")
		if err := u.addCommand(p, name, beforePath); err != nil {
			return err
		}
	}
	dir := p.Dir()
	isThere := slices.ContainsFunc(u.After(), func(f repo.File) bool { return f.Path.Under(dir) })
	if isThere || !strings.Contains(string(dir), "/") {
		return nil
	}
	return u.addCommand(p, string(dir), beforePath)
}

// servedDirs are directories whose files a web server offers at the top.
var servedDirs = []string{"public/", "static/"}

// addServed adds the places that name a removed file as a web server offers it.
func (u *unsureMentions) addServed(p repo.Path) error {
	for _, dir := range servedDirs {
		if _, rest, ok := strings.Cut("/"+string(p), "/"+dir); ok {
			return u.addCommand(p, "/"+rest, "[\"'`(=]")
		}
	}
	return nil
}

// addAttribute adds the places that set a removed property of a Vue component by its name in markup, as in hide-all for
// hideAll.
func (u *unsureMentions) addAttribute(p repo.Path, name string) error {
	attribute := capital().ReplaceAllStringFunc(name, func(s string) string { return "-" + strings.ToLower(s) })
	if attribute == name || !strings.HasSuffix(string(p), ".vue") {
		return nil
	}
	return u.addCommand(p, attribute, `[\s:]`)
}

var capital = lazyPattern(`[A-Z]`)
