package review

import (
	"encoding/json"
	"maps"
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

// addCommands adds the places that run something which the change removes: a script of package.json, a target of a
// Makefile, an option or a subcommand of a program.
func (u *unsureMentions) addCommands() error {
	asked := 0
	for i := range u.Change.Files {
		f := &u.Change.Files[i]
		isEdited := f.OldMode != 0 && f.Kind != repo.Deleted && !f.Unmerged
		if !isEdited || f.FileKind == repo.KindTest {
			continue
		}
		now := u.commandsIn(f, false)
		was := u.commandsIn(f, true)
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if now[name] != "" || asked == maxUnsureNames {
				continue
			}
			asked++
			if err := u.addCommand(f.OldPath(), name, was[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Patterns of what is before a name where a line runs it.
const (
	behindMake   = `\b(?:make|MAKE\)|just)\b.*\s`
	behindRunner = `\b(?:npm|pnpm|yarn|bun|deno|turbo|nx|run-[sp])\b.*[\s"'=]`
	behindSpace  = "(?:^|[\\s\"'`])"
)

// commandsIn returns the names of the commands that one version of a changed file declares, each with the pattern of what
// is before it where a line runs it.
func (u *unsureMentions) commandsIn(f *change.File, before bool) map[string]string {
	p := f.Path
	if before {
		p = f.OldPath()
	}
	found := make(map[string]string)
	addAll := func(pattern, behind string) {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(u.Change.Read(p, before), -1) {
			found[string(m[1])] = behind
		}
	}
	switch base := p.Base(); {
	case base == "package.json":
		var manifest struct {
			Scripts map[string]string `json:"scripts"`
		}
		if json.Unmarshal(u.Change.Read(p, before), &manifest) == nil {
			for name := range manifest.Scripts {
				found[name] = behindRunner
			}
		}
	case slices.Contains([]string{"Makefile", "makefile", "GNUmakefile", "justfile"}, base), strings.HasSuffix(base, ".mk"):
		addAll(`(?m)^([A-Za-z0-9][\w./-]*)[^\n=:]*:(?:[^=]|$)`, behindMake)
	case f.Before != nil:
		addAll(`["'\x60](--[a-z][a-z0-9]*(?:-[a-z0-9]+)*)["'\x60]`, behindSpace)
		addAll(`(?:add_parser|ommand|::new)\(\s*["']([a-z][a-z0-9]*(?:-[a-z0-9]+)+)["']`, behindSpace)
	}
	return found
}

// addCommand adds the places that run a removed command.
func (u *unsureMentions) addCommand(p repo.Path, name, behind string) error {
	candidates, err := u.Index.FilesWith(u.ctx, searchindex.Terms(name), maxCommandFiles)
	if err != nil {
		return err
	}
	pattern := regexp.MustCompile(behind + regexp.QuoteMeta(name) + "(?:[\\s\"'`&;|=,)]|$)")
	for _, f := range candidates {
		isText := f.Kind != repo.KindVendored && f.Kind != repo.KindGenerated && f.Kind != repo.KindLockfile
		isPast := strings.HasPrefix(strings.ToUpper(f.Path.Base()), "CHANGE")
		isListed := behind == behindMake && mention.IsDocument(f.Path) // in a line of the kind docs
		isPlace := isText && !isPast && !isListed
		if isPlace && u.wasThere(f.Path) {
			u.add(mentionsIn(f.Path, u.Change.Read(f.Path, false), pattern), p, name)
		}
	}
	return nil
}
