package docs

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"ken/internal/docs/mention"
	"ken/internal/outline"
	"ken/internal/repo"
)

// A removalSearch searches for the commit that removed a thing from a file.
type removalSearch struct {
	file repo.Path
	is   func(v *fileVersion) bool // reports whether a version has the thing
	last repo.CommitNumber         // the last commit that removed it; -1 while none is known

	inHead bool // the file in HEAD has it, so no commit removed it for good
	blind  bool // a relevant content could not be read

	touches []repo.Touch // the remaining ones
}

// maxRemovalChanges limits how many of the latest changes of a file are read.
const maxRemovalChanges = 500

// findRemovals finds the last commit of each search that removed the thing from the file. If there is none, the
// search is unchanged.
func (j *judge) findRemovals(ctx context.Context, searches []*removalSearch) error {
	now := make([]versionCheck, len(searches))
	for i, h := range searches {
		now[i] = versionCheck{place: repo.CommitPath{Commit: j.past.head, Path: h.file}, search: h}
	}
	if err := j.readVersions(ctx, now); err != nil {
		return err
	}
	var open []*removalSearch
	for i, h := range searches {
		h.inHead, h.blind = now[i].has, h.blind || now[i].unread
		if h.inHead || h.blind {
			continue // the thing came back, or may have
		}
		h.touches = j.history.Touching(h.file)
		h.touches = h.touches[max(0, len(h.touches)-maxRemovalChanges):]
		open = append(open, h)
	}
	for step := 4; len(open) > 0; step *= 4 {
		var checks []versionCheck
		var first []int // the first check of each search
		for _, h := range open {
			first = append(first, len(checks))
			checks = append(checks, j.versionChecks(h, step)...)
		}
		if err := j.readVersions(ctx, checks); err != nil {
			return err
		}
		var further []*removalSearch
		for k, h := range open {
			end := len(checks)
			if k+1 < len(first) {
				end = first[k+1]
			}
			n, sure := lastLoss(checks[first[k]:end])
			switch {
			case !sure:
				h.blind = true
			case n >= 0:
				h.last = max(h.last, n)
			case len(h.touches) > 0:
				further = append(further, h)
			}
		}
		open = further
	}
	return nil
}

// A pastThing is what a mention names, and the files that may have had it when the document named it.
type pastThing struct {
	mention int
	files   []repo.Path
	now     repo.Path                 // the file that would have it today; "" if it is the one that had it
	is      func(v *fileVersion) bool // reports whether a version has it
}

// judgeThings finds the things that a file had when the document named them, and the commits that removed them.
func (j *judge) judgeThings(ctx context.Context, things []pastThing, claims map[int]origin) error {
	var checks []versionCheck
	var whose []*pastThing
	for i := range things {
		t := &things[i]
		for _, p := range t.files {
			place := repo.CommitPath{Commit: claims[t.mention].commit, Path: p}
			checks = append(checks, versionCheck{place: place, search: &removalSearch{is: t.is}})
			whose = append(whose, t)
		}
	}
	if err := j.readVersions(ctx, checks); err != nil {
		return err
	}
	searches := make(map[int]*removalSearch)
	var open []*removalSearch
	for k, l := range checks {
		t := whose[k]
		m := &j.list[t.mention]
		switch {
		case l.unread && !m.hasVerdict():
			m.Verdict, m.Why = Unknown, whyUnread
		case l.has && !m.ExistedThen:
			m.Verdict, m.Why, m.ExistedThen, m.Was = Gone, "", true, cmp.Or(t.now, l.place.Path)
			searches[t.mention] = &removalSearch{file: m.Was, last: -1, is: t.is}
			open = append(open, searches[t.mention])
		}
	}
	for _, t := range things {
		if m := &j.list[t.mention]; !m.hasVerdict() && claims[t.mention].vague != "" {
			m.Verdict, m.Why = Unknown, claims[t.mention].vague
		}
	}
	if err := j.findRemovals(ctx, open); err != nil {
		return err
	}
	for i, h := range searches {
		j.setRemovalCommit(i, h)
	}
	return nil
}

// A versionCheck checks a file in a commit, or in a parent of it.
type versionCheck struct {
	place  repo.CommitPath
	search *removalSearch
	commit repo.CommitNumber
	parent bool // place is in a parent of commit
	has    bool
	unread bool // the content could not be read
}

// versionChecks returns the checks for the latest changes of a file.
func (j *judge) versionChecks(h *removalSearch, step int) []versionCheck {
	some := h.touches[max(0, len(h.touches)-step):]
	h.touches = h.touches[:len(h.touches)-len(some)]
	var list []versionCheck
	for _, t := range some {
		list = append(list, versionCheck{place: repo.CommitPath{Commit: j.history.Commit(t.Commit).ID, Path: h.file}, search: h, commit: t.Commit})
		for _, p := range j.history.parents.Of(t.Commit) {
			list = append(list, versionCheck{place: repo.CommitPath{Commit: j.history.Commit(p).ID, Path: h.file}, search: h, commit: t.Commit, parent: true})
		}
	}
	return list
}

// lastLoss returns the last commit that removed the thing, -1 for none. A merge removes only what all of its
// parents have. sure is false if a later commit may have removed it.
func lastLoss(checks []versionCheck) (last repo.CommitNumber, sure bool) {
	last, maybe := -1, repo.CommitNumber(-1)
	for i := 0; i < len(checks); {
		made := checks[i]
		found, all, unread := false, true, made.unread
		for i++; i < len(checks) && checks[i].parent; i++ {
			found, all, unread = true, all && (checks[i].has || checks[i].unread), unread || checks[i].unread
		}
		switch {
		case !found || !all || made.has:
		case unread:
			maybe = max(maybe, made.commit)
		default:
			last = max(last, made.commit)
		}
	}
	return last, last >= maybe
}

// readVersions reads the versions of each check. A version without the file does not have the thing.
func (j *judge) readVersions(ctx context.Context, checks []versionCheck) error {
	places := make([]repo.CommitPath, len(checks))
	for i, l := range checks {
		places[i] = l.place
	}
	ids, err := j.past.contents.At(ctx, places)
	if err != nil {
		return err
	}
	whose := make(map[repo.ID][]int)
	var asked []repo.ID
	for i, id := range ids {
		if id.IsZero() {
			continue
		}
		if whose[id] == nil {
			asked = append(asked, id)
		}
		whose[id] = append(whose[id], i)
	}
	return j.past.eachContent(ctx, asked, func(i int, content []byte, err error) {
		v := fileVersion{content: content}
		for _, k := range whose[asked[i]] {
			v.at(checks[k].place.Path)
			checks[k].has, checks[k].unread = err == nil && checks[k].search.is(&v), err != nil
		}
	})
}

// A fileVersion is an old content of a file, and its definitions.
type fileVersion struct {
	path    repo.Path
	content []byte
	outline *outline.Outline // nil until first use, or if there is none
	asked   bool
}

// at sets the path of the file.
func (v *fileVersion) at(p repo.Path) {
	if v.path != p {
		v.path, v.outline, v.asked = p, nil, false
	}
}

// defines reports whether the content defines a symbol. If the grammar fails, a content with the name may define
// it. A text in an unknown language defines nothing.
func (v *fileVersion) defines(name symbolName) (has bool) {
	if name.isOption {
		eachOption(v.content, func(_ int, word []byte) { has = has || string(word) == name.member })
		return has
	}
	if name.isText && stemOf(v.path) == name.member {
		return true
	}
	if !outline.HasWord(string(v.content), name.member) || outline.LanguageOf(v.path, v.content) == outline.Unknown {
		return false
	}
	if name.isText {
		eachLiteral(v.path, v.content, func(word []byte) { has = has || string(word) == name.member })
	}
	v.read()
	return has || v.outline == nil || v.outline.Partial != "" ||
		slices.ContainsFunc(v.outline.Symbols, func(s outline.Symbol) bool { return name.definedBy(v.path, &s) })
}

// checkRenames reads the commits that removed symbols. It finds the symbol that replaced each of them, and whether
// another type has the member since. Then the symbol may only have moved to a type that its owner embeds.
func (j *judge) checkRenames(ctx context.Context, gone []goneSymbol, searches []*removalSearch) error {
	var commits []repo.ID
	for i, g := range gone {
		m := &j.list[g.mention]
		if m.Since != nil && searches[i].last >= 0 && !slices.Contains(commits, m.Since.ID) {
			commits = append(commits, m.Since.ID)
		}
	}
	changed, err := j.past.Changed(ctx, commits)
	if err != nil {
		return err
	}
	var checks []versionCheck
	var whose []int
	texts := make([][2][]byte, len(gone))
	for i, g := range gone {
		m := &j.list[g.mention]
		if m.Since == nil || searches[i].last < 0 {
			continue
		}
		around := []repo.ID{m.Since.ID}
		for _, p := range j.history.parents.Of(searches[i].last) {
			around = append(around, j.history.Commit(p).ID)
		}
		for k, commit := range around[:min(2, len(around))] { // after it, and before
			checks = append(checks, versionCheck{
				place:  repo.CommitPath{Commit: commit, Path: searches[i].file},
				search: &removalSearch{is: func(v *fileVersion) bool { texts[i][k] = bytes.Clone(v.content); return false }},
			})
			whose = append(whose, -1)
		}
		if g.name.owner == "" {
			continue
		}
		for _, p := range changed[slices.Index(commits, m.Since.ID)] {
			if !mention.IsDocument(p) && outline.MayHaveOutline(p) && !isTest(p) {
				isMember := func(s outline.Symbol) bool {
					return s.FullName() != s.Name && mention.SymbolWord(s.Name) == g.name.member
				}
				checks = append(checks, versionCheck{
					place: repo.CommitPath{Commit: m.Since.ID, Path: p},
					search: &removalSearch{is: func(v *fileVersion) bool {
						o := v.read()
						return o != nil && slices.ContainsFunc(o.Symbols, isMember)
					}},
				})
				whose = append(whose, g.mention)
			}
		}
	}
	if err := j.readVersions(ctx, checks); err != nil {
		return err
	}
	for i, g := range gone {
		m := &j.list[g.mention]
		m.Renamed = renamedTo(texts[i][1], texts[i][0], mention.SymbolWord(m.Name))
		switch {
		case m.Renamed != "":
			m.Why += "; renamed to " + m.Renamed
		case g.isText && j.isForeign(m, g.name):
			m.Verdict, m.ExistedThen, m.Why = Ambiguous, false, "it may be a name of another program"
		}
	}
	for k, l := range checks {
		if l.has {
			m := &j.list[whose[k]]
			m.Verdict, m.ExistedThen, m.Since, m.Renamed = Ambiguous, false, nil, ""
			m.Why = "another type in " + l.place.Path.String() + " has it since"
		}
	}
	return nil
}

// read returns the outline of the content, nil for none.
func (v *fileVersion) read() *outline.Outline {
	if !v.asked {
		v.asked = true
		if o, err := outline.Parse(v.path, v.content); err == nil {
			v.outline = o
		}
	}
	return v.outline
}

// renamedTo returns the name that a commit put in the place of another in a file: most lines with the old name that it
// removed are the same but for it, and if that is only one, the file did not have the new name before. "" for none.
func renamedTo(before, after []byte, name string) string {
	kept := make(map[string]bool)
	for line := range strings.Lines(string(before)) {
		kept[line] = true
	}
	var added []string
	stays := make(map[string]bool)
	for line := range strings.Lines(string(after)) {
		stays[line] = true
		if !kept[line] {
			added = append(added, line)
		}
	}
	had := 0 // lines with the old name that the commit removed
	votes := make(map[string]int)
	for line := range strings.Lines(string(before)) {
		at := outline.WordAt(line, name)
		if at < 0 || stays[line] {
			continue
		}
		had++
		found := make(map[string]bool)
		for _, other := range added {
			to, ok := strings.CutPrefix(other, line[:at])
			if ok {
				to, ok = strings.CutSuffix(to, line[at+len(name):])
			}
			if ok && isNewName(to, name) {
				found[to] = true
			}
		}
		for to := range found {
			if len(found) == 1 { // a line with several successors names none
				votes[to]++
			}
		}
	}
	for to, n := range votes {
		isNew := had > 1 || !outline.HasWord(string(before), to)
		if 2*n > had && isNew {
			return to
		}
	}
	return ""
}

// isNewName reports whether a text can be a new name of the same kind as an old one.
func isNewName(text, old string) bool {
	for i := range len(text) {
		isDash := text[i] == '-' && strings.Contains(old, "-")
		if !wordBytes()[text[i]] && !isDash {
			return false
		}
	}
	return text != "" && text != old
}
