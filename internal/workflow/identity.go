package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The keys that identify a workflow. The id and created_at change with the type of the
// workflow; the anchors never change.
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

// A Pair is a key and its new value.
type Pair struct {
	Key   string
	Value any // nil, bool, int64, [json.Number] or string
}

// id returns the value of a key as text, also if it is a number.
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

// active reports whether the workflow is active.
func (d *Document) active() bool {
	v, _ := d.Get(keyActive)
	on, _ := v.(bool)
	return on
}

// A stamper creates ids and times.
type stamper struct {
	now   time.Time
	newID func() string
	// rotate requires a new id.
	rotate bool
}

// merge sets pairs and completes the identity of the document. A document that becomes
// active gets an id, and another type of an active one gets the next id.
func (d *Document) merge(pairs []Pair, by stamper) error {
	d.heal() // the history must have the current id before it changes
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
		d.heal() // it may have become active just now
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

// immutable refuses a pair that changes an anchor or the history.
func (d *Document) immutable(p Pair) error {
	switch p.Key {
	case keyFirst, keyOriginal:
		old := d.id(p.Key)
		broken := p.Key == keyFirst && parseStamp(old).IsZero()
		if old != "" && old != p.Value && !broken {
			return fmt.Errorf("%s cannot change: it is %q", p.Key, old)
		}
	case keyHistory:
		return fmt.Errorf("%s cannot be set: ken maintains it", p.Key)
	}
	return nil
}

// heal completes the identity: an active document has its anchors, and the history
// begins with the original id, contains the current one, and has each id once, in order.
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
	healed := completeHistory(d.id(keyOriginal), id, old)
	if len(healed) > 0 && (!d.listed() || !slices.Equal(healed, old)) {
		d.Set(keyHistory, healed)
	}
}

// completeHistory returns old with original first, and with current.
func completeHistory(original, current string, old []string) []string {
	var out []string
	for _, id := range slices.Concat([]string{original}, old, []string{current}) {
		if id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// history returns all ids of the session. The list may be JSON inside a string.
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

// listed reports whether the history is a YAML list of texts.
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

// A session has the ids and start times of a document.
type session struct {
	ids   []string  // all ids, oldest first
	start time.Time // zero if unknown
	began time.Time // of the current workflow; zero if unknown
}

// session reads the session of the document. A start in the future counts as unknown:
// every new file would be older.
func (d *Document) session(now time.Time) session {
	past := func(key string) time.Time {
		t := parseStamp(d.Text(key))
		if t.After(now) {
			return time.Time{}
		}
		return t
	}
	s := session{ids: completeHistory(d.id(keyOriginal), d.id(keyID), d.history())}
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

// granule is how far the clock of a file system may lag behind time.Now. A file that is
// written right after the start of a workflow must not look older.
const granule = 10 * time.Millisecond

// stamp formats a time for documents.
func stamp(t time.Time) string { return t.UTC().Truncate(granule).Format(time.RFC3339Nano) }

// parseStamp parses a time; zero if that fails.
func parseStamp(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
