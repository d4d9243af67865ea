package docs

import (
	"context"
	"slices"

	"ken/internal/outline"
	"ken/internal/repo"
)

// A removalSearch looks for the commit that removed something from a file.
type removalSearch struct {
	file repo.Path
	is   func(v *fileVersion) bool // it has it
	last repo.CommitNumber         // the last such commit; -1 while none is known

	inHead bool // HEAD's file has it: no such commit is the last
	blind  bool // a content that has a say could not be read

	touches []repo.Touch // still to be looked at
}

// maxHunted is how many of the latest changes of a file are looked at.
const maxHunted = 500

// findRemovals finds for each search the last commit that removed it from the file. If there
// is none, the search stays as it was.
func (j *judge) findRemovals(ctx context.Context, hunts []*removalSearch) error {
	now := make([]versionCheck, len(hunts))
	for i, h := range hunts {
		now[i] = versionCheck{place: repo.CommitPath{Commit: j.past.head, Path: h.file}, hunt: h}
	}
	if err := j.readVersions(ctx, now); err != nil {
		return err
	}
	var open []*removalSearch
	for i, h := range hunts {
		h.inHead, h.blind = now[i].has, h.blind || now[i].unread
		if h.inHead || h.blind {
			continue // whatever took it away, it came back, or may have
		}
		h.touches = j.history.Touching(h.file)
		h.touches = h.touches[max(0, len(h.touches)-maxHunted):]
		open = append(open, h)
	}
	for step := 4; len(open) > 0; step *= 4 {
		var looks []versionCheck
		var first []int // check of each search
		for _, h := range open {
			first = append(first, len(looks))
			looks = append(looks, j.versionChecks(h, step)...)
		}
		if err := j.readVersions(ctx, looks); err != nil {
			return err
		}
		var further []*removalSearch
		for k, h := range open {
			end := len(looks)
			if k+1 < len(first) {
				end = first[k+1]
			}
			n, sure := lastLoss(looks[first[k]:end])
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

// A versionCheck looks at a file after a commit, or before it.
type versionCheck struct {
	place  repo.CommitPath
	hunt   *removalSearch
	commit repo.CommitNumber
	found  bool // by the commit, in a parent
	has    bool
	unread bool // nobody knows
}

// versionChecks takes the latest changes of a search's file.
func (j *judge) versionChecks(h *removalSearch, step int) []versionCheck {
	some := h.touches[max(0, len(h.touches)-step):]
	h.touches = h.touches[:len(h.touches)-len(some)]
	var list []versionCheck
	for _, t := range some {
		list = append(list, versionCheck{place: repo.CommitPath{Commit: j.history.Commit(t.Commit).ID, Path: h.file}, hunt: h, commit: t.Commit})
		for _, p := range j.history.parents.Of(t.Commit) {
			list = append(list, versionCheck{place: repo.CommitPath{Commit: j.history.Commit(p).ID, Path: h.file}, hunt: h, commit: t.Commit, found: true})
		}
	}
	return list
}

// lastLoss returns the last commit that found something and did not leave it, -1 for none.
// A merge took away only what all of its parents had. It is sure if no later one may have.
func lastLoss(looks []versionCheck) (last repo.CommitNumber, sure bool) {
	last, maybe := -1, repo.CommitNumber(-1)
	for i := 0; i < len(looks); {
		made := looks[i]
		found, all, unread := false, true, made.unread
		for i++; i < len(looks) && looks[i].found; i++ {
			found, all, unread = true, all && (looks[i].has || looks[i].unread), unread || looks[i].unread
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

// readVersions says of each check whether what was there has it. Where nothing was, it has not.
func (j *judge) readVersions(ctx context.Context, looks []versionCheck) error {
	places := make([]repo.CommitPath, len(looks))
	for i, l := range looks {
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
			v.at(looks[k].place.Path)
			looks[k].has, looks[k].unread = err == nil && looks[k].hunt.is(&v), err != nil
		}
	})
}

// A fileVersion is an old content of a file, and what it defined.
type fileVersion struct {
	path    repo.Path
	content []byte
	outline *outline.Outline // nil while nobody asked, or if there is none
	asked   bool
}

// at takes the content for that of a file.
func (v *fileVersion) at(p repo.Path) {
	if v.path != p {
		v.path, v.outline, v.asked = p, nil, false
	}
}

// defines reports whether such a content defined a word. Where no grammar can tell, one that
// has it may.
func (v *fileVersion) defines(word string) bool {
	if !HasWord(v.content, word) {
		return false
	}
	if !v.asked {
		v.asked = true
		if o, err := outline.Of(v.path, v.content); err == nil {
			v.outline = o
		}
	}
	return v.outline == nil || v.outline.Partial != "" ||
		slices.ContainsFunc(v.outline.Symbols, func(s outline.Symbol) bool { return wordOf(s.Name) == word })
}

// alsoIn returns the searches that go on: the commit that each has come to left what it seeks
// in another file, which is the next.
func (j *judge) alsoIn(ctx context.Context, hunts []*removalSearch) ([]*removalSearch, error) {
	const most = 500 // files; a commit of more moved everything
	var commits []repo.ID
	at := make(map[repo.CommitNumber]int)
	for _, h := range hunts {
		if _, again := at[h.last]; !again {
			at[h.last] = len(commits)
			commits = append(commits, j.history.Commit(h.last).ID)
		}
	}
	changed, err := j.past.Changed(ctx, commits)
	if err != nil {
		return nil, err
	}
	for i, paths := range changed {
		changed[i] = slices.DeleteFunc(paths, func(p repo.Path) bool { return IsDocument(p) || !outline.MayRead(p) })
	}
	var looks []versionCheck
	for _, h := range hunts {
		if paths := changed[at[h.last]]; len(paths) <= most {
			for _, p := range paths {
				looks = append(looks, versionCheck{place: repo.CommitPath{Commit: commits[at[h.last]], Path: p}, hunt: h})
			}
		}
	}
	if err := j.readVersions(ctx, looks); err != nil {
		return nil, err
	}
	var further []*removalSearch
	for _, l := range looks {
		l.hunt.blind = l.hunt.blind || l.unread
	}
	for _, l := range looks {
		if l.has && !slices.Contains(further, l.hunt) {
			l.hunt.file = l.place.Path
			further = append(further, l.hunt)
		}
	}
	return further, nil
}
