package review

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ken/internal/change"
	"ken/internal/english"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/usage"
	"ken/internal/uses"
)

// maxUnsureNames limits the removed names whose mentions are searched.
const maxUnsureNames = 100

// unsure adds one line for all places that mention a removed name or path and that no rule of a language settles,
// without the files that another line names for it.
func (j *judge) unsure() error {
	u := &unsureMentions{
		judge: j, cause: &cause{kind: Unsure, verb: "may mean "}, files: make(map[repo.Path]*change.File),
		search: usage.NewMentionSearch(j.ctx, j.Index, j.Tree, nil),
	}
	added := make(map[repo.Path]bool)
	for i := range j.Change.Files {
		f := &j.Change.Files[i]
		if f.Kind == repo.Added {
			added[f.Path] = true
		} else {
			u.files[f.OldPath()] = f
		}
	}
	u.wasThere = func(p repo.Path) bool { return !added[p] }
	for _, add := range []func() error{u.addSymbols, u.addKeys, u.addPaths} {
		if err := add(); err != nil {
			return err
		}
	}
	if u.upTo > 0 {
		u.cause.upTo = u.upTo + u.more
	}
	if u.names > 1 {
		isReason := func(w textPart) bool { return strings.HasPrefix(w.text, ", which") }
		u.cause.what = u.cause.what[:slices.IndexFunc(u.cause.what, isReason)]
		u.cause.what = append(u.cause.what, prose(" or "+english.Count(u.names-1, "more removed name")))
	}
	j.addCause(u.cause)
	return nil
}

// unsureMentions collects the places of the line.
type unsureMentions struct {
	*judge
	search   *usage.MentionSearch
	files    map[repo.Path]*change.File // the changed files by their old paths
	wasThere func(repo.Path) bool       // before the change
	cause    *cause
	names    int // with mentions
	upTo     int // files that may mention one of the names that too many files have
	more     int // files that mention one of the others
}

// addSymbols adds the mentions of removed symbols.
func (u *unsureMentions) addSymbols() error {
	removed := make(map[string]bool)
	for _, s := range u.Change.Removed {
		removed[string(s.Path)+"#"+s.Symbol.FullName()] = true
	}
	asked := 0
	var short []string
	for i := range u.Change.Removed {
		s := &u.Change.Removed[i]
		owner, isMember := s.Owner()
		isOfRemoved := isMember && removed[string(s.Path)+"#"+owner]
		if isOfRemoved || !u.isAsked(s) {
			continue
		}
		if utf8.RuneCountInString(s.Symbol.Name) == 1 {
			if u.files[s.Path].Kind == repo.Deleted {
				continue // its users name the file
			}
			short = append(short, s.Symbol.FullName()+" of "+s.Path.String())
			continue
		}
		if asked++; asked > maxUnsureNames {
			continue
		}
		within := users(s)
		u.search.Only = func(p repo.Path) bool { return u.wasThere(p) && within(p) }
		found, err := u.search.Of(s.Path, &s.Symbol)
		if err != nil {
			return err
		}
		u.add(found, s.Path, s.Symbol.FullName())
	}
	if len(short) > 0 {
		u.unknown(Unsure, "ken does not search for names of one letter: "+strings.Join(short, ", "), "")
	}
	if asked > maxUnsureNames {
		why := fmt.Sprintf("the change removes %d names; ken searched for mentions of the first %d", asked, maxUnsureNames)
		u.unknown(Unsure, why, "")
	}
	return nil
}

// isAsked reports whether other files may mention a removed symbol and mean it: its file has no other symbol of that
// name, nothing but a test had it, and it did not move to another file of its package.
func (u *unsureMentions) isAsked(s *change.Symbol) bool {
	f := u.files[s.Path]
	if f == nil || f.FileKind == repo.KindTest {
		return false
	}
	isNamesake := func(o outline.Symbol) bool { return o.Name == s.Symbol.Name }
	if f.After != nil && slices.ContainsFunc(f.After.Symbols, isNamesake) {
		return false
	}
	switch uses.Family(s.Path) {
	case outline.TypeScript:
		if isComponent(s.Path) && s.Symbol.Kind == outline.Var {
			return false // see removedKeys
		}
		return s.Symbol.Exported || len(f.Imports) == 0 && !exportsAny(f.Before) // a script shares its names
	case outline.Python, outline.Rust, outline.Bash:
		return true
	default:
		again, err := u.Index.Declarations(u.ctx, s.Symbol.Name)
		if err != nil {
			return true
		}
		for _, d := range again {
			if d.Path.Dir() == s.Path.Dir() && d.Symbol.FullName() == s.Symbol.FullName() {
				return false
			}
		}
		return true
	}
}

func exportsAny(o *outline.Outline) bool {
	return slices.ContainsFunc(o.Symbols, func(s outline.Symbol) bool { return s.Exported })
}

// users returns the files that a language lets use a symbol. In some languages a private one has its users in its
// directory, or below it.
func users(s *change.Symbol) func(repo.Path) bool {
	switch uses.Family(s.Path) {
	case outline.Go, outline.Rust, outline.C, outline.Java, outline.CSharp:
		if !s.Symbol.Exported {
			return func(p repo.Path) bool { return p.Under(s.Path.Dir()) }
		}
	default:
	}
	return func(repo.Path) bool { return true }
}

// addKeys adds the mentions of removed keys and attributes.
func (u *unsureMentions) addKeys() error {
	u.search.Only = u.wasThere
	asked := 0
	for i := range u.Change.Files {
		f := &u.Change.Files[i]
		family := uses.Family(f.Path)
		hasKeys := family == outline.Python || family == outline.TypeScript
		if !hasKeys || f.FileKind == repo.KindTest {
			continue
		}
		for _, name := range u.removedKeys(f) {
			if asked++; asked > maxUnsureNames {
				return nil
			}
			found, err := u.search.Of(f.OldPath(), &outline.Symbol{Kind: outline.Field, Name: name, Depth: 1})
			if err != nil {
				return err
			}
			u.add(found, f.OldPath(), name)
		}
	}
	return nil
}

// addPaths adds the mentions of files that left their paths.
func (u *unsureMentions) addPaths() error {
	u.search.Only = u.wasThere
	asked := 0
	for i := range u.Change.Files {
		f := &u.Change.Files[i]
		p := f.OldPath()
		isGone := !f.Unmerged && (f.Kind == repo.Deleted || f.From != "")
		isCode := f.FileKind != repo.KindTest && f.FileKind != repo.KindDoc
		if !isGone || !isCode || asked == maxUnsureNames {
			continue
		}
		asked++
		found, err := u.search.OfPath(p)
		if err != nil {
			return err
		}
		u.add(found, p, "")
	}
	return nil
}

// add adds the mentions of one symbol, or of a file if symbol is "".
func (u *unsureMentions) add(found usage.Unresolved, of repo.Path, symbol string) {
	name := symbol
	var symbols []string
	if symbol == "" {
		name = of.String()
	} else {
		symbols = append(symbols, symbol)
	}
	places := 0
	for _, f := range found.Places {
		p, err := f.Raw()
		if err != nil || u.told[toldUse{p, of, symbol}] {
			continue
		}
		place := u.cause.add(p, f.Lines...)
		place.Names = append(place.Names, name)
		places++
	}
	u.upTo += found.UpTo
	if found.UpTo == 0 {
		u.more += places
	}
	if places == 0 && found.UpTo == 0 {
		return
	}
	if u.names++; u.names == 1 {
		u.cause.what = u.removedText(of, symbols)
	}
}
