package share_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/store"
	"ken/internal/store/storetest"
)

func file(r fresh.Record) store.Record          { return store.Record{File: &r} }
func directory(r *store.DirRecord) store.Record { return store.Record{Directory: r} }

// examples are records with every field, and with as few as possible.
func examples() []store.Record {
	full := storetest.Record("über \"all\"\n\t\x01\u2028 \\ <&>", "x", 1)
	full.Assumed, full.Confirmer, full.Path = true, "bob", "dir/\xff\x00"
	odd := storetest.Record("\xff", "x", 1)
	odd.Author, odd.Recipe, odd.Confirmer = "\xfe", "\xfd", "\xfc"
	sha256 := storetest.Record("t", "x", 1)
	sha256.Basis = fresh.Basis{Content: repo.Content{ID: storetest.ID256("x")}}
	md5 := storetest.Record("t", "x", 1)
	md5.Basis.Content.ID = repo.ID{}
	md5.At = time.Date(2026, 5, 6, 7, 8, 9, 123456789, time.FixedZone("", 3600))
	dir := storetest.Directory("a/b", "x", 1)
	dir.Partial, dir.Confirmer = true, "bob"
	dir.Flags = []store.DirFlag{{Path: "a/\xff", Severity: "info", Finding: "f"}, {Path: "a", Severity: "\xff", Finding: "\xfe", Content: storetest.ID("a")}}
	dir.Basis.Files = append(dir.Basis.Files, store.BasisFile{Name: []byte("\xff"), Shape: store.OutlineShape{Language: "c++", Partial: true, Digest: fresh.Digest{1}}})
	dir.Basis.Children = append(dir.Basis.Children, store.BasisChild{Name: []byte("\xff")})
	return []store.Record{
		file(full), file(odd), file(sha256), file(md5), file(fresh.Record{}),
		directory(dir), directory(storetest.Outlined("", "x", 2)), directory(&store.DirRecord{}),
	}
}

// Decode returns the record that was encoded.
func TestEncoding(t *testing.T) {
	seen := make(map[share.Name]bool)
	for _, r := range examples() {
		b := share.Encode(r)
		got, err := share.Decode(b)
		if err != nil {
			t.Errorf("Decode(%s) returned the error %v", b, err)
			continue
		}
		if !bytes.Equal(share.Encode(got), b) {
			t.Errorf("%s\nreads as\n%s", b, share.Encode(got))
		}
		want := r
		if want.File != nil {
			f := *want.File
			f.At = f.At.UTC().Truncate(time.Microsecond)
			want.File = &f
			if got.File == nil || got.File.ID() != f.ID() {
				t.Errorf("%s has another id", b)
			}
		} else if got.Directory == nil || got.Directory.ID() != want.Directory.ID() {
			t.Errorf("%s has another id", b)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads as %+v", b, got)
		}
		if name := share.NameOf(b); seen[name] {
			t.Errorf("%s is there twice", b)
		} else if seen[name] = true; !reflect.DeepEqual(mustName(t, name.String()), name) {
			t.Errorf("%s reads as another name", name)
		}
	}
}

func mustName(t *testing.T, s string) share.Name {
	t.Helper()
	n, err := share.ParseName(s)
	if err != nil {
		t.Error(err)
	}
	return n
}

// The encoding must never change: it determines the names of records on all machines.
func TestSpelling(t *testing.T) {
	r := file(storetest.Record("it \"is\"\n", "x", 1))
	const want = `{"ken":1,"about":"file","path":"a.go","content":"11f6ad8ec52a2984abaafd7c3b516503785c2072","md5":"9dd4e461268c8034f5c8564e155c67a6","text":"it \"is\"\n","author":"ann","recipe":"hand","at":"2026-01-02T03:04:06.000000Z"}` + "\n"
	if got := string(share.Encode(r)); got != want {
		t.Errorf("Encode returned\n%s\nwant\n%s", got, want)
	}
}

// Decode rejects every other spelling of a record.
func TestDecodeRefuses(t *testing.T) {
	good := string(share.Encode(examples()[2]))
	for name, bad := range map[string]string{
		"nothing":          "",
		"no document":      "junk",
		"a list":           "[]",
		"no record":        "{}",
		"half of one":      good[:len(good)/2],
		"two":              good + good,
		"a blank more":     good + " ",
		"no line end":      strings.TrimSuffix(good, "\n"),
		"a member more":    strings.Replace(good, `"ken":1,`, `"ken":1,"x":1,`, 1),
		"other case":       strings.Replace(good, `"text"`, `"Text"`, 1),
		"an escape":        strings.Replace(good, `"text":"t"`, `"text":"\u0074"`, 1),
		"another order":    strings.Replace(good, `"ken":1,"about":"file"`, `"about":"file","ken":1`, 1),
		"upper-case id":    strings.Replace(good, storetest.ID256("x").String(), strings.ToUpper(storetest.ID256("x").String()), 1),
		"half an id":       strings.Replace(good, storetest.ID256("x").String(), storetest.ID256("x").String()[:30], 1),
		"no time":          strings.Replace(good, `"at":"2026`, `"at":"a`, 1),
		"needless base64":  strings.Replace(good, `"text":"t"`, `"text_b64":"dA=="`, 1),
		"about the moon":   strings.Replace(good, `"file"`, `"moon"`, 1),
		"version 0":        strings.Replace(good, `"ken":1`, `"ken":0`, 1),
		"too large":        strings.Replace(good, `"text":"t"`, `"text":"`+strings.Repeat("t", share.MaxSize)+`"`, 1),
		"a null":           strings.Replace(good, `"text":"t"`, `"text":null`, 1),
		"a number for one": strings.Replace(good, `"text":"t"`, `"text":1`, 1),
	} {
		if bad == good {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, err := share.Decode([]byte(bad)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := share.Decode([]byte(strings.Replace(good, `"ken":1`, `"ken":2,"more":[]`, 1))); !errors.Is(err, share.ErrNewer) {
		t.Errorf("a later version: %v", err)
	}
	for _, bad := range []string{"", "abc", strings.Repeat("A", 64), strings.Repeat("g", 64), strings.Repeat("a", 65)} {
		if _, err := share.ParseName(bad); err == nil {
			t.Errorf("%q is a name", bad)
		}
	}
}

// Check rejects records that ken would not have stored.
func TestCheck(t *testing.T) {
	if err := file(storetest.Record("a\n\ttext", "x", 1)).Check(time.Now()); err != nil {
		t.Error(err)
	}
	if err := directory(storetest.Directory("d", "x", 1)).Check(time.Now()); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*fresh.Record){
		"no basis":      func(r *fresh.Record) { r.Basis = fresh.Basis{} },
		"no text":       func(r *fresh.Record) { r.Text = " " },
		"escapes":       func(r *fresh.Record) { r.Text = "\x1b[31m" },
		"turned around": func(r *fresh.Record) { r.Text = "a\u202eb" },
		"isolated":      func(r *fresh.Record) { r.Text = "a\u2067b" },
		"unseen words":  func(r *fresh.Record) { r.Text = "a\U000e0041\U000e0042" },
		"author":        func(r *fresh.Record) { r.Author = "\x1b[31m" },
		"recipe":        func(r *fresh.Record) { r.Recipe = strings.Repeat("r", 1<<20) },
		"confirmer":     func(r *fresh.Record) { r.Confirmer = "\xff" },
		"a long text":   func(r *fresh.Record) { r.Text = strings.Repeat("r", 1<<20) },
	} {
		r := storetest.Record("text", "x", 1)
		change(&r)
		if file(r).Check(time.Now()) == nil {
			t.Errorf("%s is taken over", name)
		}
	}
	for name, flag := range map[string]store.DirFlag{
		"a finding": {Severity: "high", Finding: "\x1b[31m"}, "its severity": {Severity: "hi\u202egh"}, "a long finding": {Finding: strings.Repeat("r", 1<<20)},
	} {
		d := storetest.Directory("d", "x", 1)
		d.Flags = []store.DirFlag{flag}
		if directory(d).Check(time.Now()) == nil {
			t.Errorf("%s is taken over", name)
		}
	}
}

// Encode returns the bytes of every record that Decode accepts.
func FuzzDecode(f *testing.F) {
	for _, r := range examples() {
		f.Add(share.Encode(r))
	}
	f.Add([]byte(`{"ken":2}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := share.Decode(in)
		if err != nil {
			return
		}
		if (r.File == nil) == (r.Directory == nil) {
			t.Fatalf("%q is about both or none", in)
		}
		if out := share.Encode(r); !bytes.Equal(out, in) {
			t.Fatalf("%q encodes as %q", in, out)
		}
		_ = r.Check(time.Now())
	})
}
