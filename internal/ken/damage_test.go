package ken_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/testrepo"
)

// With any bits of the database flipped, ken calls no altered text fresh, nor
// one that does not hold.
func TestFlippedBitsAreNeverFresh(t *testing.T) {
	const copies, seed = 120, 7
	r := testrepo.New(t)
	var paths []repo.Path
	for i := range 12 {
		p := repo.Path(fmt.Sprintf("d%d/f%d.go", i%4, i))
		r.Write(string(p), fmt.Sprintf("// Package d%d does things.\npackage d%d\n\nfunc F%d() {}\n", i%4, i%4, i))
		paths = append(paths, p)
	}
	r.Commit("first")
	within := func(act func(*ken.Repository) error) error {
		w, err := ken.Open(t.Context(), ken.Options{Dir: r.Dir, Author: "test"})
		if err == nil {
			err = act(w)
			_ = w.Close() // a damaged database may not like it
		}
		return err
	}
	written := make(map[repo.Path]string)
	err := within(func(w *ken.Repository) error {
		if _, err := w.Registry.Verify(t.Context(), registry.VerifyOptions{}); err != nil {
			return err
		}
		var updates []registry.Update
		for i, p := range paths {
			written[p] = strings.Repeat(fmt.Sprintf("What %s does. ", p), 1+i)
			updates = append(updates, registry.Update{Path: p, Text: written[p]})
		}
		if _, err := w.Registry.Write(t.Context(), updates); err != nil {
			return err
		}
		if _, err := w.Survey(nil).Run(t.Context(), describe.Outliner{}, survey.RunOptions{}); err != nil {
			return err
		}
		_, err := w.Summaries().Confirm(t.Context(), []repo.Path{"d0", "d1"}, "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// Edited since: this one does not hold.
	r.Write(string(paths[3]), "package other\n\nfunc Other() {}\n")
	described := make(map[string]string)
	show := func(w *ken.Repository) (files []registry.Summary, dirs *survey.DirListing, err error) {
		if files, err = w.Registry.Show(t.Context(), paths); err == nil {
			dirs, err = w.Survey(nil).Show(t.Context(), "")
		}
		return files, dirs, err
	}
	err = within(func(w *ken.Repository) error {
		_, dirs, err := show(w)
		for _, d := range dirs.Directories {
			described[d.Path] = d.TextOrEmpty()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	path := r.Path(".git/ken/ken.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, seed))
	failed, lost := 0, 0
	for n := range copies {
		damaged := append([]byte(nil), whole...)
		for range 1 + random.IntN(20) {
			damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
		}
		for _, rest := range []string{"-wal", "-shm", "-journal"} {
			_ = os.Remove(path + rest) // most are not there
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		err := within(func(w *ken.Repository) error {
			files, dirs, err := show(w)
			if err != nil {
				return err
			}
			for i, k := range files {
				switch {
				case k.Verdict == fresh.Fresh && (k.Text != strings.TrimSpace(written[paths[i]]) || i == 3):
					t.Errorf("seed %d, copy %d: %s is fresh with the text %q", seed, n, paths[i], k.Text)
				case k.Verdict != fresh.Fresh && i != 3:
					lost++
				}
			}
			for _, d := range dirs.Directories {
				switch {
				case d.Outline && (d.Path == "." || described[d.Path] == ""):
					// An outline is made of the files that the rows list, and quotes the
					// texts of its subdirectories, which are checked there.
				case d.Verdict.State == fresh.Fresh && d.TextOrEmpty() != described[d.Path]:
					t.Errorf("seed %d, copy %d: %s is fresh with the text %q", seed, n, d.Path, d.TextOrEmpty())
				case d.Verdict.State != fresh.Fresh:
					lost++
				}
			}
			return nil
		})
		if err != nil {
			failed++
		}
	}
	if failed == copies || lost == 0 {
		t.Errorf("%d of %d copies could not be read, and %d texts were lost: the test tests nothing", failed, copies, lost)
	}
	t.Logf("%d of %d copies could not be read, %d texts were lost in the others", failed, copies, lost)
}
