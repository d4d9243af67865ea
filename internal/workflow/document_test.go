package workflow

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A value of a command line has a type only if it plainly looks like it, and reads back
// unchanged.
func TestValuesReadBack(t *testing.T) {
	typed := map[string]string{"true": "true", "false": "false", "null": "null", "0": "0", "42": "42", "-7": "-7"}
	texts := []string{
		"007", "1.5", "1e3", "yes", "no", "on", "~", "", "True", "NULL", "-0", "+1", "0x10", "1_000", ".inf",
		"2026-01-02", "2026-01-02T03:04:05Z", "99999999999999999999", "- a", "a: b", "# c", "a # b", "'", `"`, `\`, "{", "[x]", "*a", "&a",
		"!x", "|", ">", "%", "@", "`", "<<", "=", " lead", "trail ", "two\nlines", "tab\there", "ünï", "\u2028", "plain words", "a-b/c.d",
	}
	for _, s := range texts {
		typed[s] = string(quoted(s))
	}
	for given, want := range typed {
		d := NewDocument()
		d.Set("k", parseValue(given))
		back := reread(t, d)
		got, err := json.Marshal(must(back.Get("k")))
		if err != nil || !jsonEqual(got, []byte(want)) {
			t.Errorf("%q became %s (%v), want %s", given, got, err, want)
		}
	}
}

func must(v any, _ bool) any { return v }

func jsonEqual(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && string(mustJSON(x)) == string(mustJSON(y))
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func reread(t interface {
	Helper()
	Fatalf(string, ...any)
}, d *Document,
) *Document {
	t.Helper()
	text, err := d.YAML()
	if err != nil {
		t.Fatalf("YAML returned the error %v", err)
	}
	back, err := parseDocument(text)
	if err != nil {
		t.Fatalf("read back %q: %v", text, err)
	}
	return back
}

// Any keys and values survive being written and read, in order.
func TestDocumentReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := NewDocument()
		want := make(map[string]string)
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			key := rapid.StringN(1, 20, -1).Draw(t, "key")
			value := rapid.String().Draw(t, "value")
			if checkKey(key) != nil {
				continue
			}
			d.Set(key, value)
			want[key] = value
		}
		if len(want) == 0 {
			return
		}
		back := reread(t, d)
		if !slices.Equal(back.Keys(), d.Keys()) {
			t.Fatalf("keys %q became %q", d.Keys(), back.Keys())
		}
		for key, value := range want {
			if got := back.Text(key); got != value {
				t.Fatalf("the value of %q changed from %q to %q", key, value, got)
			}
		}
	})
}

func TestCommentsAndOrderSurvive(t *testing.T) {
	text := "# on top\n\nphase: plan # where we are\n# about the lanes\nlanes:\n  - id: a\n    status: open\ntask: x\n# at the end\n"
	d, err := parseDocument([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d.Set("phase", "test")
	d.Set("new", int64(1))
	got, err := d.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"# on top", "phase: test # where we are", "# about the lanes", "  - id: a\n    status: open", "# at the end", "new: 1"} {
		if !strings.Contains(string(got), part) {
			t.Errorf("the written document lacks %q:\n%s", part, got)
		}
	}
}

func TestCorruptDocuments(t *testing.T) {
	for text, line := range map[string]int{
		"":                                    0,
		"\n\n":                                0,
		"# nothing\n":                         0,
		"just words\n":                        1,
		"- a\n":                               1,
		"a: 1\na: 2\n":                        2,
		"a: 1\n<<<<<<< HEAD\nb: 1\n=======\n": 2,
		"a: [1\n":                             1,
		"a: &x 1\nb: *x\n":                    2,
		"a: 1\n---\nb: 2\n":                   2,
		"? [a]\n: b\n":                        1,
		"a:\n\t- b\n":                         2,
	} {
		_, err := parseDocument([]byte(text))
		var c *CorruptError
		if !errors.As(err, &c) || c.What == "" {
			t.Errorf("%q: %v, want it corrupt", text, err)
		} else if c.Line != line {
			t.Errorf("%q: line %d (%s), want %d", text, c.Line, c.What, line)
		}
	}
}

// After any updates the history begins with the original id, contains the current one,
// each id once, and only grows at its end; the anchors never change.
func TestHistoryIsCompleted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"", "a", "b", "c", "d"})
		d := NewDocument()
		for _, key := range []string{keyOriginal, keyID} {
			if s := word.Draw(t, key); s != "" {
				d.Set(key, s)
			}
		}
		switch rapid.IntRange(0, 3).Draw(t, "form") {
		case 1:
			d.Set(keyHistory, rapid.SliceOf(word).Draw(t, "list"))
		case 2:
			d.Set(keyHistory, string(mustJSON(rapid.SliceOf(word).Draw(t, "in a string"))))
		case 3:
			d.Set(keyHistory, "b")
		}
		original := d.Text(keyOriginal)
		n := 0
		by := stamper{now: time.Unix(1e9, 0), newID: func() string { n++; return "new" + string(rune('0'+n)) }}
		for range rapid.IntRange(1, 5).Draw(t, "updates") {
			before := d.history()
			pairs := rapid.SampledFrom([][]Pair{
				{{keyActive, true}}, {{keyActive, false}}, {{keyType, "dev"}}, {{keyType, "docs"}}, {{"x", "y"}}, {{keyID, "given"}},
			}).Draw(t, "pairs")
			if err := d.merge(pairs, by); err != nil {
				t.Fatal(err)
			}
			d = reread(t, d)
			h, isList := d.history(), d.listed()
			id := d.Text(keyID)
			if id == "" && d.Text(keyOriginal) == "" && len(h) == 0 {
				continue
			}
			if !isList && len(h) > 0 {
				t.Fatalf("the history is not a list: %v", must(d.Get(keyHistory)))
			}
			if o := d.Text(keyOriginal); o != "" && h[0] != o || original != "" && o != original {
				t.Fatalf("original %q (was %q), history %q", o, original, h)
			}
			if original == "" {
				original = d.Text(keyOriginal)
			}
			if id != "" && !slices.Contains(h, id) {
				t.Fatalf("%q is not in its history %q", id, h)
			}
			if s := slices.Clone(h); len(slices.Compact(slices.Sorted(slices.Values(s)))) != len(h) {
				t.Fatalf("an id is twice in %q", h)
			}
			// The order is kept: what was there, without repetitions, is still a run.
			var kept []string
			for _, b := range before {
				if b != "" && b != d.Text(keyOriginal) && !slices.Contains(kept, b) {
					kept = append(kept, b)
				}
			}
			at := 0
			for _, b := range h {
				if at < len(kept) && b == kept[at] {
					at++
				}
			}
			if at != len(kept) {
				t.Fatalf("history %q became %q", before, h)
			}
		}
	})
}

func TestIdentity(t *testing.T) {
	ids := []string{"w1", "w2", "w3"}
	now := time.Date(2026, 1, 2, 3, 4, 5, 678_912_345, time.UTC)
	by := stamper{now: now, newID: func() string { id := ids[0]; ids = ids[1:]; return id }}
	d := NewDocument()
	step := func(pairs ...Pair) {
		t.Helper()
		if err := d.merge(pairs, by); err != nil {
			t.Fatal(err)
		}
	}
	step(Pair{"task", "x"}, Pair{keyType, "dev"})
	if d.Text(keyID) != "" || len(d.history()) > 0 {
		t.Error("an inactive workflow got an id")
	}
	step(Pair{keyActive, true})
	if d.Text(keyID) != "w1" || d.Text(keyOriginal) != "w1" || d.Text(keyFirst) != "2026-01-02T03:04:05.67Z" || d.Text(keyCreated) != d.Text(keyFirst) {
		t.Errorf("first stamp: %s", mustJSON(d))
	}
	step(Pair{keyType, "dev"}, Pair{"phase", "test"})
	if d.Text(keyID) != "w1" {
		t.Error("the same type rotated the id")
	}
	by.now = now.Add(time.Hour)
	step(Pair{keyType, "docs"})
	if d.Text(keyID) != "w2" || d.Text(keyOriginal) != "w1" || d.Text(keyFirst) != "2026-01-02T03:04:05.67Z" || d.Text(keyCreated) == d.Text(keyFirst) {
		t.Errorf("after a new workflow type, the document is %s; want a new id, with the original id and first time unchanged", mustJSON(d))
	}
	step(Pair{keyActive, false})
	step(Pair{keyType, "debug"})
	if d.Text(keyID) != "w2" || !slices.Equal(d.history(), []string{"w1", "w2"}) {
		t.Errorf("an inactive workflow rotated: %s", mustJSON(d))
	}
	for _, p := range []Pair{{keyOriginal, "x"}, {keyFirst, "x"}, {keyHistory, "x"}, {keyOriginal, nil}} {
		if d.merge([]Pair{p}, by) == nil {
			t.Errorf("%s was changed; want an error", p.Key)
		}
	}
	step(Pair{keyOriginal, "w1"}) // as it is
}

// An id of any form stays in the history.
func TestHistoryKeepsEveryID(t *testing.T) {
	for text, want := range map[string][]string{
		"active: true\nworkflow_id: 7\n":                                            {"7"},
		"active: true\nworkflow_id: a\nworkflow_id_history: [a, b, 17, c]\n":        {"a", "b", "17", "c"},
		"active: true\nworkflow_id: a\nworkflow_id_history: [b, {x: 1}, null, a]\n": {"b", `{"x":1}`, "a"},
		"active: true\nworkflow_id: 1.5\noriginal_workflow_id: 2\n":                 {"2", "1.5"},
		"active: false\nworkflow_id: a\nworkflow_id_history: '[\"b\"]'\n":           {"b", "a"},
	} {
		d, err := parseDocument([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.merge([]Pair{{"phase", "plan"}}, stamper{newID: func() string { return "new" }}); err != nil {
			t.Fatal(err)
		}
		if got := d.history(); !slices.Equal(got, want) || !d.listed() {
			t.Errorf("%q: history %q, want %q", text, got, want)
		}
	}
	d := NewDocument()
	d.Set(keyActive, true)
	d.Set(keyID, "a")
	if err := d.merge([]Pair{{keyID, "b"}}, stamper{}); err != nil || !slices.Equal(d.history(), []string{"a", "b"}) || d.Text(keyOriginal) != "a" {
		t.Errorf("merge returned %v, the document is %s; want the history a, b and the original id a", err, mustJSON(d))
	}
}

// A document without anchors gets them from its id and start.
func TestOldDocumentsGetAnchors(t *testing.T) {
	d, err := parseDocument([]byte("active: true\nworkflow_id: b\ncreated_at: \"2026-01-02T03:04:05.123Z\"\nworkflow_id_history: \"[\\\"a\\\",\\\"b\\\"]\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.merge([]Pair{{"x", "y"}}, stamper{}); err != nil {
		t.Fatal(err)
	}
	if d.Text(keyOriginal) != "a" || d.Text(keyFirst) != "2026-01-02T03:04:05.123Z" {
		t.Errorf("the document is %s; want its original id and first time unchanged", mustJSON(d))
	}
	if ids := d.history(); !d.listed() || !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("the history is %v; want a, b", must(d.Get(keyHistory)))
	}
}

// Values that another program did not quote properly are read as text.
func TestUnquotedValues(t *testing.T) {
	d, err := parseDocument([]byte("active: true\ntask: \"C:\\Users: \\\"x\\\" and\\nmore\"\nnote: *bold* move\nat: @home\nlanes:\n  - id: \"a\"\n    scope: \"b\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Text("task"), "C:\\Users: \"x\" and\nmore"; got != want {
		t.Errorf("task is %q, want %q", got, want)
	}
	if d.Text("note") != "*bold* move" || d.Text("at") != "@home" {
		t.Errorf("the document is %s; want the values of note and at as they were written", mustJSON(d))
	}
	reread(t, d)
	for _, value := range []string{"[WIP] fix", "{a} b", "- x", "'tis", "> x", "| x", "!x y", "&a b", "%x", "`x`", "? x", "a: b", "] x"} {
		d, err := parseDocument([]byte("active: true\ntask: " + value + "\nphase: plan\n"))
		if err != nil || d.Text("task") != value {
			t.Errorf("the task %s was read as %v, %v", value, d, err)
		}
	}
	for _, value := range []string{"[1", "{a", "\"x", "[a, b"} {
		if _, err := parseDocument([]byte("active: true\ntask: " + value + "\n")); err == nil {
			t.Errorf("task %s has an unclosed quote or bracket; want an error", value)
		}
	}
}

// A document that was read can be written, and loses nothing.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{"a: 1\n", "<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> b\n", "a: [\nb: 2\n", "x: &a [*a]\n", "\xff: 1\n", "k: |\n  text\n", "\ufeffa: 1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := parseDocument(b); err == nil {
			if _, err := d.YAML(); err != nil {
				t.Fatalf("YAML of the document %q returned the error %v", b, err)
			}
		}
	})
}
