package store_test

import (
	"crypto/sha256"
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

func records() *rapid.Generator[*store.DirRecord] {
	return rapid.Custom(func(t *rapid.T) *store.DirRecord {
		word := rapid.StringN(0, 6, -1)
		digest := rapid.Custom(func(t *rapid.T) (d fresh.Digest) {
			copy(d[:], rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "digest"))
			return d
		})
		r := &store.DirRecord{
			Path: repo.Path(word.Draw(t, "path")), Text: word.Draw(t, "text"), Author: word.Draw(t, "author"),
			Recipe: rapid.SampledFrom([]string{"outline/", "outline/3", "hand", ""}).Draw(t, "recipe"), Confirmer: word.Draw(t, "confirmer"),
			At:      time.UnixMicro(rapid.Int64Range(0, 1<<50).Draw(t, "at")).UTC(),
			Partial: rapid.Bool().Draw(t, "partial"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "files") {
			n := rapid.SampledFrom([]int{0, 20, 32}).Draw(t, "size")
			r.Basis.Files = append(r.Basis.Files, store.BasisFile{
				Name: []byte(word.Draw(t, "name")), ID: repo.IDFromBytes(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "id")),
				Shape: store.OutlineShape{Language: "go", Tokens: digest.Draw(t, "tokens")},
			})
		}
		for range rapid.IntRange(0, 3).Draw(t, "children") {
			r.Basis.Children = append(r.Basis.Children, store.BasisChild{Name: []byte(word.Draw(t, "name")), Text: digest.Draw(t, "text")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "flags") {
			r.Flags = append(r.Flags, store.DirFlag{Path: repo.Path(word.Draw(t, "path")), Severity: "info", Finding: word.Draw(t, "finding")})
			if n := rapid.SampledFrom([]int{0, 20, 32}).Draw(t, "size of the content id"); n > 0 {
				r.Flags[len(r.Flags)-1].Content = repo.IDFromBytes(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "content"))
			}
		}
		return r
	})
}

// Ids are digests of JSON documents. They must not change, because stores and shared records contain them.
func TestIDsAreDigestsOfJSON(t *testing.T) {
	digest := func(fields ...any) fresh.Digest {
		b, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return sha256.Sum256(b)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := records().Draw(t, "record")
		type file struct {
			Name []byte
			ID   repo.ID
		}
		files := []file{}
		for _, f := range r.Basis.Files {
			files = append(files, file{f.Name, f.ID})
		}
		if got, want := r.Basis.Digest(), digest("ken directory basis 1", files, r.Basis.Children); got != want {
			t.Fatalf("the basis %+v has the digest %s, want %s", r.Basis, got, want)
		}
		want := digest("ken directory record 1", []byte(r.Text), r.Basis.Digest(), []byte(r.Author), []byte(r.Recipe),
			r.At.Format(time.RFC3339Nano), []byte(r.Confirmer), r.Partial, r.Flags)
		if r.IsOutline() {
			want = digest("ken directory outline 1", []byte(r.Text), r.Basis.Digest(), []byte(r.Recipe), []byte(r.Confirmer), r.Partial, r.Flags)
		}
		if got := r.ID(); got != want {
			t.Fatalf("%+v has the id %s, want %s", r, got, want)
		}
	})
}

// An outline has the same id in every clone and at every time. The id of any other text depends on its time.
func TestOutlinesHaveNoTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := records().Draw(t, "record")
		later := *r
		later.At, later.Author = r.At.Add(time.Hour), r.Author+" on another machine"
		if same := r.ID() == later.ID(); same != r.IsOutline() {
			t.Fatalf("%q: same id at another time: %v, want %v", r.Recipe, same, r.IsOutline())
		}
	})
}

// The id is the same for an empty list of flags and none, and differs if anything else of the record changes.
func TestIDCoversTheRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := records().Draw(t, "record")
		id := r.ID()
		if len(r.Flags) == 0 {
			r.Flags = []store.DirFlag{}
		}
		if got := r.ID(); got != id {
			t.Fatalf("%+v has the id %s, want %s", r, got, id)
		}
		for what, change := range map[string]func(*store.DirRecord){
			"text":      func(r *store.DirRecord) { r.Text += "x" },
			"recipe":    func(r *store.DirRecord) { r.Recipe += "x" },
			"confirmer": func(r *store.DirRecord) { r.Confirmer += "x" },
			"partial":   func(r *store.DirRecord) { r.Partial = !r.Partial },
			"flags":     func(r *store.DirRecord) { r.Flags = append([]store.DirFlag{{Finding: "x"}}, r.Flags...) },
			"basis": func(r *store.DirRecord) {
				r.Basis.Children = append([]store.BasisChild{{Name: []byte("x")}}, r.Basis.Children...)
			},
		} {
			other := *r
			if change(&other); other.ID() == id {
				t.Fatalf("with another %s, %+v has the same id", what, r)
			}
		}
	})
}
