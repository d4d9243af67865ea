package board_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"ken/internal/board"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/workflow"
)

// A fakeRepo answers with the values that a test sets.
type fakeRepo struct {
	report   *registry.Report
	sizes    map[repo.Path]int64
	shown    *survey.DirListing
	audit    *workflow.Audit
	listing  *spec.Listing
	overlaid []spec.WorktreeChanges
	err      error // returned by every function
	archive  error // returned by Archive
	panics   bool  // every function panics
}

func answer[T any](t *fakeRepo, v T) (T, error) {
	if t.panics {
		panic("a table is empty")
	}
	return v, t.err
}

func (f *fakeRepo) Files(context.Context) (*registry.Report, map[repo.Path]int64, error) {
	report, err := answer(f, f.report)
	return report, f.sizes, err
}

func (f *fakeRepo) Directories(context.Context) (*survey.DirListing, error) {
	return answer(f, f.shown)
}
func (f *fakeRepo) Specs(context.Context) (*spec.Listing, error)   { return answer(f, f.listing) }
func (f *fakeRepo) State(context.Context) (board.StateDir, error)  { return f, nil }
func (f *fakeRepo) Close() error                                   { return nil }
func (f *fakeRepo) Audit(context.Context) (*workflow.Audit, error) { return answer(f, f.audit) }

func (f *fakeRepo) Overlays(context.Context) ([]spec.WorktreeChanges, error) {
	return answer(f, f.overlaid)
}

func (f *fakeRepo) Get(context.Context) (*workflow.Document, error) {
	return answer(f, workflow.NewDocument())
}

func (f *fakeRepo) Archive(context.Context) (*workflow.ArchiveList, error) {
	if f.archive != nil {
		return nil, f.archive
	}
	return answer(f, &workflow.ArchiveList{})
}

func (f *fakeRepo) Cleanup(context.Context, workflow.CleanupOptions) (*workflow.Sweep, error) {
	return answer(f, &workflow.Sweep{})
}

// healthy returns a repository in which nothing needs attention.
func healthy() *fakeRepo {
	return &fakeRepo{
		report: &registry.Report{State: registry.StateTrust}, shown: &survey.DirListing{}, audit: &workflow.Audit{}, listing: &spec.Listing{},
	}
}

func source(t *fakeRepo) board.Source {
	return board.Source{Name: "main", Files: t.Files, Directories: t.Directories, State: t.State, Archive: true, Specs: t.Specs, Overlays: t.Overlays}
}

// A part that cannot be read has a reason, and the others are known.
func TestUnknownPartKeepsOthers(t *testing.T) {
	bad := &fakeRepo{err: &fault.Error{Hint: "mend it", Err: errors.New("it is broken")}}
	parts := map[string]func(*board.Source){
		"files":     func(s *board.Source) { s.Files = bad.Files },
		"survey":    func(s *board.Source) { s.Directories = bad.Directories },
		"state":     func(s *board.Source) { s.State = bad.State },
		"spec":      func(s *board.Source) { s.Specs = bad.Specs },
		"proposals": func(s *board.Source) { s.Overlays = bad.Overlays },
	}
	for name, spoil := range parts {
		s := source(healthy())
		spoil(&s)
		b := board.Make(t.Context(), "r", s, nil)
		w := b.Worktree()
		unread := map[string]*fault.Unknown{
			"files": w.Files.Unknown, "survey": w.Survey.Unknown, "state": w.State.Unknown, "spec": w.Spec.Unknown, "proposals": b.Proposals.Unknown,
		}
		for part, u := range unread {
			if (u != nil) != (part == name) {
				t.Errorf("with unreadable %s, the reason of %s is %+v", name, part, u)
			}
		}
		if u := unread[name]; u == nil || u.Why != "it is broken" || u.Command != "mend it" {
			t.Errorf("the reason of %s is %+v, want it is broken, mend it", name, u)
		}
	}
}

// A spec with missing code is counted.
func TestMissingCodeIsCounted(t *testing.T) {
	w := healthy()
	here, other := listed("here", "", ""), listed("other", "", "")
	here.Missing = []string{"gone.go", "lost.go"}
	w.listing.Nodes = []spec.ListedSpec{here, other}
	b := board.Make(t.Context(), "r", source(w), nil)
	if n := b.Worktrees[0].Spec.Known.Counts.Missing; n != 1 {
		t.Errorf("%d specs have missing code, want 1", n)
	}
}

// A panic makes one part unknown and no other.
func TestPanicMakesOnePartUnknown(t *testing.T) {
	s := source(healthy())
	s.Specs = (&fakeRepo{panics: true}).Specs
	b := board.Make(t.Context(), "r", s, nil)
	if u := b.Worktrees[0].Spec.Unknown; u == nil || !strings.Contains(u.Why, "a table is empty") {
		t.Errorf("the reason is %+v, want the panic", u)
	}
	if b.Worktrees[0].Files.Known == nil {
		t.Error("files are unknown too")
	}
}

// A worktree that cannot be opened is on the board, with the reason in every part.
func TestWorktreeThatCannotBeOpened(t *testing.T) {
	b := board.Make(t.Context(), "r", board.Source{Name: "away", Branch: "main", Err: errors.New("it is not there"), Overlays: healthy().Overlays}, nil)
	w := b.Worktree()
	if w.Branch != nil || !w.Head.IsZero() {
		t.Errorf("HEAD is %s, want unknown", w.Head)
	}
	for _, u := range []*fault.Unknown{w.Unknown, w.Files.Unknown, w.Survey.Unknown, w.State.Unknown, w.Spec.Unknown} {
		if u == nil || u.Why != "it is not there" {
			t.Errorf("it says %+v", u)
		}
	}
	text, err := json.Marshal(b)
	if err != nil || strings.Contains(string(text), `"known":{`) && !strings.Contains(string(text), `"proposals"`) {
		t.Errorf("the JSON of the board is %s, %v; want only the proposals known", text, err)
	}
}

func listed(id, parent string, grade fresh.Grade) spec.ListedSpec {
	n := spec.ListedSpec{NodeJSON: spec.NodeJSON{ID: id}, Status: spec.StatusMerged}
	if parent != "" {
		n.Parent = &parent
	}
	if grade != "" {
		n.Grade, n.Status = &grade, spec.StatusDrift
	}
	return n
}

// Specs are in tree order, those with the highest grade first. None is lost.
func TestSpecsAreInTreeOrder(t *testing.T) {
	w := healthy()
	w.listing.Nodes = []spec.ListedSpec{
		listed("root", "", ""), listed("a", "root", ""), listed("a1", "a", ""), listed("b", "root", ""), listed("b1", "b", fresh.GradeInterface),
		listed("ghost", "gone", ""), listed("self", "self", ""),
	}
	b := board.Make(t.Context(), "r", source(w), nil)
	s := b.Worktrees[0].Spec.Known
	var got []string
	for _, n := range s.Nodes {
		got = append(got, strings.Repeat(" ", n.Depth)+n.ID)
	}
	want := []string{"root", " b", "  b1", " a", "  a1", "ghost", "self"}
	if !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
	if s.Nodes[0].Below != 4 || s.Counts.Drift != 1 || s.Counts.Merged != 6 {
		t.Errorf("%d below the root, %+v", s.Nodes[0].Below, s.Counts)
	}
}

// Drift is counted for every status, and unknown drift is counted separately.
func TestDriftIsCountedForEveryStatus(t *testing.T) {
	drift := func(id string, n int, st spec.Status) spec.ListedSpec {
		l := spec.ListedSpec{NodeJSON: spec.NodeJSON{ID: id}, Status: st, Drift: &n}
		if n < 0 {
			l.Drift = nil
		}
		return l
	}
	w := healthy()
	ghost := drift("ghost", -1, spec.StatusActive)
	ghost.Ghost = true
	w.listing.Nodes = []spec.ListedSpec{
		drift("a", 3, spec.StatusDrift), drift("b", 2, spec.StatusActive), drift("c", 0, spec.StatusActive),
		drift("d", -1, spec.StatusActive), drift("e", -1, spec.StatusUnknown), drift("f", 0, spec.StatusMerged), ghost,
	}
	b := board.Make(t.Context(), "r", source(w), nil)
	c := b.Worktrees[0].Spec.Known.Counts
	if c.Drifting != 2 || c.DriftUnknown != 2 || c.Drift != 1 || c.Active != 4 {
		t.Errorf("the counts are %+v", c)
	}
}

// The tally leaves out excluded directories, and distinguishes a text from a fresh
// text.
func TestTally(t *testing.T) {
	text := "words"
	w := healthy()
	for i, v := range []fresh.Verdict{
		{State: fresh.Fresh},
		{State: fresh.Fresh},
		fresh.StaleBelow.Verdict(),
		{State: fresh.None},
		{State: fresh.Excluded},
		{State: fresh.Excluded},
		{},
		{},
	} {
		d := survey.ListedDir{PathJSON: repo.Path(strings.Repeat("d", i+1)).JSON(), Verdict: v, Outline: i == 1}
		if v.State == fresh.Fresh || v.State == fresh.Stale || i == 7 {
			d.Text = &text
		}
		w.shown.Directories = append(w.shown.Directories, d)
	}
	b := board.Make(t.Context(), "r", source(w), nil)
	if got, want := b.Worktrees[0].Survey.Known.Tally, (board.Tally{Total: 6, Described: 4, Hold: 2, Outlines: 1, Unknown: 1}); got != want {
		t.Errorf("the tally is %+v, want %+v", got, want)
	}
}

// A collision that several worktrees report is listed once, also at its spec.
func TestCollisionIsListedOnce(t *testing.T) {
	w := healthy()
	w.listing.Nodes = []spec.ListedSpec{listed("a", "", "")}
	w.overlaid = []spec.WorktreeChanges{
		{Worktree: "one", Collisions: []spec.CollisionJSON{{Node: "a", Kind: spec.OnSpec, With: []string{"two"}, Paths: []string{"p"}}}},
		{Worktree: "two", Collisions: []spec.CollisionJSON{{Node: "a", Kind: spec.OnSpec, With: []string{"one"}, Paths: []string{"p", "q"}}}},
	}
	b := board.Make(t.Context(), "r", source(w), nil)
	m := b.Proposals.Known.Meetings
	if len(m) != 1 || !slices.Equal(m[0].Worktrees, []string{"one", "two"}) || !slices.Equal(m[0].Paths, []string{"p", "q"}) {
		t.Errorf("the meetings are %+v", m)
	}
	if n := b.Worktrees[0].Spec.Known.Nodes[0]; len(n.Collisions) != 1 {
		t.Errorf("at the node: %+v", n.Collisions)
	}
}

// tell gets the board after each part, and once more with the collisions.
func TestTellGetsPartsInTurn(t *testing.T) {
	var told []*board.Board
	b := board.Make(t.Context(), "r", source(healthy()), func(so *board.Board) { told = append(told, so) })
	if len(told) != 6 {
		t.Fatalf("tell was called %d times, want 6", len(told))
	}
	known := func(b *board.Board) (n int) {
		w := b.Worktrees[0]
		for _, is := range []bool{w.Files.Known != nil, w.Survey.Known != nil, w.State.Known != nil, w.Spec.Known != nil, b.Proposals.Known != nil} {
			if is {
				n++
			}
		}
		return n
	}
	for i, so := range told {
		if known(so) != min(i+1, 5) {
			t.Errorf("after %d calls %d parts are known", i+1, known(so))
		}
	}
	if known(b) != 5 {
		t.Errorf("at the end %d are known", known(b))
	}
}

// Directory.Why replaces the names of verdicts and does not change the document.
func TestReasonsAreInPlainWords(t *testing.T) {
	d := board.Directory{Reasons: []string{"lib is stale-self", "a is stale-below", "x.go is new", "stale-self is new"}}
	if got, want := d.Why(), []string{"lib is stale", "a is stale", "x.go is new", "stale-self is new"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if d.Reasons[0] != "lib is stale-self" {
		t.Error("Why changed the reasons of the document")
	}
}

// Each file that needs attention is either stale or unknown. A file that ken could not read is unknown, whatever is
// known of its summary.
func TestFilesThatNeedAttention(t *testing.T) {
	w := healthy()
	verdict := func(p repo.Path, content fresh.Verdict, summary fresh.State) {
		w.report.Verdicts = append(w.report.Verdicts, registry.FileState{PathJSON: p.JSON(), Content: registry.Comparison(content), Summary: summary})
	}
	verdict("fresh.go", fresh.Verdict{State: fresh.Fresh}, fresh.Fresh)
	verdict("edited.go", fresh.Verdict{State: fresh.Stale}, fresh.None)
	verdict("stale.go", fresh.Verdict{State: fresh.Stale}, fresh.Stale)
	verdict("sparse.go", fresh.NotCheckedOut.Verdict(), fresh.Stale)
	verdict("locked.go", fresh.Verdict{}, fresh.Stale)
	verdict("merged.go", fresh.Conflicted.Verdict(), fresh.Fresh)
	verdict("damaged.go", fresh.Verdict{State: fresh.Fresh}, fresh.Unknown)
	s := source(w)
	s.RenamedFrom = func(context.Context, []repo.Path) (map[repo.Path]repo.Path, error) {
		return nil, errors.New("it is broken")
	}
	files := board.Make(t.Context(), "r", s, nil).Worktrees[0].Files.Known
	if files == nil || files.RenamedFrom.Unknown == nil {
		t.Fatalf("the files are %+v; want them known, but not their earlier paths", files)
	}
	names := func(list []registry.FileState) (names []string) {
		for _, v := range list {
			names = append(names, v.Path)
		}
		return names
	}
	if got, want := names(files.Stale), []string{"stale.go", "sparse.go"}; !slices.Equal(got, want) {
		t.Errorf("stale are %q, want %q", got, want)
	}
	if got, want := names(files.Unknown), []string{"locked.go", "merged.go", "damaged.go"}; !slices.Equal(got, want) {
		t.Errorf("unknown are %q, want %q", got, want)
	}
}

// A source reads only what its face shows.
func TestSourceWithoutMap(t *testing.T) {
	w := healthy()
	w.report.Verdicts = []registry.FileState{{PathJSON: repo.Path("a.go").JSON(), Content: registry.Comparison{State: fresh.Fresh}, Summary: fresh.Fresh}}
	w.archive = errors.New("nobody asked for the archive")
	s := source(w)
	s.Archive = false
	tree := board.Make(t.Context(), "r", s, nil).Worktrees[0]
	if files := tree.Files.Known; files == nil || len(files.MapFiles) > 0 {
		t.Errorf("without sizes, the files are %+v; want no map", files)
	}
	if state := tree.State.Known; state == nil || state.Snapshots.Unknown != nil || state.Cleanup.Known != nil {
		t.Errorf("the state directory is %+v; want it without its archive", state)
	}
}
