package docs

import (
	"bytes"
	"context"
	"unicode"
	"unicode/utf8"

	"ken/internal/repo"
)

// A claim is where a mention was written: the oldest version of the document, in the run
// of versions back from HEAD, that has it.
type claim struct {
	commit repo.ID
	num    Num       // of the commit; -1 for HEAD, if no version has the mention yet
	doc    repo.Path // where the document was then
}

// What is read of the versions of documents. Where that is not enough, the oldest version
// that was read counts: what was there then was there when the document named it.
const (
	maxVersions     = 2_000     // of one document
	maxVersionBytes = 256 << 20 // of all
	maxDocMoves     = 8         // of one document
)

// A trail is a document that is followed back.
type trail struct {
	path    repo.Path
	touches []Touch // that are still to come, ascending
	last    Num     // the commit that was looked at last
	read    int     // versions
	moves   int
	open    []int // mentions that all versions had so far
}

// claims finds where mentions were written, by their places in the list.
func (j *judge) claims(ctx context.Context, which []int) (map[int]claim, error) {
	found := make(map[int]claim, len(which))
	byDoc := make(map[repo.Path]*trail)
	var trails []*trail
	for _, i := range which {
		doc := j.list[i].File
		found[i] = claim{j.past.Head(), -1, doc}
		t := byDoc[doc]
		if t == nil {
			t = &trail{path: doc, touches: j.history.Touching(doc)}
			byDoc[doc] = t
			trails = append(trails, t)
		}
		t.open = append(t.open, i)
	}
	budget := int64(maxVersionBytes)
	for step := 4; len(trails) > 0 && budget > 0; step = min(step*4, 256) {
		steps, err := j.stepsBack(ctx, trails, step)
		if err != nil {
			return nil, err
		}
		if err := j.compare(ctx, steps, found, &budget); err != nil {
			return nil, err
		}
		if trails, err = j.goOn(ctx, trails); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// A version is one of a document.
type version struct {
	trail  *trail
	commit Num
	id     repo.ID
}

// stepsBack takes the next versions of each document.
func (j *judge) stepsBack(ctx context.Context, trails []*trail, step int) ([]version, error) {
	var list []version
	var places []Place
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
				t.touches, t.moves = nil, maxDocMoves // what was before was another document
				break
			}
			t.last = touch.Commit
			list = append(list, version{trail: t, commit: touch.Commit})
			places = append(places, Place{j.history.Commit(touch.Commit).ID, t.path})
		}
	}
	ids, err := j.past.At(ctx, places)
	for i := range ids {
		list[i].id = ids[i]
	}
	return list, err
}

// compare moves claims back to the versions that have them, and closes what one has not.
func (j *judge) compare(ctx context.Context, versions []version, found map[int]claim, budget *int64) error {
	ids := make([]repo.ID, len(versions))
	for i, v := range versions {
		ids[i] = v.id
	}
	return j.past.Blobs(ctx, ids, func(i int, content []byte) {
		v := &versions[i]
		*budget -= int64(len(content))
		still := v.trail.open[:0]
		for _, m := range v.trail.open {
			if content != nil && says(content, &j.list[m].Mention) {
				found[m] = claim{j.history.Commit(v.commit).ID, v.commit, v.trail.path}
				still = append(still, m)
			}
		}
		v.trail.open = still
	})
}

// says reports whether a text has a mention, not as part of a longer name.
func says(content []byte, m *Mention) bool {
	text := []byte(m.Name)
	if m.At == (Span{}) {
		text = []byte(m.Text)
	}
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

// goOn returns the trails that lead further, across moves of the documents.
func (j *judge) goOn(ctx context.Context, trails []*trail) ([]*trail, error) {
	var further, ended []*trail
	var commits []repo.ID
	at := make(map[repo.ID]int)
	for _, t := range trails {
		switch {
		case len(t.open) == 0:
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
	left, err := j.past.Departures(ctx, commits)
	if err != nil {
		return nil, err
	}
	for _, t := range ended {
		for _, d := range left[at[j.history.Commit(t.last).ID]] {
			if d.To != t.path {
				continue
			}
			t.path, t.touches = d.From, before(j.history.Touching(d.From), t.last)
			if t.moves++; len(t.touches) > 0 {
				further = append(further, t)
			}
			break
		}
	}
	return further, nil
}

// before returns the touches of commits below a number.
func before(touches []Touch, n Num) []Touch {
	for len(touches) > 0 && touches[len(touches)-1].Commit >= n {
		touches = touches[:len(touches)-1]
	}
	return touches
}
