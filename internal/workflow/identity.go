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

// id returns a key's value as the id that it means: a number is as good as a text.
func (d *Document) id(key string) string {
	switch v, _ := d.Get(key); v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return ""
	}
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
	d.heal() // an id that is about to go must be in the history
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
	case d.id(keyID) == "":
		d.Set(keyID, by.newID())
		if parseStamp(d.Text(keyCreated)).IsZero() {
			d.Set(keyCreated, stamp(by.now))
		}
	case by.rotate || wasActive && wasType != "" && is != "" && is != wasType && !gaveID:
		d.heal() // it may have become active only now
		d.rotate(by)
	}
	d.heal()
	return nil
}

// rotate gives the document a new id.
func (d *Document) rotate(by stamper) {
	d.Set(keyID, by.newID())
	d.Set(keyCreated, stamp(by.now))
}

// immutable refuses a pair that would move an anchor or rewrite the history.
func (d *Document) immutable(p Pair) error {
	switch p.Key {
	case keyFirst, keyOriginal:
		old := d.id(p.Key)
		broken := p.Key == keyFirst && parseStamp(old).IsZero()
		if old != "" && old != p.Value && !broken {
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
	id := d.id(keyID)
	old := d.history()
	if d.active() && id != "" {
		if d.id(keyOriginal) == "" {
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
	healed := healHistory(d.id(keyOriginal), id, old)
	if len(healed) > 0 && (!d.listed() || !slices.Equal(healed, old)) {
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
	v, _ := d.Get(keyHistory)
	var ids []string
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if text, ok := e.(string); ok {
				ids = append(ids, text)
			} else if e != nil {
				ids = append(ids, string(appendJSON(nil, e)))
			}
		}
	case string:
		if json.Unmarshal([]byte(v), &ids) != nil {
			ids = []string{v} // a lone id
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// listed reports whether the history is written as the list of texts that it is.
func (d *Document) listed() bool {
	v, _ := d.Get(keyHistory)
	list, ok := v.([]any)
	for _, e := range list {
		if _, text := e.(string); !text {
			return false
		}
	}
	return ok
}

// A session is what the sweeps need to know of a document: who is at work, and
// since when.
type session struct {
	ids   []string  // every id it has had
	start time.Time // zero when nobody knows
	began time.Time // of the current workflow in it; zero when nobody knows
}

// session reads the document at a time. A start that lies ahead of it is none: it
// would make everything that was just written old.
func (d *Document) session(now time.Time) session {
	past := func(key string) time.Time {
		t := parseStamp(d.Text(key))
		if t.After(now) {
			return time.Time{}
		}
		return t
	}
	s := session{ids: healHistory(d.id(keyOriginal), d.id(keyID), d.history())}
	s.began, s.start = past(keyCreated), past(keyFirst)
	if s.start.IsZero() {
		s.start = s.began
	}
	return s
}

// identifies reports whether a key is part of a document's identity.
func identifies(key string) bool {
	switch key {
	case keyActive, keyType, keyID, keyCreated, keyFirst, keyOriginal, keyHistory:
		return true
	}
	return false
}

// granule is how far a file system's clock may lag behind the clock that
// stamps: what is written right after a workflow's start is not older than it.
const granule = 10 * time.Millisecond

// stamp writes a time as documents hold it.
func stamp(t time.Time) string { return t.UTC().Truncate(granule).Format(time.RFC3339Nano) }

// parseStamp reads a time, zero when it cannot be read.
func parseStamp(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
