package registry_test

import (
	"slices"
	"testing"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

func TestShowSuggestsNearestPath(t *testing.T) {
	w := settled(t, "a.go", "a", "lib/view.go", "v", "lib/request.go", "r", "one/same.go", "s", "two/same.go", "t")
	for path, want := range map[repo.Path]string{
		"lib/veiw.go":     "lib/view.go",    // misspelled
		"Lib/Request.go":  "lib/request.go", // case
		"src/request.go":  "lib/request.go", // other directory
		"three/same.go":   "",               // two candidates
		"lib/other.go":    "",
		"b.go":            "a.go",
		"lib":             "", // exists
		"lib/view.go":     "",
		"lib/view.go/sub": "",
	} {
		if k := w.show(t, path); k.Nearest != want {
			t.Errorf("%s: nearest %q, not %q", path, k.Nearest, want)
		}
	}
}

func TestShow(t *testing.T) {
	w := settled(t, "a.go", "alpha", "away.go", "away", "gone.go", "gone", "go.sum", "lock", "lib/l.go", "l", "merge.go", "m", "none.go", "none", "stale.go", "old")
	w.describe(t, "a.go", "away.go", "gone.go", "merge.go", "stale.go")
	w.write("stale.go", "new")
	w.remove("away.go")
	w.remove("gone.go")
	w.stage("gone.go")
	w.verify(t, registry.VerifyOptions{})
	w.flag("merge.go", repo.Conflicted)
	for _, c := range []struct {
		path     repo.Path
		verdict  fresh.State
		reasons  []string
		text     string
		from, is repo.ID
	}{
		{"a.go", fresh.Fresh, []string{}, "about a.go", blob("alpha"), blob("alpha")},
		{"stale.go", fresh.Stale, []string{"content_changed"}, "about stale.go", blob("old"), blob("new")},
		{"none.go", fresh.None, []string{}, "", repo.ID{}, blob("none")},
		{"gone.go", fresh.Gone, []string{"no longer tracked"}, "about gone.go", blob("gone"), repo.ID{}},
		{"away.go", fresh.Gone, []string{"deleted on disk"}, "about away.go", blob("away"), repo.ID{}},
		{"merge.go", fresh.Unknown, []string{"merge conflict"}, "about merge.go", blob("m"), repo.ID{}},
		{"go.sum", fresh.Excluded, []string{"lockfile"}, "", repo.ID{}, blob("lock")},
		{"never.go", fresh.None, []string{"not_tracked", "never_known"}, "", repo.ID{}, repo.ID{}},
		{"lib", fresh.None, []string{"not_tracked", "directory"}, "", repo.ID{}, repo.ID{}},
		{"", fresh.None, []string{"not_tracked", "directory"}, "", repo.ID{}, repo.ID{}},
	} {
		t.Run(string(c.path), func(t *testing.T) {
			k := w.show(t, c.path)
			same(t, "reasons", k.Reasons, c.reasons)
			if k.Verdict != c.verdict || k.Text != c.text || k.ID != c.from || k.CurrentID != c.is || k.Commit != w.head {
				t.Errorf("show returned %+v; want %s %q, written from %s, now %s", k, c.verdict, c.text, c.from, c.is)
			}
			if c.text != "" && (k.Author != "ann" || k.Recipe != "hand" || k.UpdatedAt == nil) {
				t.Errorf("show returned %+v; want a summary by ann, written by hand, with a time", k)
			}
		})
	}
}

func TestShowContent(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.describe(t, "a.go")
	ask := func(c repo.Content) (registry.Summary, bool) {
		t.Helper()
		k, ok, err := w.registry().ShowContent(w.ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		return k, ok
	}
	if k, ok := ask(contentOf("alpha")); !ok || k.Verdict != fresh.Fresh || k.Path != "a.go" || k.Text != "about a.go" {
		t.Errorf("ShowContent returned %+v, %t; want the fresh summary of a.go", k, ok)
	}
	w.write("a.go", "other")
	if k, ok := ask(repo.Content{ID: blob("alpha")}); !ok || k.Verdict != fresh.Stale || k.CurrentID != blob("other") || k.ID != blob("alpha") {
		t.Errorf("after a change, ShowContent returned %+v, %t; want a stale summary", k, ok)
	}
	w.remove("a.go")
	w.stage("a.go")
	if k, ok := ask(repo.Content{ID: blob("alpha")}); !ok || k.Verdict != fresh.Gone || k.Text != "about a.go" {
		t.Errorf("after the file was deleted, ShowContent returned %+v, %t; want the verdict gone", k, ok)
	}
	if _, ok := ask(contentOf("beta")); ok {
		t.Error("found a text that was never written")
	}
}

func TestList(t *testing.T) {
	w := settled(t, "a.go", "alpha", "dir/b.go", "beta", "dir/c.go", "gamma", "gone.go", "gone", "go.sum", "lock")
	w.describe(t, "a.go", "dir/b.go", "gone.go")
	w.write("dir/b.go", "other")
	w.remove("gone.go")
	w.stage("gone.go")
	for _, c := range []struct {
		name   string
		paths  []repo.Path
		states []fresh.State
		want   []string
	}{
		{"whatever has a text", nil, nil, []string{"fresh a.go", "stale dir/b.go"}},
		{"below a directory", []repo.Path{"dir"}, nil, []string{"stale dir/b.go"}},
		{"by state", nil, []fresh.State{fresh.None, fresh.Excluded}, []string{"none dir/c.go", "excluded go.sum"}},
		{"nothing", nil, []fresh.State{}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := w.registry().List(w.ctx, c.paths, c.states)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, k := range list.Entries {
				got = append(got, k.Verdict.String()+" "+k.Path)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("List returned %q; want %q", got, c.want)
			}
			if list.State != registry.StateVerify || list.Head != w.head {
				t.Errorf("List returned the entry state %s at %s; want %s at %s", list.State, list.Head, registry.StateVerify, w.head)
			}
		})
	}
}
