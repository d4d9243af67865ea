package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// file answers a query for a whole file.
func (r *reader) file(p repo.Path) error {
	a := r.answer
	a.PathJSON = p.JSON()
	users, err := r.index.Users(r.ctx, p)
	if err != nil {
		return err
	}
	used, err := r.index.Uses(r.ctx, p)
	if err != nil {
		return err
	}
	if a.Ambiguous, err = r.index.Ambiguous(r.ctx, p); err != nil {
		return err
	}
	if err = r.addUnresolved(p); err != nil {
		return err
	}
	a.UsedBy = r.groupByFile(users, fromFile)
	a.Uses = r.groupByFile(used, toFile)
	if err := r.fileMentions(p, users); err != nil {
		return err
	}
	if err := r.addTests([]repo.Path{p}, a.UsedBy, ""); err != nil || r.tests {
		return err
	}
	if err := r.mainSymbols(p, users); err != nil {
		return err
	}
	if err := r.enclosing(); err != nil {
		return err
	}
	if err := r.history(p); err != nil {
		return err
	}
	return r.pathMentions(p, users)
}

// fileMentions adds mentions that may be uses, if no file but tests uses the file.
func (r *reader) fileMentions(p repo.Path, users []searchindex.Edge) error {
	isUser := func(u User) bool { return !u.Starts }
	if slices.ContainsFunc(r.answer.UsedBy, isUser) || r.answer.whyNoUsers() != "" {
		return nil
	}
	o, _, _, err := r.index.Facts(r.ctx, p)
	if err != nil {
		return err
	}
	found, err := NewMentionSearch(r.ctx, r.index, r.tree, r.paths).OfFile(p, &o, users)
	if err != nil {
		return err
	}
	r.answer.Unresolved.UpTo = found.UpTo
	for _, f := range found.Places {
		r.answer.Unresolved.add(f)
	}
	r.sortByUse(r.answer.Unresolved.Places)
	return nil
}

// directory answers a query for the files below a directory, as seen from outside.
func (r *reader) directory(dir repo.Path) error {
	a := r.answer
	a.PathJSON = dir.JSON()
	a.Directory = true
	users, err := r.index.UsersBelow(r.ctx, dir)
	if err != nil {
		return err
	}
	used, err := r.index.UsesBelow(r.ctx, dir)
	if err != nil {
		return err
	}
	a.UsedBy = r.groupByFile(users, fromFile)
	a.Uses = r.groupByFile(used, toFile)
	for i := range a.Uses { // lines of several files have no meaning
		a.Uses[i].Lines = []int{}
		a.Uses[i].More = 0
		for k := range a.Uses[i].Places {
			a.Uses[i].Places[k].Lines = []int{}
			a.Uses[i].Places[k].More = 0
		}
	}
	if err := r.directoryMentions(dir); err != nil {
		return err
	}
	if err := r.addTests(nil, a.UsedBy, ""); err != nil {
		return err
	}
	if r.tests {
		r.testsBelow(dir)
		return nil
	}
	return r.pathMentions(dir, users)
}

// maxFilesBelow limits the files below a directory whose names are looked for.
const maxFilesBelow = 40

// directoryMentions adds the mentions that may be uses of a directory without users, or why its users are unknown.
func (r *reader) directoryMentions(dir repo.Path) error {
	a := r.answer
	first, _ := slices.BinarySearch(r.paths, dir+"/")
	var resolved []repo.Path // files in languages with rules
	for _, p := range r.paths[first:] {
		if !p.Under(dir) {
			break
		}
		unknown, err := r.unresolved(p)
		if err != nil {
			return err
		}
		if unknown == "" {
			resolved = append(resolved, p)
		}
	}
	why := ""
	switch {
	case len(resolved) == 0:
		why = "ken does not resolve references to any of its files"
	case len(a.UsedBy) > 0:
		return nil
	case len(resolved) > maxFilesBelow:
		why = fmt.Sprintf("ken found no use, and the directory has more than %d files: ask about one of them", maxFilesBelow)
	}
	if why != "" {
		a.Unknown = append(a.Unknown, fault.Unknown{What: whatUsers, Why: why})
		return nil
	}
	search := NewMentionSearch(r.ctx, r.index, r.tree, r.paths)
	for _, p := range resolved {
		o, _, _, err := r.index.Facts(r.ctx, p)
		if err != nil {
			return err
		}
		found, err := search.OfFile(p, &o, nil)
		if err != nil {
			return err
		}
		a.Unresolved.UpTo = max(a.Unresolved.UpTo, found.UpTo)
		for _, f := range found.Places {
			if !repo.Path(f.Path).Under(dir) {
				a.Unresolved.add(f)
			}
		}
	}
	r.sortByUse(a.Unresolved.Places)
	return nil
}

// maxMainSymbols limits the symbols of a file that are listed.
const maxMainSymbols = 12

// mainSymbols lists the symbols of a file that others may use, the most used first.
func (r *reader) mainSymbols(p repo.Path, users []searchindex.Edge) error {
	facts, err := r.facts([]repo.Path{p})
	if err != nil {
		return err
	}
	f := facts[p]
	if f.outline == nil {
		return nil
	}
	by := make(map[string]map[repo.Path]bool)
	for _, e := range users {
		if by[e.Symbol] == nil {
			by[e.Symbol] = make(map[repo.Path]bool)
		}
		by[e.Symbol][e.From] = true
	}
	lines := strings.Split(string(f.content), "\n")
	var list []Declaration
	for i := range f.outline.Symbols {
		s := &f.outline.Symbols[i]
		n := len(by[s.FullName()])
		isData := s.Kind == outline.Field || s.Kind == outline.Property || s.Kind == outline.Member
		if s.Kind == outline.Heading || s.Kind == outline.Impl || isData || len(s.Name) < 2 || strings.HasPrefix(s.Name, "__") || n == 0 && !s.Exported {
			continue
		}
		list = append(list, declaration(p, s, lines, n))
	}
	slices.SortStableFunc(list, func(a, b Declaration) int { return cmp.Compare(b.Users, a.Users) })
	r.answer.More["declarations"] = max(0, len(list)-maxMainSymbols)
	r.answer.Declarations = append(r.answer.Declarations, list[:min(len(list), maxMainSymbols)]...)
	return nil
}

func declaration(p repo.Path, s *outline.Symbol, lines []string, users int) Declaration {
	return Declaration{PathJSON: p.JSON(), Name: s.FullName(), Kind: s.Kind, Line: s.NameLine(lines), Signature: s.Signature, Users: users}
}

// history adds the files that change together with a file, and its copies.
func (r *reader) history(p repo.Path) error {
	const (
		most  = 10_000 // files that are looked at
		least = 2      // commits that touched both
	)
	a := r.answer
	f := r.files[p]
	companions, commits, err := r.index.Companions(r.ctx, f.Number, find.MaxTogether, most)
	if err != nil {
		return err
	}
	for _, c := range companions {
		if c.Together >= least && !find.IsSecondary(c.Kind) {
			a.ChangesWith = append(a.ChangesWith, ChangesWith{c.Path.JSON(), c.Together, commits})
		}
	}
	if len(a.ChangesWith) > 0 {
		n, since, err := r.index.History(r.ctx)
		if err != nil {
			return err
		}
		since, _, _ = strings.Cut(since, "T")
		a.Commits = &CommitSpan{n, since}
	}
	if len(r.tree.Read(r.ctx, p)) == 0 {
		return nil // empty files are not copies
	}
	for _, other := range r.paths {
		if other != p && r.files[other].ID == f.ID {
			a.SameBytes = append(a.SameBytes, other.JSON())
		}
	}
	return nil
}
