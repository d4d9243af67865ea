package repo_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"ken/internal/repo"
)

func TestParseID(t *testing.T) {
	for s, ok := range map[string]bool{
		strings.Repeat("a", 40): true, strings.Repeat("A", 64): true, strings.Repeat("0", 40): true,
		strings.Repeat("a", 39): false, strings.Repeat("a", 41): false, strings.Repeat("g", 40): false, "": false,
	} {
		id, err := repo.ParseID(s)
		if (err == nil) != ok {
			t.Errorf("ParseID(%q) returned the error %v; ok should be %t", s, err, ok)
		}
		if err == nil && !id.IsZero() && id.String() != strings.ToLower(s) {
			t.Errorf("%q reads as %s", s, id)
		}
	}
	if id, _ := repo.ParseID(strings.Repeat("0", 40)); !id.IsZero() {
		t.Error("the id of zeros is not the zero ID")
	}
	if repo.IDFromBytes([]byte("short")) != (repo.ID{}) {
		t.Error("five bytes became an id, want none")
	}
}

func TestUnknownIsNull(t *testing.T) {
	b, err := json.Marshal(struct {
		ID  repo.ID
		MD5 repo.MD5
	}{})
	if err != nil || string(b) != `{"ID":null,"MD5":null}` {
		t.Errorf("the JSON of unknown ids is %s, %v; want null", b, err)
	}
}

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		path, dir repo.Path
		want      bool
	}{
		{"a/b", "a", true},
		{"a/b", "a/b", true},
		{"a/b", "", true},
		{"ab", "a", false},
		{"a", "a/b", false},
		{"a.go", "a", false},
	} {
		if got := c.path.Under(c.dir); got != c.want {
			t.Errorf("%q under %q: %v", c.path, c.dir, got)
		}
	}
}

func TestMatchesIndexCutsToWhatGitKeeps(t *testing.T) {
	disk := repo.Stat{Size: 5 << 32, Mtime: 7, Ctime: 8, Inode: 9<<32 | 1}
	if !disk.MatchesIndex(repo.Stat{Size: 0, Mtime: 7, Ctime: 8, Inode: 1}) {
		t.Error("sizes and inodes are 32 bits in the index")
	}
	for name, idx := range map[string]repo.Stat{
		"no stat":     {},
		"other mtime": {Mtime: 6, Ctime: 8, Inode: 1},
		"other ctime": {Mtime: 7, Ctime: 7, Inode: 1},
		"other inode": {Mtime: 7, Ctime: 8, Inode: 2},
		"other size":  {Size: 1, Mtime: 7, Ctime: 8, Inode: 1},
	} {
		if disk.MatchesIndex(idx) {
			t.Errorf("%s matches", name)
		}
	}
}

// A printed path is one line that does not look like another path. Its printed form and its JSON form can be converted
// back to its bytes.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"a.go", "new\nline", "qu\"ote", "\"quoted\"", "lat\xefn", "bidi\u202e", "\x1b[31m", " blank ", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := repo.Path(s)
		line := p.String()
		if !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("%q prints as %q", s, line)
		}
		back := repo.Path(line)
		if u, ok := repo.Unquote(line); ok {
			back = u
		}
		if back != p {
			t.Errorf("%q prints as %q, which leads back to %q", s, line, back)
		}
		j := p.JSON()
		if raw, err := j.Raw(); err != nil || raw != p || !utf8.ValidString(j.Path) {
			t.Errorf("%q in JSON is %+v, which leads back to %q (%v)", s, j, raw, err)
		}
		if j.B64 == "" && j.Path != s {
			t.Errorf("an ordinary name was escaped: %q", j.Path)
		}
	})
}

// TextStats has the same result for a blob in parts as for the whole blob.
func FuzzTextStats(f *testing.F) {
	f.Add([]byte("a\r\nb\r\n"), 3)
	f.Add([]byte("a\rb\x00\x1a"), 1)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		if cut < 0 || cut > len(text) {
			return
		}
		var whole, parts repo.TextStats
		whole.Add(text)
		parts.Add(text[:cut])
		parts.Add(text[cut:])
		if whole != parts {
			t.Fatalf("%+v whole, %+v cut at %d", whole, parts, cut)
		}
	})
}
