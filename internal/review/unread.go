package review

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/docs/mention"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/repo"
	"ken/internal/workspace"
)

// addUncompared adds the changed files that ken did not compare to the unknown facts. Any kind of line may be missing
// for those whose content it could not read.
func (c *collector) addUncompared(ctx context.Context) error {
	if c.change.Skipped > 0 {
		all := change.MaxCompared + c.change.Skipped
		reason := fmt.Sprintf("%d files changed; ken compared the symbols of the first %d", all, change.MaxCompared)
		c.unknown = append(c.unknown, fault.Unknown{What: string(Broken), Why: reason})
	}
	var unmerged []repo.Path
	var others []repo.Path // in languages that ken does not read
	var unparsed []repo.Path
	var ids []repo.ID
	contents := make(map[repo.ID]repo.Path)
	for i := range c.change.Files {
		f := &c.change.Files[i]
		if f.Unmerged {
			unmerged = append(unmerged, f.Path)
			continue
		}
		if f.Kind != repo.Added && isOtherLanguage(f.OldPath()) {
			others = append(others, f.OldPath())
		}
		if mayRemove(c.change, f) {
			unparsed = append(unparsed, f.Path)
		}
		if f.OldMode.SameType(repo.Regular) {
			ids = append(ids, f.Old)
			contents[f.Old] = f.OldPath()
		}
		if f.NewMode.SameType(repo.Regular) && !c.span.to.IsZero() {
			ids = append(ids, f.New)
			contents[f.New] = f.Path
		}
	}
	lacking, err := c.Workspace.Git.Lacking(ctx, ids)
	if err != nil {
		return err
	}
	var absent []repo.Path
	for id := range lacking {
		absent = append(absent, contents[id])
	}
	slices.Sort(absent)
	for _, u := range []struct {
		paths     []repo.Path
		what      Kind
		text, run string
	}{
		{unmerged, "", " with a merge conflict", "git status"},
		{slices.Compact(absent), "", ": git lacks the content before or after the change", "git fetch --refetch --no-filter"},
		{others, Unsure, ": ken does not know what the change removes from files in these languages", ""},
		{unparsed, Unsure, ": ken does not know what the change removes from code that does not parse", ""},
	} {
		if len(u.paths) > 0 {
			why := find.NamedFiles(u.paths) + u.text
			c.unknown = append(c.unknown, fault.Unknown{What: string(u.what), Why: why, Command: u.run})
		}
	}
	return nil
}

// lackingDocs returns the documents whose content git lacks.
func (c *collector) lackingDocs(ctx context.Context) ([]repo.Path, error) {
	var ids []repo.ID
	var paths []repo.Path
	for _, p := range c.t.Paths() {
		if f := c.t.Listed(p); mention.IsDocument(p) && f.Problem == "" {
			ids = append(ids, f.ID)
			paths = append(paths, p)
		}
	}
	lacking, err := c.Workspace.Git.Lacking(ctx, ids)
	var list []repo.Path
	for i, p := range paths {
		if lacking[ids[i]] && c.t.Read(ctx, p) == nil {
			list = append(list, p)
		}
	}
	return list, err
}

// otherLanguages are the extensions of programming languages that ken does not read.
const otherLanguages = ".lua .kt .kts .swift .scala .groovy .dart .ex .exs .erl .hs .ml .mli .fs .clj .cljs .zig " +
	".nim .cr .jl .r .pl .pm .m .mm .vb .pas .d .el .lisp .scm .rkt .sol .gd .ps1 .f90 .elm .gleam .v .proto .graphql "

func isOtherLanguage(p repo.Path) bool {
	ext := strings.ToLower(path.Ext(p.Base()))
	return ext != "" && strings.Contains(otherLanguages, ext+" ")
}

// unread adds the files that ken did not read and that may mention what the change removes.
func (j *judge) unread() error {
	if !j.removesAnything() {
		return nil
	}
	unread, err := find.UnreadPaths(j.Index)
	if err != nil {
		return err
	}
	isOwn := func(p repo.Path) bool { return j.paths[p] } // another fact says so
	unread[find.WhyAbsent] = append(unread[find.WhyAbsent], j.LackingDocs...)
	for _, why := range slices.Sorted(maps.Keys(unread)) {
		others := slices.DeleteFunc(unread[why], isOwn)
		code := slices.DeleteFunc(slices.Clone(others), mention.IsDocument)
		documents := slices.DeleteFunc(others, func(p repo.Path) bool { return !mention.IsDocument(p) })
		text := ": " + strings.NewReplacer(workspace.NotInClone, find.WhyAbsent, "_", " ").Replace(why)
		kind := Broken
		if why == find.WhyTooLarge || why == workspace.NotComparable {
			kind = Unsure // no command helps: the file stays too large, or filtered
		}
		if len(documents) > 0 {
			j.unknown(Docs, "documents that were not read: "+find.NamedFiles(documents)+text, "")
		}
		if len(code) > 0 {
			j.unknown(kind, "files that were not read and may hold uses: "+find.NamedFiles(code)+text, "")
		}
	}
	return nil
}
