package workflow

import (
	"maps"
	"testing"
)

// In any file, a new entry of deferred work is one more entry, exactly as given, and the
// others stay.
func FuzzDeferred(f *testing.F) {
	f.Add([]byte("# Deferred\n\n## DEF-001 — a\n- status: open\n"), "title", "body")
	f.Add([]byte("## DEF-1\n---\n## DEF-002 — b\r\n- status: closed\r\n"), "## DEF-009 — x", "---\n## DEF-010 — y\n- status: closed")
	f.Add([]byte("\xff\n---"), "a\u2028b", "> - status: closed")
	f.Fuzz(func(t *testing.T, b []byte, title, body string) {
		before := parseDeferred(b)
		d := Deferral{ID: deferralID(before.last("") + 1), Title: oneLine(title), Body: body, Status: Open, CapturedAt: "now"}
		if d.Title == "" {
			return // which is refused before
		}
		old := before.list()
		before.add(d)
		after := parseDeferred(before.bytes())
		if len(after.items) != len(old)+1 {
			t.Fatalf("%q: %d entries became %d", b, len(old), len(after.items))
		}
		added := after.items[len(after.items)-1].Deferral
		if added.ID != d.ID || added.Title != d.Title || added.Status != Open {
			t.Fatalf("%q: added %+v, got %+v", b, d, added)
		}
		for i, was := range old {
			if is := after.items[i].Deferral; is.ID != was.ID || is.Status != was.Status || is.Title != was.Title {
				t.Fatalf("adding to %q changed %+v to %+v", b, was, is)
			}
		}
		closed := added
		closed.Status, closed.ClosedAt = Closed, "later"
		after.setStatus(len(after.items)-1, closed)
		again := parseDeferred(after.bytes())
		if last := again.items[len(again.items)-1].Deferral; len(again.items) != len(after.items) || last.Status != Closed || last.Body != added.Body {
			t.Fatalf("%q: closing it gave %+v", b, last)
		}
	})
}

// Any journal can be read, and the compacted one has the same last record of each file.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"file":"a","sha256":"1","workflow_id":"w"}` + "\n" + `{"file":"a","sha256":"2"` + "\n\x00\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		j := parseJournal(b)
		d := parseJournal(j.compact(func(string) bool { return true }).bytes())
		if len(b) < journalLimit/4 && !maps.Equal(j.last(), d.last()) {
			t.Fatalf("compacting the journal %q changed its last entries from %v to %v", b, j.last(), d.last())
		}
	})
}
