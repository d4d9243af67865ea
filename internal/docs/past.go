package docs

import (
	"context"
	"path"
	"slices"
	"strings"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// maxMoves limits how many moves of a path are followed.
const maxMoves = 12

// judgePast judges the mentions of things that do not exist.
func (j *judge) judgePast(ctx context.Context) error {
	ever := j.pathsByName()
	open := make(map[mention.Kind][]int)
	var asked []int // those whose origin is needed
	for i := range j.list {
		m := &j.list[i]
		switch {
		case m.hasVerdict():
			continue
		case m.Glob:
			m.Verdict, m.Why = Ambiguous, "nothing matches it"
			continue
		case m.Kind == mention.Path && ever[path.Base(path.Clean(m.Name))] == nil:
			continue
		case m.Hidden == "" || m.Hidden == HiddenHedged:
			asked = append(asked, i)
		case m.Kind != mention.Path:
			// Only for a path is it known without its origin whether it ever existed.
			m.Verdict, m.Why = Ambiguous, "not searched further"
			continue
		}
		open[m.Kind] = append(open[m.Kind], i)
	}
	claims, err := j.origins(ctx, asked)
	if err != nil {
		return err
	}
	for i, c := range claims {
		if c.num >= 0 && c.vague == "" {
			written := j.history.Commit(c.num)
			j.list[i].Written = &written
		}
	}
	gone, err := j.existedThen(ctx, open[mention.Path], claims, ever)
	if err != nil {
		return err
	}
	if err := j.findMoves(ctx, gone); err != nil {
		return err
	}
	if err := j.judgePastAnchors(ctx, open[mention.Anchor], claims); err != nil {
		return err
	}
	if err := j.judgePastCommands(ctx, open[mention.Command], claims); err != nil {
		return err
	}
	return j.judgePastSymbols(ctx, append(open[mention.Symbol], open[mention.Option]...), claims)
}

// pathsByName returns all paths of files and directories that ever existed, by their last element.
func (j *judge) pathsByName() map[string][]repo.Path {
	ever := make(map[string][]repo.Path)
	dirs := make(map[string]bool)
	for _, p := range j.history.Below("") {
		base := path.Base(string(p))
		ever[base] = append(ever[base], p)
		for dir := parent(string(p)); dir != "" && !dirs[dir]; dir = parent(dir) {
			dirs[dir] = true
			base := path.Base(dir)
			ever[base] = append(ever[base], repo.Path(dir))
		}
	}
	return ever
}

// maxEndings limits how many paths may end in a name for it to mean one of them.
const maxEndings = 12

// endingIn returns the paths that end in the name of a mention, except files of tests or examples; nil if there
// are too many. A name that may be an example, or a single directory, matches nothing.
func endingIn(m *mention.Mention, ever map[string][]repo.Path) []repo.Path {
	name := strings.TrimPrefix(path.Clean("/"+m.Name), "/")
	if m.Form == mention.Link || m.Form == mention.Import || strings.HasPrefix(m.Name, "/") || strings.HasPrefix(m.Name, "..") {
		return nil // the document names the directory
	}
	bare := !strings.Contains(name, "/")
	if m.Hedged || bare && m.Dir {
		return nil
	}
	var list []repo.Path
	for _, p := range ever[path.Base(name)] {
		if !strings.HasSuffix(string(p), "/"+name) || ofTests(p) {
			continue
		}
		if list = append(list, p); len(list) > maxEndings {
			return nil
		}
	}
	return list
}

// ofTests reports whether a path is below a directory of tests or examples. Files of the reader often have the
// same names.
func ofTests(p repo.Path) bool {
	return isBelow(p, func(dir string) bool { return testDirs[dir] || strings.HasPrefix(dir, "template-") })
}

// isBelow reports whether a directory of a path is one of some.
func isBelow(p repo.Path, is func(dir string) bool) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(string(p.Dir())), "/"), is)
}

var testDirs = setOf(strings.Fields(`test tests testing __tests__ testdata fixtures fixture example examples sample samples demo demos playground playgrounds
	e2e template templates skeleton boilerplate scaffold starter starters`))

// existedThen finds the mentions of things that existed when the document named them, and returns those of things
// that ever existed.
func (j *judge) existedThen(ctx context.Context, open []int, claims map[int]origin, ever map[string][]repo.Path) ([]int, error) {
	meant := func(i int) []repo.Path {
		c, ok := claims[i]
		if !ok {
			return nil
		}
		m := &j.list[i].Mention
		var list []repo.Path
		for _, p := range possiblePaths(c.doc, m, true) {
			list = append(list, repo.Path(p))
		}
		return append(list, endingIn(m, ever)...)
	}
	var places []repo.CommitPath
	for _, i := range open {
		for _, p := range meant(i) {
			places = append(places, repo.CommitPath{Commit: claims[i].commit, Path: p})
		}
	}
	ids, err := j.past.contents.At(ctx, places)
	if err != nil {
		return nil, err
	}
	var gone []int
	k := 0
	for _, i := range open {
		m := &j.list[i]
		c := claims[i]
		for _, p := range meant(i) {
			if !ids[k].IsZero() && m.Was == "" {
				m.Was, m.ExistedThen = p, true
			}
			k++
		}
		if m.Was == "" {
			for _, p := range possiblePaths(m.File, &m.Mention, true) {
				if len(j.history.Touching(repo.Path(p))) > 0 || len(j.history.Below(repo.Path(p))) > 0 {
					m.Was, m.ExistedThen = repo.Path(p), IsOutside(m.File) // a memory has no versions that say when
					break
				}
			}
		}
		switch {
		case m.Was == "":
		case j.index.has(string(m.Was)):
			m.Verdict = Holds // the document has moved
		case !m.ExistedThen && c.vague != "":
			m.Verdict, m.Why = Unknown, c.vague
		default:
			m.Verdict = Gone
			gone = append(gone, i)
		}
	}
	return gone, nil
}

// A moveSearch follows one path through its moves.
type moveSearch struct {
	at     repo.Path
	name   string // as written in the mention
	dir    bool
	since  repo.CommitNumber // the commit that made the name wrong, -1 while it is unknown
	to     repo.Path
	maybe  repo.Path         // a possible new path, if git's rename detection is right
	remove repo.CommitNumber // the commit of the current step
	inHead bool              // no commit has removed it
	unseen bool              // contents that might identify it are missing
	id     repo.ID           // the content that the last step removed
}

// A movedName is a path and its name in a mention.
type movedName struct {
	was  repo.Path
	name string
}

// findMoves finds the commits that removed paths, and the new paths.
func (j *judge) findMoves(ctx context.Context, gone []int) error {
	searches := make(map[movedName]*moveSearch)
	var open []*moveSearch
	for _, i := range gone {
		target := movedName{j.list[i].Was, j.list[i].Name}
		if searches[target] == nil {
			c := &moveSearch{at: target.was, name: target.name, since: -1}
			searches[target] = c
			open = append(open, c)
		}
	}
	byID := j.contents()
	for range maxMoves {
		var err error
		if open, err = j.followMoves(ctx, open, byID); err != nil || len(open) == 0 {
			if err != nil {
				return err
			}
			break
		}
	}
	for _, i := range gone {
		m := &j.list[i]
		c := searches[movedName{m.Was, m.Name}]
		m.Since, m.Uncommitted, m.Content = j.commit(c.since), c.since < 0 && c.inHead, c.id
		switch {
		case c.to != "":
			m.Verdict, m.To = Moved, c.to
		case c.maybe != "":
			m.Why = "renamed to " + c.maybe.String() + "?"
		case c.unseen:
			m.Why = "or moved: " + WhyAbsent
		}
	}
	return j.excludeBuildOutput(ctx, gone)
}

// excludeBuildOutput clears ExistedThen for ignored directories, and for ignored files if the commit that removed them
// edited a .gitignore: since then a build creates them.
func (j *judge) excludeBuildOutput(ctx context.Context, gone []int) error {
	var commits []repo.ID
	for _, i := range gone {
		if m := &j.list[i]; m.ignored && m.Since != nil && !slices.Contains(commits, m.Since.ID) {
			commits = append(commits, m.Since.ID)
		}
	}
	changed, err := j.past.Changed(ctx, commits)
	if err != nil {
		return err
	}
	for _, i := range gone {
		m := &j.list[i]
		if !m.ignored {
			continue
		}
		directory := len(j.history.Touching(m.Was)) == 0
		top, _, _ := strings.Cut(string(m.Was), "/")
		built := directory || buildDirs[top]
		if m.Since != nil {
			paths := changed[slices.Index(commits, m.Since.ID)]
			built = built || slices.ContainsFunc(paths, func(p repo.Path) bool { return p.Base() == ".gitignore" })
		}
		if built {
			m.ExistedThen = false
		}
	}
	return nil
}

var buildDirs = setOf(strings.Fields("dist build out target coverage bin _build _site public generated tmp"))

// contents returns the tracked files by content id.
func (j *judge) contents() map[repo.ID][]repo.Path {
	byID := make(map[repo.ID][]repo.Path, len(j.index.files))
	for _, f := range j.index.files {
		byID[f.ID] = append(byID[f.ID], f.Path)
	}
	return byID
}

// followMoves advances each search by one step, and returns those that continue.
func (j *judge) followMoves(ctx context.Context, open []*moveSearch, byID map[repo.ID][]repo.Path) ([]*moveSearch, error) {
	var commits []repo.ID
	at := make(map[repo.ID]int)
	if err := j.findInHead(ctx, open); err != nil {
		return nil, err
	}
	if err := j.findStagedMoves(ctx, open); err != nil {
		return nil, err
	}
	open = slices.DeleteFunc(open, func(c *moveSearch) bool { return c.inHead || !j.removed(c) })
	for _, c := range open {
		id := j.history.Commit(c.remove).ID
		if _, again := at[id]; !again {
			at[id] = len(commits)
			commits = append(commits, id)
		}
	}
	left, err := j.past.removals(ctx, commits)
	if err != nil {
		return nil, err
	}
	var further []*moveSearch
	for _, c := range open {
		if c.since < 0 {
			c.since = c.remove
		}
		departures := left[at[j.history.Commit(c.remove).ID]]
		next, sure := movedTo(c, departures, byID)
		c.unseen = next == "" && slices.ContainsFunc(departures, func(d repo.Removal) bool { return d.Unsearched && d.Path.Under(c.at) })
		switch {
		case next == "" || next == c.at:
		case j.index.has(string(next)) && !sure:
			c.maybe = next
		case j.index.has(string(next)):
			c.to = next
		case !sure:
		default:
			if strings.HasSuffix("/"+string(next), "/"+strings.TrimPrefix(c.name, "/")) {
				c.since = -1 // the name is right there too
			}
			c.at = next
			further = append(further, c)
		}
	}
	return further, nil
}

// findInHead finds the paths that HEAD has. Earlier removals of them do not count.
func (j *judge) findInHead(ctx context.Context, searches []*moveSearch) error {
	places := make([]repo.CommitPath, len(searches))
	for i, c := range searches {
		places[i] = repo.CommitPath{Commit: j.past.head, Path: c.at}
	}
	ids, err := j.past.contents.At(ctx, places)
	if err != nil {
		return err
	}
	for i, c := range searches {
		c.inHead = !ids[i].IsZero()
	}
	return nil
}

// findStagedMoves finds the new paths of unchanged files that the index has moved since HEAD. Documents are
// usually corrected in the same commit.
func (j *judge) findStagedMoves(ctx context.Context, open []*moveSearch) error {
	open = slices.DeleteFunc(slices.Clone(open), func(c *moveSearch) bool { return !c.inHead })
	if len(open) == 0 {
		return nil
	}
	before, err := j.past.EntriesAt(ctx, j.past.head)
	if err != nil {
		return err
	}
	had := make(map[repo.Path]bool, len(before))
	for _, f := range before {
		had[f.Path] = true
	}
	come := j.contents()
	for id, paths := range come {
		come[id] = slices.DeleteFunc(paths, func(p repo.Path) bool { return had[p] })
	}
	var left []repo.Removal
	for _, f := range before {
		if _, here := j.index.files[string(f.Path)]; !here {
			d := repo.Removal{Path: f.Path, ID: f.ID, Similarity: 100}
			d.MovedTo = sameContent(d, come)
			left = append(left, d)
		}
	}
	for _, c := range open {
		c.dir = !had[c.at]
		if to, sure := movedTo(c, left, nil); sure && to != "" && j.index.has(string(to)) {
			c.to = to
		}
	}
	return nil
}

// removed finds the last commit that removed a path that HEAD does not have; for a directory, the commit that
// removed its last file.
func (j *judge) removed(c *moveSearch) bool {
	c.remove = -1
	touches := j.history.Touching(c.at)
	if c.dir = len(touches) == 0; c.dir {
		for _, p := range j.history.Below(c.at) {
			c.remove = max(c.remove, lastDeletion(j.history.Touching(p)))
		}
	} else {
		c.remove = lastDeletion(touches)
	}
	return c.remove >= 0
}

func lastDeletion(touches []repo.Touch) repo.CommitNumber {
	for _, t := range slices.Backward(touches) {
		if t.Kind == repo.Deleted {
			return t.Commit
		}
	}
	return -1
}

// surelyAlike is the similarity, in percent, from which a renamed file counts as the same.
const surelyAlike = 70

// movedTo returns the new path of a file or directory that a commit removed, "" for none. It is sure if the name
// or most of the content is the same.
func movedTo(c *moveSearch, left []repo.Removal, byID map[repo.ID][]repo.Path) (to repo.Path, sure bool) {
	if c.dir {
		return movedDir(c.at, left), true
	}
	for _, d := range left {
		if d.Path == c.at {
			c.id = d.ID
		}
		switch {
		case d.Path != c.at:
		case d.MovedTo != "":
			return d.MovedTo, d.Similarity >= surelyAlike || d.Path.Base() == d.MovedTo.Base()
		default:
			return sameContent(d, byID), true
		}
	}
	return "", false
}

// sameContent finds a file by its old content: the only file with the content, or the only one with the same name.
func sameContent(d repo.Removal, byID map[repo.ID][]repo.Path) repo.Path {
	found := byID[d.ID]
	named := slices.DeleteFunc(slices.Clone(found), func(p repo.Path) bool { return p.Base() != d.Path.Base() })
	if len(named) == 1 {
		return named[0]
	}
	// A short text with another name is probably a coincidence.
	if len(found) == 1 && path.Ext(string(found[0])) == path.Ext(string(d.Path)) {
		return found[0]
	}
	return ""
}

// movedDir returns the directory that most files of a directory moved to, "" if there is none.
func movedDir(dir repo.Path, left []repo.Removal) repo.Path {
	votes := make(map[string]int)
	all := 0
	for _, d := range left {
		if !d.Path.Under(dir) {
			continue
		}
		all++
		rest := strings.TrimPrefix(string(d.Path), string(dir))
		if home, ok := strings.CutSuffix(string(d.MovedTo), rest); ok && home != "" {
			votes[home]++
		}
	}
	for home, n := range votes {
		if 2*n > all {
			return repo.Path(home)
		}
	}
	return ""
}
