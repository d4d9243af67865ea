package ken_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ken/internal/cache"
	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/testrepo"
	"ken/internal/tree"
)

// An agentWriter makes plans and writes nothing.
type agentWriter struct{ describe.Outliner }

func (agentWriter) Recipe() string { return survey.LeaseRecipe }

// An olderOutliner is the outliner of another version.
type olderOutliner struct{ describe.Outliner }

func (olderOutliner) Recipe() string { return "outline/0" }

// A surveyWorld is a repository that is changed and surveyed at random.
type surveyWorld struct {
	*testrepo.Repo
	t   *testing.T
	rnd *rand.Rand
	n   int
}

// A listedTree records whether all files were listed.
type listedTree struct {
	*tree.WorkTree
	listed bool
}

func (t *listedTree) Files(ctx context.Context) ([]repo.File, error) {
	t.listed = true
	return t.WorkTree.Files(ctx)
}

// within opens the repository anew, as every command does.
func (w *surveyWorld) within(act func(*ken.Repository) error) {
	w.t.Helper()
	ws, err := ken.Open(w.t.Context(), ken.Options{Dir: w.Dir, Author: "test"})
	if err == nil {
		err = act(ws)
	}
	if err == nil {
		err = ws.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *surveyWorld) path() string {
	return fmt.Sprintf("%s/f%d.go", path.Join([]string{".", "a", "a/b", "a/b/c", "d", "d/e"}[w.rnd.IntN(6)]), w.rnd.IntN(3))
}

func (w *surveyWorld) text() string {
	w.n++
	n := w.n
	if w.rnd.IntN(2) == 0 {
		n = w.rnd.IntN(3) // again what it was, some time
	}
	return fmt.Sprintf("// Package p is number %d.\npackage p\n\n// note %d\nfunc A() int { return %d }\n", n/2, w.rnd.IntN(3), n)
}

// change makes one random change that may affect the verdicts of directories, and returns its description.
func (w *surveyWorld) change() string {
	ctx := w.t.Context()
	files := strings.Fields(w.Git("ls-files", "*.go"))
	one := files[w.rnd.IntN(len(files))]
	switch w.rnd.IntN(20) {
	case 17:
		w.twins(ctx)
		return "twins"
	case 15, 16, 18, 19:
		// A refresh that follows an edit, and nothing in between; as a rule with nothing
		// that agents wrote, which is no business of a refresh.
		if w.rnd.IntN(4) > 0 {
			w.lose()
		}
		w.Git("add", "-A")
		w.Git("commit", "-q", "--allow-empty", "-m", "c")
		w.run(describe.Outliner{})
		if w.rnd.IntN(2) == 0 { // else what the run itself keeps is all there is
			w.asked([]repo.Path{""}, false)
		}
		for range 1 + w.rnd.IntN(2) {
			one = files[w.rnd.IntN(len(files))]
			w.Write(one, w.text())
		}
		switch w.rnd.IntN(4) {
		case 0:
			w.Git("add", "-A")
		case 1:
			w.Write(w.path(), w.text())
			w.Git("add", "-A")
			w.Git("commit", "-q", "-m", "c")
		}
		w.run(describe.Outliner{})
		return "refresh"
	case 0, 1:
		if _, err := os.Stat(w.Path(one)); err == nil {
			w.Write(one, w.text())
		}
		return "edit " + one
	case 2:
		w.Git("checkout", "-q", "-f", "HEAD")
		return "revert"
	case 3:
		if len(files) > 4 {
			w.Git("rm", "-q", "-f", one)
		}
		return "rm " + one
	case 4:
		_ = os.Remove(w.Path(one)) // and git does not know
		return "lose " + one
	case 5:
		p := w.path()
		w.Write(p, w.text())
		w.Git("add", "-A")
		return "add " + p
	case 6:
		w.Git("add", "-A")
		w.Git("commit", "-q", "--allow-empty", "-m", "c")
		return "commit"
	case 7:
		if out, err := w.Try("checkout", "-q", "-f", "HEAD~1"); err != nil {
			return "no branch: " + out
		}
		return "checkout HEAD~1"
	case 8, 9:
		if w.rnd.IntN(4) == 0 {
			w.run(olderOutliner{})
			return "run an older version"
		}
		w.run(describe.Outliner{})
		return "run"
	case 10:
		w.submit(ctx)
		return "submit"
	case 11:
		config := []string{
			"", "survey:\n  exclude: [a/b/**]\n", "survey:\n  ranks: {a: priority, d: skip}\n",
			"registry:\n  stale_grades: [interface]\n", "registry:\n  exclude: [\"**/f1.go\"]\n",
		}[w.rnd.IntN(5)]
		w.Write(".ken/config.yaml", config)
		return "configure " + config
	case 12:
		w.within(func(ws *ken.Repository) error {
			return ws.Store.SaveFailure(ctx, store.DirFailure{Path: "a", Basis: fresh.Digest{byte(w.rnd.IntN(2))}, Reason: fmt.Sprint(w.n), At: time.Now()})
		})
		return "fail"
	case 13:
		if w.rnd.IntN(3) == 0 {
			w.lose()
			return "lose the store"
		}
		if info, err := os.Stat(w.Path(one)); err == nil {
			w.Write(one, strings.ReplaceAll(w.Read(one), "\n", "\r\n"))
			return fmt.Sprint("line ends of ", one, info.Size())
		}
	}
	return "nothing"
}

// lose deletes the store.
func (w *surveyWorld) lose() {
	for _, name := range []string{"ken.db", "ken.db-wal", "ken.db-shm"} {
		_ = os.Remove(filepath.Join(w.Dir, ".git", "ken", name))
	}
}

// run runs a survey, and checks that a copy of the repository without caches would describe the same directories.
func (w *surveyWorld) run(writer describe.Writer) {
	w.t.Helper()
	plain := &surveyWorld{Repo: &testrepo.Repo{Dir: w.t.TempDir()}, t: w.t}
	if err := os.CopyFS(plain.Dir, os.DirFS(w.Dir)); err != nil {
		w.t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(plain.Dir, ".git", "ken", "cache")); err != nil {
		w.t.Fatal(err)
	}
	var done [2][]string
	for i, world := range []*surveyWorld{w, plain} {
		world.within(func(ws *ken.Repository) error {
			ran, err := ws.Survey(nil).Run(w.t.Context(), writer, survey.RunOptions{})
			done[i] = ran.Done
			if err != nil {
				return err
			}
			said, err := w.said(ws)
			done[i] = append(done[i], said...)
			return err
		})
	}
	if !slices.Equal(done[0], done[1]) {
		w.t.Fatalf("with the cache the run described %q; without it, %q", done[0], done[1])
	}
}

// said returns the newest text of each directory.
func (w *surveyWorld) said(ws *ken.Repository) ([]string, error) {
	latest, err := ws.Store.Latest(w.t.Context())
	var list []string
	for p, records := range latest {
		for _, r := range records {
			list = append(list, fmt.Sprintf("%s, %s of %s: %s", repo.DirLabel(p), r.Recipe, r.Basis.Digest(), r.Text))
		}
	}
	slices.Sort(list)
	return list, err
}

// submit describes the next directory as an agent would.
func (w *surveyWorld) submit(ctx context.Context) {
	if it := w.next(ctx); it != nil {
		w.hand(ctx, it)
	}
}

// next leases the next directory; nil if none is ready.
func (w *surveyWorld) next(ctx context.Context) (it *survey.WorkItem) {
	w.within(func(ws *ken.Repository) error {
		handed, err := ws.Dispatcher().Next(ctx, survey.NextOptions{Duration: time.Minute})
		if err == nil {
			it = handed.Item
		}
		return err
	})
	return it
}

// hand submits a text about a leased directory.
func (w *surveyWorld) hand(ctx context.Context, it *survey.WorkItem) {
	w.within(func(ws *ken.Repository) error {
		p, err := it.Raw()
		if err != nil {
			return err
		}
		if p == "." {
			p = ""
		}
		w.n++
		_, err = ws.Submit(ctx, survey.Submission{
			Path: p, Lease: it.Lease, Author: "agent", Draft: describe.Draft{Text: fmt.Sprintf("Text %d.", w.n/2)},
		})
		return err
	})
}

// twins writes different texts about two directories with the same files, as two machines might. Then it changes one of
// the directories and changes it back.
func (w *surveyWorld) twins(ctx context.Context) {
	same := w.text()
	for _, dir := range []string{"t/one", "t/two"} {
		w.Write(dir+"/f0.go", same)
	}
	w.Git("add", "-A")
	w.describe(ctx)
	w.within(func(ws *ken.Repository) error {
		written, err := ws.Store.PastDirRecords(ctx, []repo.Path{"t/one"})
		if err != nil {
			return err
		}
		own := *written["t/one"][0]
		own.Path, own.Text, own.At = "t/two", own.Text+" It has a twin.", own.At.Add(time.Microsecond)
		return ws.Store.SaveDirRecords(ctx, []*store.DirRecord{&own})
	})
	w.describe(ctx)
	w.Write("t/one/f0.go", w.text())
	w.describe(ctx)
	w.Write("t/one/f0.go", same)
}

// describe describes ready directories until none is left.
func (w *surveyWorld) describe(ctx context.Context) {
	for range 4 {
		var taken []*survey.WorkItem
		for it := w.next(ctx); it != nil; it = w.next(ctx) {
			taken = append(taken, it)
		}
		for _, it := range taken {
			w.hand(ctx, it)
		}
	}
}

// asked returns all answers: the plans of two writers, the counts and the briefs. Each question opens the repository
// anew, as a command does. With forget there is no cache, and one repository answers all questions.
func (w *surveyWorld) asked(paths []repo.Path, forget bool) (answers []string, restored bool) {
	w.t.Helper()
	const others = 4 // questions that are not about a path
	questions := others + len(paths)
	if forget {
		w.within(func(ws *ken.Repository) error {
			for i := range questions {
				answer, _ := w.answer(ws, i, paths, nil)
				answers = append(answers, answer)
			}
			return nil
		})
		return answers, false
	}
	for i := range questions {
		w.within(func(ws *ken.Repository) error {
			answer, listed := w.answer(ws, i, paths, ws.Cache)
			answers = append(answers, answer)
			if i == dirCounts {
				restored = !listed
			}
			return nil
		})
	}
	return answers, restored
}

// dirCounts is the question that a cached answer needs no list of files for.
const dirCounts = 2

// answer answers one question, and reports whether it listed all files.
func (w *surveyWorld) answer(ws *ken.Repository, question int, paths []repo.Path, kept *cache.Cache) (text string, listed bool) {
	ctx := w.t.Context()
	work := &listedTree{WorkTree: tree.NewWorkTree(ws.TreeSources())}
	opts := survey.Options{Exclude: ws.Config.Survey.Exclude, Ranks: ws.Config.Survey.Ranks, Counts: ws.Config.Registry.Counts}
	if kept != nil {
		opts.Cache = &survey.Cache{Answers: kept, Inputs: work.SurveyKey}
	}
	s := survey.New(work, ws.Store, opts)
	var answer any
	var err error
	switch question {
	case 0:
		answer, err = s.Plan(ctx, describe.Outliner{}, survey.PlanOptions{All: true})
	case 1:
		answer, err = s.Plan(ctx, agentWriter{}, survey.PlanOptions{})
	case dirCounts:
		answer, err = s.DirCounts(ctx, nil)
	case 3:
		answer, err = survey.NewDispatcher(s, ws.Store, ws.Git.Worktree(), nil).Remaining(ctx)
	default:
		i := question - 4
		answer, _, err = s.Summaries(ctx, paths[i:i+1])
	}
	b, _ := json.Marshal(answer)
	return fmt.Sprint(string(b), " ", err), work.listed
}

// A summary that was written at a directory wins over a newer one of another directory with the same content, with and
// without a cache.
func TestCachedAnswersAboutEqualDirectories(t *testing.T) {
	t.Parallel()
	w := &surveyWorld{Repo: testrepo.New(t), t: t, rnd: rand.New(rand.NewPCG(1, 7))}
	w.twins(t.Context())
	paths := []repo.Path{"t/one", "t/two"}
	plain, _ := w.asked(paths, true)
	for range 2 {
		if kept, _ := w.asked(paths, false); !slices.Equal(kept, plain) {
			t.Errorf("kept  %s\nplain %s", kept, plain)
		}
	}
}

// Runs after edits describe the same directories with and without a cache, and the second reader after them gets the
// answers from the cache.
func TestRunAfterRun(t *testing.T) {
	t.Parallel()
	w := &surveyWorld{Repo: testrepo.New(t), t: t}
	for _, dir := range []string{"a", "a/b", "a/b/c", "d"} {
		w.Write(dir+"/f0.go", "// Package p launches rockets.\npackage p\n")
	}
	w.Commit("begin")
	w.run(describe.Outliner{})
	for _, edit := range []struct{ path, text string }{
		{"a/b/f0.go", "// Package p holds the fuel.\npackage p\n"},
		{"d/f0.go", "// Package p counts down.\npackage p\n"},
		{"a/b/c/f1.md", "# Fuel\n\nWhat burns.\n"}, // it is new
		{"a/f0.go", "// Package p launches rockets.\npackage p\n\n// Abort stops it.\nfunc Abort() {}\n"},
	} {
		w.Write(edit.path, edit.text)
		w.Git("add", "-A")
		w.Git("commit", "-q", "-m", "c")
		w.run(describe.Outliner{})
	}
	w.Age()
	paths := []repo.Path{"", "a", "a/b/c"}
	w.asked(paths, false)
	kept, restored := w.asked(paths, false)
	if plain, _ := w.asked(paths, true); !restored || !slices.Equal(kept, plain) {
		t.Errorf("kept: %v\n%s\nplain\n%s", restored, kept, plain)
	}
}

// A new version of outlines makes ken describe unchanged directories again, whose files are not in the cache.
func TestRunOfAnotherVersion(t *testing.T) {
	t.Parallel()
	w := &surveyWorld{Repo: testrepo.New(t), t: t}
	w.Write("a/x.go", "// Package a launches rockets.\npackage a\n")
	w.Write("b/x.go", "// Package b holds the fuel.\npackage b\n")
	w.Commit("begin")
	run := func(writer describe.Writer) (said []string) {
		w.within(func(ws *ken.Repository) error {
			_, err := ws.Survey(nil).Run(t.Context(), writer, survey.RunOptions{})
			if err != nil {
				return err
			}
			said, err = w.said(ws)
			return err
		})
		return said
	}
	want := strings.Join(run(olderOutliner{}), "\n")
	want = strings.ReplaceAll(want, olderOutliner{}.Recipe(), describe.Outliner{}.Recipe())
	w.asked(nil, false)
	if got := strings.Join(run(describe.Outliner{}), "\n"); got != want {
		t.Errorf("described anew as\n%s\nwant\n%s", got, want)
	}
}

// After any change of a repository and its store, answers with the cache are the same as answers without it.
func TestCachedAnswers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := &surveyWorld{Repo: testrepo.New(t), t: t, rnd: rand.New(rand.NewPCG(seed, 7))}
			for range 12 {
				w.Write(w.path(), w.text())
			}
			w.Git("add", "-A")
			w.Git("commit", "-q", "-m", "begin")
			steps, hits := 40, 0
			if testing.Short() {
				steps = 12
			}
			var past []string
			for range steps {
				past = append(past, w.change())
				paths := []repo.Path{"", "a/b", "t/one", repo.Path(w.path()), "nowhere"}
				kept, _ := w.asked(paths, false)
				plain, _ := w.asked(paths, true)
				again, hit := w.asked(paths, false)
				if hit {
					hits++
				}
				for i := range plain { // the first is enough to read
					if kept[i] != plain[i] || again[i] != plain[i] {
						t.Fatalf("question %d after %q:\nkept  %s\nagain %s\nplain %s", i, past, kept[i], again[i], plain[i])
					}
				}
			}
			if hits == 0 {
				t.Error("the cache was never used")
			}
			t.Logf("%d hits", hits)
		})
	}
}
