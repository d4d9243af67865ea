package docs

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// An origin is the commit that wrote a mention: the oldest version of the document that has it, in the unbroken
// run of versions back from HEAD.
type origin struct {
	commit repo.ID
	num    repo.CommitNumber // of the commit; -1 for HEAD, if no committed version has the mention
	doc    repo.Path         // the path of the document in that commit
	// vague is the reason why the origin may be older, "" if it is not. Then only things that exist in this version
	// are known to have existed when the mention was written.
	vague string
}

// Limits on reading old versions of documents. An origin beyond them is vague.
const (
	maxVersions     = 2_000     // of one document
	maxVersionBytes = 256 << 20 // of all
	maxSearched     = 8 << 30   // bytes, counted for each text that is searched for
	maxDocMoves     = 8         // of one document
)

// Reasons for the unknown verdict, besides a gap in the history.
const (
	// WhyAbsent is the reason in a partial clone.
	WhyAbsent  = "git lacks contents of older commits"
	whyTooMuch = "too much to read"
	whyUnread  = "some contents of that time cannot be read"
)

// unreadReason returns why a content that could not be read makes a verdict unknown.
func unreadReason(err error) string {
	if errors.Is(err, ErrAbsent) {
		return WhyAbsent
	}
	return whyUnread
}

// A docTrail follows a document back through its versions.
type docTrail struct {
	path    repo.Path
	touches []repo.Touch      // the remaining ones, ascending
	last    repo.CommitNumber // the commit that was read last
	read    int               // the number of versions
	moves   int
	begun   bool   // the document was created in the commit that was read last
	absent  bool   // the document is not at its last known path
	vague   string // why the search stopped early; "" if it did not
	open    []int  // the mentions that all versions have had so far
}

// end returns why older versions may have the open mentions.
func (t *docTrail) end(h *history) string {
	switch {
	case t.vague != "":
		return t.vague
	case t.begun || t.read == 0:
		return ""
	case t.read == maxVersions || t.moves == maxDocMoves || len(t.touches) > 0:
		return whyTooMuch
	case len(h.parents.Of(t.last)) == 0:
		return h.Gap() // the history may be cut off here
	}
	return ""
}

// origins returns the origins of mentions, by their index in the list.
func (j *judge) origins(ctx context.Context, which []int) (map[int]origin, error) {
	found := make(map[int]origin, len(which))
	byDoc := make(map[repo.Path]*docTrail)
	var all []*docTrail
	for _, i := range which {
		doc := j.list[i].File
		found[i] = origin{commit: j.past.head, num: -1, doc: doc}
		if IsOutside(doc) {
			found[i] = j.history.originAt(j.written[doc])
			continue
		}
		t := byDoc[doc]
		if t == nil {
			t = &docTrail{path: doc, touches: j.history.Touching(doc)}
			byDoc[doc] = t
			all = append(all, t)
		}
		t.open = append(t.open, i)
	}
	budget := versionBudget{maxVersionBytes, maxSearched}
	trails := all
	for step := 4; len(trails) > 0 && budget.left(); step = min(step*4, 256) {
		steps, err := j.olderVersions(ctx, trails, step)
		if err != nil {
			return nil, err
		}
		if err := j.compare(ctx, steps, found, &budget); err != nil {
			return nil, err
		}
		if trails, err = j.followDocuments(ctx, trails); err != nil {
			return nil, err
		}
	}
	for _, t := range all {
		for _, i := range t.open {
			c := found[i]
			c.vague = t.end(j.history)
			found[i] = c
		}
	}
	return found, nil
}

// originAt returns the newest commit that is not younger than a memory, as the origin of its mentions. It has no history of
// its own.
func (h *history) originAt(written time.Time) origin {
	for n := len(h.reached) - 1; n >= 0; n-- {
		if !h.reached[n] {
			continue
		}
		c := h.Commit(repo.CommitNumber(n))
		date, err := time.Parse(time.RFC3339, c.Date)
		if err == nil && !date.After(written) {
			return origin{commit: c.ID, num: repo.CommitNumber(n)}
		}
	}
	return origin{vague: "it is older than the history"}
}

// A versionBudget is the remaining number of bytes to read from versions, and to search in them.
type versionBudget struct{ bytes, searched int64 }

func (b *versionBudget) left() bool { return b.bytes > 0 && b.searched > 0 }

// A version is an old version of a document.
type version struct {
	trail  *docTrail
	commit repo.CommitNumber
	id     repo.ID
}

// olderVersions returns the next older versions of each document.
func (j *judge) olderVersions(ctx context.Context, trails []*docTrail, step int) ([]version, error) {
	var list []version
	var places []repo.CommitPath
	for _, t := range trails {
		for range step {
			if len(t.touches) == 0 || t.read == maxVersions {
				t.touches = nil
				break
			}
			touch := t.touches[len(t.touches)-1]
			t.touches = t.touches[:len(t.touches)-1]
			t.read++
			if touch.Kind == repo.Deleted {
				t.touches, t.begun = nil, true // before that, the path was another document
				break
			}
			t.last = touch.Commit
			list = append(list, version{trail: t, commit: touch.Commit})
			places = append(places, repo.CommitPath{Commit: j.history.Commit(touch.Commit).ID, Path: t.path})
		}
	}
	ids, err := j.past.contents.At(ctx, places)
	if err != nil {
		return nil, err
	}
	for i := range ids {
		list[i].id = ids[i]
	}
	return slices.DeleteFunc(list, func(v version) bool {
		if v.id.IsZero() { // the merge does not have it
			v.trail.touches, v.trail.begun, v.trail.absent = nil, true, true
		}
		return v.trail.absent
	}), nil
}

// compare moves origins back to older versions that have the mention, and closes those that a version lacks.
func (j *judge) compare(ctx context.Context, versions []version, found map[int]origin, budget *versionBudget) error {
	ids := make([]repo.ID, len(versions))
	for i, v := range versions {
		ids[i] = v.id
	}
	return j.past.eachContent(ctx, ids, func(i int, content []byte, err error) {
		j.compareOne(&versions[i], content, err, found, budget)
	})
}

func (j *judge) compareOne(v *version, content []byte, err error, found map[int]origin, budget *versionBudget) {
	switch {
	case v.trail.vague != "" || len(v.trail.open) == 0:
		return
	case err != nil:
		v.trail.vague = unreadReason(err)
		return
	case !budget.left():
		v.trail.vague = whyTooMuch
		return
	}
	budget.bytes -= int64(len(content))
	said := make(map[string]bool) // by the text that was searched for
	still := v.trail.open[:0]
	for i, m := range v.trail.open {
		if !budget.left() {
			v.trail.vague = whyTooMuch
			still = append(still, v.trail.open[i:]...)
			break
		}
		text := j.list[m].searchText()
		has, known := said[text]
		if !known {
			has = containsName(content, text)
			said[text] = has
			budget.searched -= int64(len(content))
		}
		if has {
			found[m] = origin{commit: j.history.Commit(v.commit).ID, num: v.commit, doc: v.trail.path}
			still = append(still, m)
		}
	}
	v.trail.open = still
}

// searchText returns the text that identifies a mention in other versions.
func (m *CheckedMention) searchText() string {
	if m.At == (mention.Span{}) {
		return m.Text
	}
	return m.Name
}

// containsName reports whether a content has a text that is not part of a longer name.
func containsName(content []byte, searched string) bool {
	text := []byte(searched)
	for at := 0; ; {
		i := bytes.Index(content[at:], text)
		if i < 0 || len(text) == 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRune(content[:i])
		after, _ := utf8.DecodeRune(content[i+len(text):])
		if !partOfName(before) && !partOfName(after) {
			return true
		}
		at = i + 1
	}
}

func partOfName(c rune) bool {
	return c == '_' || c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c))
}

// followDocuments returns the trails that continue, across renames of the documents.
func (j *judge) followDocuments(ctx context.Context, trails []*docTrail) ([]*docTrail, error) {
	var further, ended []*docTrail
	var commits []repo.ID
	at := make(map[repo.ID]int)
	for _, t := range trails {
		switch {
		case len(t.open) == 0 || t.begun || t.vague != "":
		case len(t.touches) > 0:
			further = append(further, t)
		case t.moves < maxDocMoves && t.read > 0 && t.read < maxVersions:
			ended = append(ended, t)
			id := j.history.Commit(t.last).ID
			if _, again := at[id]; !again {
				at[id] = len(commits)
				commits = append(commits, id)
			}
		}
	}
	left, err := j.past.removals(ctx, commits)
	if err != nil {
		return nil, err
	}
	for _, t := range ended {
		for _, d := range left[at[j.history.Commit(t.last).ID]] {
			if d.Unsearched && t.path != d.Path {
				t.vague = WhyAbsent // the missing content may be the same document
			}
			if d.MovedTo != t.path {
				continue
			}
			t.vague = ""
			t.path, t.touches = d.Path, before(j.history.Touching(d.Path), t.last)
			if t.moves++; len(t.touches) > 0 {
				further = append(further, t)
			}
			break
		}
	}
	return further, nil
}

// before returns the touches of commits with a lower number.
func before(touches []repo.Touch, n repo.CommitNumber) []repo.Touch {
	for len(touches) > 0 && touches[len(touches)-1].Commit >= n {
		touches = touches[:len(touches)-1]
	}
	return touches
}
