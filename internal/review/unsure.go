package review

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"ken/internal/change"
	"ken/internal/english"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/usage"
	"ken/internal/uses"
)

// maxMemberFiles limits the files that may use a removed member with a name of one word. With more, they are only counted.
const maxMemberFiles = 10

// maxUnsureNames limits the removed things of one kind whose mentions are searched.
const maxUnsureNames = 100

// unsure adds one line for all places that mention a removed name or path and that no rule of a language settles.
// It leaves out files that another line names for the same name.
func (j *judge) unsure() error {
	u := &unsureMentions{
		judge: j, cause: &cause{kind: Unsure, verb: "may mean "}, files: make(map[repo.Path]*change.File),
		search: usage.NewMentionSearch(j.ctx, j.Index, j.Tree, nil),
		asked:  make(map[string]int), names: make(map[string]bool), wordOnly: make(map[repo.Path]bool),
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
	for i := range j.Change.Files {
		u.addOwn(&j.Change.Files[i])
	}
	for _, add := range []func() error{u.addSymbols, u.addPassedOn, u.addKeys, u.addCommands, u.addPaths} {
		if err := add(); err != nil {
			return err
		}
	}
	for _, what := range slices.Sorted(maps.Keys(u.asked)) {
		if n := u.asked[what]; n > maxUnsureNames {
			why := fmt.Sprintf("the change removes %d %s; ken searched for mentions of the first %d", n, what, maxUnsureNames)
			j.unknown(Unsure, why, "")
		}
	}
	if u.upTo > 0 {
		u.cause.upTo = u.upTo + u.more
	}
	if more := len(u.names) - 1; more > 0 {
		isReason := func(w textPart) bool { return strings.HasPrefix(w.text, ", which") }
		u.cause.what = u.cause.what[:slices.IndexFunc(u.cause.what, isReason)]
		u.cause.what = append(u.cause.what, prose(" or "+english.Count(more, "more removed name")))
	}
	u.countWordOnly()
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
	asked    map[string]int     // the number of removed things of each kind
	names    map[string]bool    // with mentions
	upTo     int                // files that may mention one of the names that too many files have
	more     int                // files that mention one of the others
	wordOnly map[repo.Path]bool // files that have one of the names only as a word
}

// addSymbols adds the mentions of removed symbols.
func (u *unsureMentions) addSymbols() error {
	removed := u.removedNames()
	var short []string
	for i := range u.Change.Removed {
		s := &u.Change.Removed[i]
		owner, isMember := s.Owner()
		isOfRemoved := isMember && removed[string(s.Path)+"#"+owner]
		if f := u.files[s.Path]; f != nil && !isMember && f.Kind != repo.Deleted {
			u.add(u.ownMentions(f, s.Symbol.Name, false), s.Path, s.Symbol.FullName())
		}
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
		if !u.allows("names") {
			continue
		}
		within := users(s)
		u.search.Only = func(p repo.Path) bool { return u.wasThere(p) && within(p) }
		found, err := u.search.Of(s.Path, &s.Symbol)
		if err != nil {
			return err
		}
		u.add(u.likelyUses(found, s.Path, s.Symbol.FullName(), isMember), s.Path, s.Symbol.FullName())
	}
	if len(short) > 0 {
		u.unknown(Unsure, "ken does not search for names of one letter: "+strings.Join(short, ", "), "")
	}
	return nil
}

// allows counts one more removed thing of a kind, and reports whether ken searches for its mentions.
func (u *unsureMentions) allows(what string) bool {
	u.asked[what]++
	return u.asked[what] <= maxUnsureNames
}

// isAsked reports whether other files may use a removed symbol by its name: its file is no test and has no other symbol
// of that name, and the symbol did not move to another file of its package.
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
		_, isMember := s.Owner()                                                             // of a type that others may give
		return s.Symbol.Exported || isMember || len(f.Imports) == 0 && !exportsAny(f.Before) // a script shares its names
	case outline.Python, outline.Rust, outline.Bash:
		return true
	default:
		again, err := u.Index.Declarations(u.ctx, s.Symbol.Name)
		isSame := func(d searchindex.Declaration) bool {
			return d.Path.Dir() == s.Path.Dir() && d.Symbol.FullName() == s.Symbol.FullName()
		}
		return err != nil || !slices.ContainsFunc(again, isSame)
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
	for i := range u.Change.Files {
		f := &u.Change.Files[i]
		family := uses.Family(f.Path)
		hasKeys := family == outline.Python || family == outline.TypeScript
		if !hasKeys || f.FileKind == repo.KindTest {
			continue
		}
		for _, name := range u.removedKeys(f) {
			if !u.allows("keys and attributes") {
				continue
			}
			found, err := u.search.Of(f.OldPath(), &outline.Symbol{Kind: outline.Field, Name: name, Depth: 1})
			if err != nil {
				return err
			}
			u.add(u.ownMentions(f, name, true), f.OldPath(), name)
			u.add(u.likelyUses(found, f.OldPath(), name, true), f.OldPath(), name)
			if err := u.addAttribute(f.OldPath(), name); err != nil {
				return err
			}
		}
	}
	return nil
}

// addPaths adds the mentions of files that left their paths.
func (u *unsureMentions) addPaths() error {
	u.search.Only = u.wasThere
	for i := range u.Change.Files {
		f := &u.Change.Files[i]
		p := f.OldPath()
		isGone := !f.Unmerged && (f.Kind == repo.Deleted || f.From != "")
		isCode := f.FileKind != repo.KindTest && f.FileKind != repo.KindDoc
		if !isGone || !isCode || !u.allows("paths") {
			continue
		}
		found, err := u.search.OfPath(p)
		if err != nil {
			return err
		}
		u.add(found, p, "")
		if err := u.addShortPaths(p); err != nil {
			return err
		}
		if err := u.addServed(p); err != nil {
			return err
		}
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
		if err != nil || u.listed[listedUse{p, of, symbol}] {
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
	u.names[string(of)+"#"+symbol] = true
	if len(u.names) == 1 {
		u.cause.what = u.removedText(of, symbols)
	}
}

// likelyUses returns the mentions of a name without the files that only have it as a word, which are counted: one word
// in a file that is no code, or the name of a member that is neither behind a dot nor in quotes nor a key, or that many
// files have. With All, it returns all.
func (u *unsureMentions) likelyUses(found usage.Unresolved, of repo.Path, name string, isMember bool) usage.Unresolved {
	last := name[strings.LastIndexAny(name, ".:#")+1:]
	if u.All || len(searchindex.NameWords(last)) != 1 {
		return found
	}
	last = regexp.QuoteMeta(last)
	inCode := regexp.MustCompile(`[.>:]` + last + `\b|["']` + last + `["']|\b` + last + `\s*[:=(,}]`)
	inText := regexp.MustCompile(`\.` + last + `\b|["']` + last + `["']|\b` + last + `\(`)
	isWord := func(f usage.FileLines) bool {
		p, err := f.Raw()
		isCode := uses.Supports(outline.LanguageOf(p, nil))
		if err != nil || isCode && !isMember {
			return false
		}
		pattern := inText
		if isCode {
			pattern = inCode
		}
		for _, place := range mentionsIn(p, u.Change.Read(p, false), pattern).Places {
			if slices.ContainsFunc(f.Lines, func(line int) bool { return slices.Contains(place.Lines, line) }) {
				return false
			}
		}
		return true
	}
	likely := slices.DeleteFunc(slices.Clone(found.Places), isWord)
	if isMember && len(likely) > maxMemberFiles {
		likely = nil // the members of many types have this name
	}
	for _, f := range found.Places {
		p, err := f.Raw()
		isListed := slices.ContainsFunc(likely, func(l usage.FileLines) bool { return l.PathJSON == f.PathJSON })
		if err != nil || isListed {
			continue
		}
		if len(u.wordOnly) == 0 && len(u.names) == 0 {
			u.cause.what = u.removedText(of, []string{name})
		}
		u.wordOnly[p] = true
	}
	found.Places = likely
	return found
}

// countWordOnly adds the number of the files that only have a removed name as a word.
func (u *unsureMentions) countWordOnly() {
	for i := range u.cause.places {
		if p, err := u.cause.places[i].Raw(); err == nil {
			delete(u.wordOnly, p)
		}
	}
	files := english.Count(len(u.wordOnly), "file")
	switch {
	case len(u.wordOnly) == 0:
	case len(u.cause.places) > 0 || u.cause.upTo > 0:
		u.cause.what = append(u.cause.what, prose(" (as a word also in "+files+": --all)"))
	default:
		l := Line{Kind: Unsure, Subject: files}
		verb := "have"
		if len(u.wordOnly) == 1 {
			verb = "has"
		}
		l.setText(append([]textPart{prose(verb + " a word that may mean ")}, u.cause.what...)...)
		u.judge.add(l)
	}
}
