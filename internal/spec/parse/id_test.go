package parse_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// ids returns the ids of nodes in directories of .spec, "" for .spec itself.
func ids(dirs ...string) map[string]string {
	var files []repo.LoadedFile
	for _, d := range dirs {
		files = append(files, repo.LoadedFile{Path: specPath(d)})
	}
	got := make(map[string]string)
	for _, n := range parse.Load(files) {
		got[strings.TrimPrefix(strings.TrimPrefix(string(n.Dir()), ".spec"), "/")] = n.ID
	}
	return got
}

func specPath(dir string) repo.Path {
	if dir == "" {
		return ".spec/spec.md"
	}
	return repo.Path(".spec/" + dir + "/spec.md")
}

func TestIDs(t *testing.T) {
	for _, tt := range []struct {
		name string
		want map[string]string // of directories
	}{
		{"leaves", map[string]string{"": "root", "a": "a", "a/b": "b", "x/y/c": "c", ".plugins": ".plugins"}},
		{"a collision", map[string]string{"a/x": "a_x", "b/x": "b_x", "b/y": "y"}},
		{"one path ends", map[string]string{"x": "x", "a/x": "a_x", "a/x/x": "x_x"}},
		{"deeper", map[string]string{"p/m/x": "p_m_x", "q/m/x": "q_m_x", "q/n/x": "n_x"}},
		{"a node called root", map[string]string{"": "root", "root": "root-2", "a/root": "a_root"}},
		{"no node but one called root", map[string]string{"root": "root"}},
		{"the separator in a name", map[string]string{"a_b": "a_b", "a/b": "a_b-2", "c/b": "c_b"}},
		{"the separator in a name with path to spare", map[string]string{"a_b": "a_b", "z/a/b": "z_a_b", "c/b": "c_b"}},
		{"the separator in a name below", map[string]string{"z/a_b": "a_b", "a/b": "a_b-2", "c/b": "c_b"}},
		{"the number in a name", map[string]string{"": "root", "root": "root-3", "root-2": "root-2"}},
		{"white space", map[string]string{"a b\tc": "a-b-c", "d\u00a0e\u2028f": "d-e-f"}},
		{"made equal", map[string]string{"a b": "a-b", "a%b": "a-b-2", "a-b": "a-b-3"}},
		{"made equal below", map[string]string{"x/a b": "x_a-b", "y/a#b": "y_a-b"}},
		{"what means something", map[string]string{`%?#\`: "----", "a\x00b\x7f": "a-b-", "a\u202eb": "a-b", "c\U000e0041d": "c-d", ".": "-", "x/..": "--"}},
		{"other letters", map[string]string{"übung": "übung", "中文节点": "中文节点", "a+b&c=d:@": "a+b&c=d:@", "👩\u200d🚀": "👩\u200d🚀"}},
		{"one form", map[string]string{"u\u0308bung": "übung"}},
		{"two forms", map[string]string{"u\u0308bung": "übung", "übung": "übung-2"}},
		{"bytes", map[string]string{"caf\xe9": "caf-", "\xff\xfe": "-", "a/\x80": "a_-"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var dirs []string
			for d := range tt.want { // in any order
				dirs = append(dirs, d)
			}
			for d, id := range ids(dirs...) {
				if id != tt.want[d] {
					t.Errorf("%q is %q, want %q", d, id, tt.want[d])
				}
			}
		})
	}
}

// tree draws the directories of nodes. It uses few names, so that they collide; some contain the separator of ids
// or invalid characters.
func tree(t *rapid.T) []string {
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "b", "a_b", "a b", "a-b", "a-b-2", "root", "root-2", "_", "-", "é", "e\u0301", "\xff", "a%b", "..", "b_a_b"}),
		rapid.StringMatching(`[ab_ -]{1,4}`),
		rapid.StringN(1, 4, -1).Filter(func(s string) bool { return !strings.Contains(s, "/") }),
	)
	dir := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(name, 0, 5).Draw(t, "elements"), "/")
	})
	return rapid.SliceOfNDistinct(dir, 0, 40, rapid.ID).Draw(t, "dirs")
}

// safe is a second implementation of Token.
func safe(name string) string {
	var b strings.Builder
	for _, r := range norm.NFC.String(strings.ToValidUTF8(name, "-")) {
		tag := r >= 0xE0000 && r <= 0xE007F
		if tag || unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("/\\%?#\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", r) {
			r = '-'
		}
		b.WriteRune(r)
	}
	if s := b.String(); strings.Trim(s, ".") != "" || len(s) > 2 {
		return s
	}
	return strings.Repeat("-", max(b.Len(), 1))
}

// Every node has a unique id that needs no escaping in a URL. It is the end of the node's path, or the whole path
// with a number.
func TestIDsAreUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dirs := tree(t)
		got := ids(dirs...)
		if len(got) != len(dirs) {
			t.Fatalf("%d nodes in %d directories", len(got), len(dirs))
		}
		owner := make(map[string]string)
		for dir, id := range got {
			if other, ok := owner[id]; ok {
				t.Fatalf("%q and %q are both %q", dir, other, id)
			}
			owner[id] = dir
			if id == "" || id == "." || id == ".." || !utf8.ValidString(id) || !norm.NFC.IsNormalString(id) ||
				strings.ContainsFunc(id, unicode.IsSpace) || strings.ContainsFunc(id, unicode.IsControl) {
				t.Fatalf("the id of %q is %q; want normalized text without spaces", dir, id)
			}
			u, err := url.Parse("http://host/spec/" + id + "/history")
			if err != nil || u.Path != "/spec/"+id+"/history" || u.RawQuery != "" || u.Fragment != "" {
				t.Fatalf("%q is %q, in a URL %v, %v", dir, id, u, err)
			}
			if dir == "" {
				if id != "root" {
					t.Fatalf("the root is %q", id)
				}
				continue
			}
			elements := strings.Split(dir, "/")
			for i, e := range elements {
				elements[i] = safe(e)
			}
			end := false
			for i := range elements {
				end = end || strings.Join(elements[i:], "_") == id
			}
			var number int
			if whole, tail, ok := cutLast(id, "-"); ok && !end && whole == strings.Join(elements, "_") {
				_, err := fmt.Sscanf(tail, "%d", &number)
				end = err == nil && number >= 2
			}
			if !end {
				t.Fatalf("the id of %q is %q; want another end", dir, id)
			}
		}
	})
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// The order of the files does not change any id.
func TestIDsAreStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dirs := tree(t)
		want := ids(dirs...)
		got := ids(rapid.Permutation(dirs).Draw(t, "permuted")...)
		for dir, id := range want {
			if got[dir] != id {
				t.Fatalf("%q is %q, and %q in another order", dir, id, got[dir])
			}
		}
	})
}

// If all names are valid tokens, an id is the shortest end of the path that no other node ends in, or the whole
// path.
func TestIDsAreShort(t *testing.T) {
	dir := rapid.StringMatching(`[abc](/[abc]){0,5}`)
	rapid.Check(t, func(t *rapid.T) {
		dirs := rapid.SliceOfNDistinct(dir, 0, 40, rapid.ID).Draw(t, "dirs")
		for d, id := range ids(dirs...) {
			elements := strings.Split(d, "/")
			want := ""
			for k := len(elements) - 1; k >= 0; k-- {
				want = strings.Join(elements[k:], "/")
				if !slices.ContainsFunc(dirs, func(o string) bool { return o != d && (o == want || strings.HasSuffix(o, "/"+want)) }) {
					break
				}
			}
			if want = strings.ReplaceAll(want, "/", "_"); id != want {
				t.Fatalf("%q is %q, want %q", d, id, want)
			}
		}
	})
}

// BenchmarkIDs assigns ids in trees in which most names collide. The time per node does not depend on the size.
func BenchmarkIDs(b *testing.B) {
	for _, count := range []int{4_000, 40_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			seen := make(map[string]bool)
			var files []repo.LoadedFile
			for len(files) < count {
				var d []string
				for range 3 + random.IntN(3) {
					d = append(d, fmt.Sprintf("part_%d", random.IntN(count/100)))
				}
				if dir := strings.Join(d, "/"); !seen[dir] {
					seen[dir] = true
					files = append(files, repo.LoadedFile{Path: specPath(dir)})
				}
			}
			for b.Loop() {
				parse.Load(files)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/node")
		})
	}
}
