package workspace

import (
	"context"
	"reflect"
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/testrepo"
)

// A file is parsed once for its outline and its references, whichever is asked for first,
// and again only when one of them is missing.
func TestFactsAreReadOnce(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	contents := map[repo.Path]string{
		"a.go":     "package a\n\nimport \"fmt\"\n\nfunc f() { fmt.Println(g()) }\n",
		"plain":    "no language\n",
		"b/b.py":   "from a import x\nx()\n",
		"empty.go": "",
	}
	for p, text := range contents {
		r.Write(string(p), text)
	}
	r.Commit("begin")
	var list []*repo.File
	for p, text := range contents {
		list = append(list, &repo.File{Path: p, ID: repo.SHA1.Blob([]byte(text))})
	}
	var read []repo.Path // the files that were read
	reading := func(which []int, see func(k int, content []byte)) error {
		for k, i := range which {
			read = append(read, list[i].Path)
			see(k, []byte(contents[list[i].Path]))
		}
		return nil
	}
	check := func(outlines []*outline.Outline, refs []*outline.References) {
		t.Helper()
		for i, f := range list {
			o, r, _ := outline.ParseWithReferences(f.Path, []byte(contents[f.Path]))
			if !reflect.DeepEqual(outlines[i], o) {
				t.Errorf("%s: the outline is %+v, want %+v", f.Path, outlines[i], o)
			}
			if refs != nil && !reflect.DeepEqual(refs[i], r) {
				t.Errorf("%s: the references are %+v, want %+v", f.Path, refs[i], r)
			}
		}
	}
	ask := func(ctx context.Context, ws *Workspace, facts bool) {
		t.Helper()
		var outlines []*outline.Outline
		var refs []*outline.References
		var err error
		if facts {
			outlines, refs, err = ws.OutlinesAndReferences(ctx, list, reading)
		} else {
			outlines, err = ws.Outlines(ctx, list, reading)
		}
		if err != nil {
			t.Fatal(err)
		}
		check(outlines, refs)
	}
	for _, step := range []struct {
		name  string
		facts bool
		lost  func(repo.Path) string // the version whose entries are damaged before
		reads int
	}{
		{"outlines, nothing known", false, nil, len(contents)},
		{"facts, all known", true, nil, 0},
		{"outlines, all known", false, nil, 0},
		{"outlines without references", false, referencesVersion, 0},
		{"facts without references", true, referencesVersion, len(contents)},
		{"facts without outlines", true, outlineVersion, len(contents)},
		{"facts again", true, nil, 0},
	} {
		ws, err := Open(t.Context(), Options{Dir: r.Dir})
		if err != nil {
			t.Fatal(err)
		}
		if step.lost != nil {
			damaged := make([][]byte, len(list))
			which := make([]int, len(list))
			for i := range list {
				which[i] = i
				damaged[i] = []byte{0xff}
			}
			ws.save(t.Context(), list, which, step.lost, damaged)
		}
		read = nil
		ask(t.Context(), ws, step.facts)
		if len(read) != step.reads {
			t.Errorf("%s: read %v, want %d files", step.name, read, step.reads)
		}
		ws.Close()
	}
}
