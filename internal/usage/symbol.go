package usage

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/order"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/suggest"
)

const (
	maxDeclarations = 10  // the maximum number of declarations in an answer
	maxJudged       = 300 // the maximum number of declarations whose users are counted
	fewUsers        = 3   // the number of users that each declaration lists, regardless of the limit
)

// declarations returns the declarations that a name may mean: Name, Type.Member, package.Name.
func (r *reader) declarations(asked string) ([]searchindex.Declaration, error) {
	qualifier, name := splitName(asked)
	if name == "" {
		return nil, nil
	}
	all, err := r.index.Declarations(r.ctx, name)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(d searchindex.Declaration) bool {
		return d.Symbol.Kind == outline.Heading || d.Symbol.Kind == outline.Impl
	})
	if qualifier == "" {
		return all, nil
	}
	full := strings.ReplaceAll(qualifier, "::", ".") + "." + name
	members := slices.DeleteFunc(slices.Clone(all), func(d searchindex.Declaration) bool {
		has := strings.ReplaceAll(d.Symbol.FullName(), "::", ".")
		return has != full && !strings.HasSuffix(has, "."+full)
	})
	if len(members) > 0 {
		return members, nil
	}
	last := qualifier[strings.LastIndexAny(qualifier, ".:")+1:]
	var inPackage []searchindex.Declaration
	for _, d := range all {
		o, _, _, err := r.index.Facts(r.ctx, d.Path)
		if err != nil {
			return nil, err
		}
		stem := strings.TrimSuffix(d.Path.Base(), path.Ext(d.Path.Base()))
		if !isMember(&d.Symbol) && (o.Package == last || stem == last || d.Path.Dir() != "" && d.Path.Dir().Base() == last) {
			inPackage = append(inPackage, d)
		}
	}
	return inPackage, nil
}

// splitName splits a.b.Name and a::Name before the last name.
func splitName(asked string) (qualifier, name string) {
	asked = strings.TrimSuffix(asked, "()")
	i := strings.LastIndexAny(asked, ".:")
	if i < 0 {
		return "", asked
	}
	return strings.TrimRight(asked[:i], ".:"), asked[i+1:]
}

// symbolOf answers a query for a symbol of one file.
func (r *reader) symbolOf(p repo.Path, name string) error {
	r.answer.PathJSON = p.JSON()
	o, _, _, err := r.index.Facts(r.ctx, p)
	if err != nil {
		return err
	}
	name = strings.TrimSuffix(name, "()")
	var found []searchindex.Declaration
	for _, exact := range []bool{true, false} {
		for _, s := range o.Symbols {
			if s.FullName() == name && exact || s.Name == name && !exact {
				found = append(found, searchindex.Declaration{Path: p, Symbol: s})
			}
		}
		if len(found) > 0 {
			return r.symbol(name, found)
		}
	}
	elsewhere, err := r.declarations(name)
	if err != nil {
		return err
	}
	if len(elsewhere) > 0 {
		d := elsewhere[0]
		return notFound("ken uses "+fault.Quote(d.Path.String()+"#"+d.Symbol.FullName()), "%s does not declare %s; %s does", p, name, d.Path)
	}
	var names []string
	for i := range o.Symbols {
		names = append(names, o.Symbols[i].FullName(), o.Symbols[i].Name)
	}
	return notFound(didYouMean(name, names, "see what it declares: ken uses "+fault.Quote(p.String())), "%s does not declare %s", p, name)
}

// symbol answers a query for declarations of one name. Each has its own users.
func (r *reader) symbol(asked string, found []searchindex.Declaration) error {
	a := r.answer
	a.Symbol = asked
	a.Named = len(found)
	type judged struct {
		searchindex.Declaration
		edges []searchindex.Edge
		users int
	}
	var list []judged
	byPath := make(map[repo.Path][]searchindex.Edge)
	for _, d := range found[:min(len(found), maxJudged)] {
		all, known := byPath[d.Path]
		if !known {
			var err error
			if all, err = r.index.Users(r.ctx, d.Path); err != nil {
				return err
			}
			byPath[d.Path] = all
		}
		full := d.Symbol.FullName()
		j := judged{Declaration: d}
		files := make(map[repo.Path]bool) // true if the file names the symbol itself
		for _, e := range all {
			if e.Symbol == full || strings.HasPrefix(e.Symbol, full+".") {
				j.edges = append(j.edges, e)
				files[e.From] = files[e.From] || e.Symbol == full
			}
		}
		for i := range j.edges {
			// A file may use members of a type through a type that extends it.
			j.edges[i].Exact = j.edges[i].Exact && files[j.edges[i].From]
		}
		j.users = len(files)
		list = append(list, j)
	}
	slices.SortStableFunc(list, func(x, y judged) int { return cmp.Compare(y.users, x.users) })
	a.More["declarations"] = len(found) - min(len(list), maxDeclarations)
	list = list[:min(len(list), maxDeclarations)]

	var declaring []repo.Path
	for _, j := range list {
		if !slices.Contains(declaring, j.Path) {
			declaring = append(declaring, j.Path)
		}
	}
	facts, err := r.facts(declaring)
	if err != nil {
		return err
	}
	var all []User
	edgesTo := make(map[repo.Path]bool) // files with an edge to any of the declarations
	for _, j := range list {
		f := facts[j.Path]
		lines := strings.Split(string(f.content), "\n")
		s := j.Symbol
		if f.outline != nil {
			for i := range f.outline.Symbols {
				if o := &f.outline.Symbols[i]; o.FullName() == s.FullName() && o.Line == s.Line {
					s = *o
				}
			}
		}
		d := declaration(j.Path, &s, lines, j.users)
		if err := r.usesInOwnFile(&d, j.Path, &s, f); err != nil {
			return err
		}
		if err := r.addUnresolved(j.Path); err != nil {
			return err
		}
		users := r.groupByFile(j.edges, fromFile)
		for i := range users {
			edgesTo[users[i].path] = true
			if len(list) > 1 {
				users[i].Of = j.Path.String() + "#" + s.FullName()
			}
		}
		all = append(all, users...)
		users, d.More = r.boundedUsers(users, max(fewUsers, r.limit/len(list)))
		a.More["used_by"] += d.More
		a.Declarations = append(a.Declarations, d)
		a.UsedBy = append(a.UsedBy, users...)
		if len(list) == 1 {
			a.PathJSON = j.Path.JSON()
			if err := r.usedInside(j.Path, &s); err != nil {
				return err
			}
			if err := r.history(j.Path); err != nil {
				return err
			}
			if err := r.contracts(j.Path, &s); err != nil {
				return err
			}
			if err := r.introduced(j.Path, &s); err != nil {
				return err
			}
		}
	}
	var tested []repo.Path
	if len(list) == 1 || r.tests {
		tested = declaring
	}
	if err := r.addMentions(found, declaring, edgesTo); err != nil {
		return err
	}
	if err := r.addTests(tested, all, list[0].Symbol.FullName()); err != nil || r.tests {
		return err
	}
	if err := r.enclosing(); err != nil {
		return err
	}
	for _, f := range a.Unresolved.Places {
		edgesTo[repo.Path(f.Path)] = true
	}
	return r.otherSpellings(list[0].Symbol.Name, declaring, edgesTo)
}

// usesInOwnFile adds the uses of a symbol in the file that declares it.
func (r *reader) usesInOwnFile(d *Declaration, p repo.Path, s *outline.Symbol, f fileFacts) error {
	edges, err := r.index.OwnUses(r.ctx, p)
	if err != nil {
		return err
	}
	lines := strings.Split(string(f.content), "\n")
	for _, e := range edges {
		if e.Symbol != s.FullName() {
			continue
		}
		place := Place{How: string(e.Kind), Lines: e.Lines, More: e.More}
		if f.outline != nil {
			addEnclosing(&place, f.outline.Symbols, lines)
		}
		d.OwnUses = append(d.OwnUses, place)
		d.SameFile = append(d.SameFile, e.Lines...)
		isOutside := func(n int) bool { return n < s.Line || n > s.EndLine }
		d.OwnFile = d.OwnFile || e.More > 0 || slices.ContainsFunc(e.Lines, isOutside)
	}
	slices.Sort(d.SameFile)
	d.SameFile = slices.Compact(d.SameFile)
	return nil
}

// usedInside lists the symbols that the lines of a symbol use.
func (r *reader) usedInside(p repo.Path, s *outline.Symbol) error {
	if s.EndLine == 0 {
		return nil
	}
	edges, err := r.index.Uses(r.ctx, p)
	if err != nil {
		return err
	}
	var inside []searchindex.Edge
	for _, e := range edges {
		lines := slices.DeleteFunc(slices.Clone(e.Lines), func(n int) bool { return n < s.Line || n > s.EndLine })
		if len(lines) > 0 {
			e.Lines = lines
			e.More = 0
			inside = append(inside, e)
		}
	}
	r.answer.Uses = r.groupByFile(inside, toFile)
	return nil
}

// enclosing adds the declarations around the lines of the first users.
func (r *reader) enclosing() error {
	list := r.answer.UsedBy
	var paths []repo.Path
	for i := range list {
		if len(paths) < 2*DefaultLimit && !slices.Contains(paths, list[i].path) {
			paths = append(paths, list[i].path)
		}
	}
	facts, err := r.facts(paths)
	if err != nil {
		return err
	}
	for i := range list {
		o := facts[list[i].path].outline
		if o == nil {
			continue
		}
		lines := strings.Split(string(facts[list[i].path].content), "\n")
		for k := range list[i].Places {
			addEnclosing(&list[i].Places[k], o.Symbols, lines)
		}
	}
	return nil
}

// addEnclosing adds the declarations around the lines of a place, and whether a match there has a catch-all arm.
func addEnclosing(place *Place, symbols []outline.Symbol, lines []string) {
	for _, line := range place.Lines {
		if in := around(symbols, line); in != "" && !slices.Contains(place.In, in) {
			place.In = append(place.In, in)
		}
		if place.How != string(outline.UseMatch) || place.Match == withoutCatchAll {
			continue
		}
		if match := catchAll(lines, line); match != "" {
			place.Match = match // a match without a catch-all arm is more important
		}
	}
}

// around returns the name of the innermost declaration around a line; "" if there is none.
func around(symbols []outline.Symbol, line int) string {
	name, length := "", 0
	for i := range symbols {
		s := &symbols[i]
		if s.Kind == outline.Heading || line < s.Line || line > s.EndLine {
			continue
		}
		if n := s.EndLine - s.Line; name == "" || n <= length {
			name, length = s.FullName(), n
		}
	}
	return name
}

// addMentions adds the uses of the name that may mean one of the declarations or something else, and the mentions that
// ken cannot resolve. known are the files with an edge to a declaration.
func (r *reader) addMentions(list []searchindex.Declaration, declaring []repo.Path, known map[repo.Path]bool) error {
	a := r.answer
	search := NewMentionSearch(r.ctx, r.index, r.tree, r.paths)
	for _, member := range []bool{true, false} {
		var symbols []outline.Symbol
		for _, d := range list {
			if isMember(&d.Symbol) == member {
				symbols = append(symbols, d.Symbol)
			}
		}
		if len(symbols) == 0 {
			continue
		}
		found, err := search.search(symbols, declaring, known)
		if err != nil {
			return err
		}
		for _, f := range found.ambiguous {
			a.Ambiguous += len(f.Lines) + f.More
			a.AmbiguousIn = append(a.AmbiguousIn, f)
		}
		a.Unresolved.UpTo = max(a.Unresolved.UpTo, found.unresolved.UpTo)
		for _, f := range found.unresolved.Places {
			a.Unresolved.add(f)
		}
	}
	r.sortByUse(a.AmbiguousIn)
	r.sortByUse(a.Unresolved.Places)
	return nil
}

// sortByUse sorts code before tests, and files with more lines before others.
func (r *reader) sortByUse(list []FileLines) {
	slices.SortStableFunc(list, func(a, b FileLines) int {
		return cmp.Or(
			order.FalseFirst(r.project.ForTests(repo.Path(a.Path)), r.project.ForTests(repo.Path(b.Path))),
			cmp.Compare(len(b.Lines)+b.More, len(a.Lines)+a.More),
			strings.Compare(a.Path, b.Path),
		)
	})
}

func (r *reader) noSymbol(asked string) error {
	_, name := splitName(asked)
	const longer = 12 // a name may have two more words
	names, err := r.index.SymbolNames(r.ctx, len(name)/2, len(name)+longer)
	if err != nil {
		return err
	}
	for _, p := range r.paths {
		if stem := strings.TrimSuffix(p.Base(), path.Ext(p.Base())); stem == asked {
			names = append(names, p.String())
			if p.Base() == asked {
				break
			}
		}
	}
	return notFound(didYouMean(name, names, "search for it: ken find "+fault.Quote(asked)), "no file that ken can parse declares %s, and git tracks no such path", asked)
}

// didYouMean returns a hint with the most similar names: the same words in another spelling, a typing mistake, or
// the name with more or fewer words, up to three of these.
func didYouMean(name string, names []string, otherwise string) string {
	const few, contains = 3, 100
	type near struct {
		name  string
		score int
	}
	var found []near
	for _, n := range names {
		score, ok := suggest.TypoDistance(n, name)
		switch a, b := searchindex.JoinedName(n), searchindex.JoinedName(name); {
		case a == "" || b == "":
		case a == b:
			score, ok = 0, true
		case !ok && len(searchindex.NameWords(n)) > 1 && min(len(a), len(b)) > 4 && (strings.Contains(a, b) || strings.Contains(b, a)):
			score, ok = contains+max(len(a), len(b)), true
		}
		if ok {
			found = append(found, near{n, score})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.score, b.score) })
	found = slices.Compact(found)
	if len(found) == 0 {
		return otherwise
	}
	if found[0].score < contains {
		return "did you mean " + fault.Quote(found[0].name) + "?"
	}
	var list []string
	for _, n := range found[:min(few, len(found))] {
		list = append(list, fault.Quote(n.name))
	}
	return "similar names: " + strings.Join(list, ", ")
}
