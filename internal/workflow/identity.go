package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The keys by which a document says which workflow it is of. The id and
// created_at change when the workflow's type does; the anchors never do.
const (
	keyActive    = "active"
	keyType      = "workflow_type"
	keyID        = "workflow_id"
	keyCreated   = "created_at"
	keyFirst     = "first_created_at"     // anchor
	keyOriginal  = "original_workflow_id" // anchor
	keyHistory   = "workflow_id_history"
	keyValidated = "validation_status"
	keyWarnings  = "validation_warnings"
)

// A Pair is one key and the value it is to have.
type Pair struct {
	Key   string
	Value any // nil, bool, int64, [json.Number] or string
}

// active reports whether the document's workflow is at work.
func (d *Document) active() bool {
	v, _ := d.Get(keyActive)
	on, _ := v.(bool)
	return on
}

// A stamper gives out identities.
type stamper struct {
	now   time.Time
	newID func() string
	// rotate asks for a new id even if nothing in the document does.
	rotate bool
}

// merge applies pairs, and stamps and heals the document's identity: the first
// pair that makes it active gives it one, and a new type while active gives it
// the next.
func (d *Document) merge(pairs []Pair, by stamper) error {
	wasActive, wasType := d.active(), d.Text(keyType)
	gaveID := false
	for _, p := range pairs {
		if err := d.immutable(p); err != nil {
			return err
		}
		gaveID = gaveID || p.Key == keyID
		d.Set(p.Key, p.Value)
	}
	is := d.Text(keyType)
	switch {
	case !d.active():
	case d.Text(keyID) == "":
		d.rotate(by)
	case by.rotate || wasActive && wasType != "" && is != "" && is != wasType && !gaveID:
		d.heal() // the id that is about to go must be in the history
		d.rotate(by)
	}
	d.heal()
	return nil
}

// rotate gives the document a new id.
func (d *Document) rotate(by stamper) {
	d.Set(keyID, by.newID())
	d.Set(keyCreated, Stamp(by.now))
}

// immutable refuses a pair that would move an anchor or rewrite the history.
func (d *Document) immutable(p Pair) error {
	switch p.Key {
	case keyFirst, keyOriginal:
		if old := d.Text(p.Key); old != "" && old != p.Value {
			return fmt.Errorf("%s is an anchor and stays %q", p.Key, old)
		}
	case keyHistory:
		return fmt.Errorf("%s is kept by ken", p.Key)
	}
	return nil
}

// heal makes the identity whole: an active document has its anchors, and the
// history begins with the original id, holds the current one, each once and in
// the order they came.
func (d *Document) heal() {
	id := d.Text(keyID)
	old := d.history()
	if d.active() && id != "" {
		if d.Text(keyOriginal) == "" {
			first := id
			if len(old) > 0 {
				first = old[0]
			}
			d.Set(keyOriginal, first)
		}
		if d.Text(keyFirst) == "" && d.Text(keyCreated) != "" {
			d.Set(keyFirst, d.Text(keyCreated))
		}
	}
	healed := healHistory(d.Text(keyOriginal), id, old)
	_, isList := d.listed()
	if len(healed) > 0 && (!isList || !slices.Equal(healed, old)) {
		d.Set(keyHistory, healed)
	}
}

// healHistory returns old with original first and current among it.
func healHistory(original, current string, old []string) []string {
	var out []string
	for _, id := range slices.Concat([]string{original}, old, []string{current}) {
		if id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// history returns the ids the session has had. A list written as JSON inside a
// string is the list that it means.
func (d *Document) history() []string {
	if ids, ok := d.listed(); ok {
		return ids
	}
	var ids []string
	text := d.Text(keyHistory)
	if json.Unmarshal([]byte(text), &ids) != nil && text != "" {
		ids = []string{text} // a lone id
	}
	return ids
}

// listed returns the history if it is a list of plain words.
func (d *Document) listed() (ids []string, ok bool) {
	v, _ := d.Get(keyHistory)
	list, ok := v.([]any)
	for _, e := range list {
		switch e := e.(type) {
		case string:
			ids = append(ids, e)
		case json.Number:
			ids, ok = append(ids, e.String()), false
		default:
			ok = false
		}
	}
	return ids, ok
}

// A session is what the sweeps need to know of a document: who is at work, and
// since when.
type session struct {
	ids   []string  // every id it has had
	start time.Time // zero when nobody knows
	began time.Time // of the current workflow in it; zero when nobody knows
}

func (d *Document) session() session {
	s := session{ids: healHistory(d.Text(keyOriginal), d.Text(keyID), d.history())}
	s.began = parseStamp(d.Text(keyCreated))
	s.start = parseStamp(d.Text(keyFirst))
	if s.start.IsZero() {
		s.start = s.began
	}
	return s
}

// granule is how far a file system's clock may lag behind the clock that
// stamps: what is written right after a workflow's start is not older than it.
const granule = 10 * time.Millisecond

// Stamp writes a time as documents hold it.
func Stamp(t time.Time) string { return t.UTC().Truncate(granule).Format(time.RFC3339Nano) }

// parseStamp reads a time, zero when it cannot be read.
func parseStamp(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
