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
	"ken/internal/surveyrun"
	"ken/internal/workflow"
)

// A teller answers for everything, with what it was given.
type teller struct {
	report   *registry.Report
	sizes    map[repo.Path]int64
	shown    *survey.Shown
	audit    *workflow.Audit
	listing  *spec.Listing
	overlaid []spec.Overlaid
	err      error // instead of any of it
	archive  error // instead of the archive
	wrong    bool  // it panics
}

func tell[T any](t *teller, v T) (T, error) {
	if t.wrong {
		panic("a table is empty")
	}
	return v, t.err
}

func (t *teller) Files(context.Context) (*registry.Report, map[repo.Path]int64, error) {
	report, err := tell(t, t.report)
	return report, t.sizes, err
}

func (t *teller) Directories(context.Context) (*survey.Shown, error) { return tell(t, t.shown) }
func (t *teller) Specs(context.Context) (*spec.Listing, error)       { return tell(t, t.listing) }
func (t *teller) State() (board.StateDir, error)                     { return t, nil }
func (t *teller) Audit(context.Context) (*workflow.Audit, error)     { return tell(t, t.audit) }

func (t *teller) Overlays(context.Context) ([]spec.Overlaid, error) { return tell(t, t.overlaid) }

func (t *teller) Get(context.Context) (*workflow.Document, error) {
	return tell(t, workflow.NewDocument())
}

func (t *teller) Archive(context.Context) (*workflow.ArchiveList, error) {
	if t.archive != nil {
		return nil, t.archive
	}
	return tell(t, &workflow.ArchiveList{})
}

func (t *teller) Cleanup(context.Context, workflow.CleanupOptions) (*workflow.Sweep, error) {
	return tell(t, &workflow.Sweep{})
}

// whole is one who knows everything, and has nothing to complain of.
func whole() *teller {
	return &teller{
		report: &registry.Report{State: registry.StateTrust}, shown: &survey.Shown{}, audit: &workflow.Audit{}, listing: &spec.Listing{},
	}
}

func source(t *teller) board.Source {
	return board.Source{Name: "main", Files: t.Files, Directories: t.Directories, State: t.State, Specs: t.Specs}
}

// A part that cannot be read says why, and the others are told; a board that does not
// know something is found wanting.
func TestAPartThatIsNotKnownLeavesTheRest(t *testing.T) {
	bad := &teller{err: &fault.Error{Hint: "mend it", Err: errors.New("it is broken")}}
	parts := map[string]func(*board.Source){
		"files":     func(s *board.Source) { s.Files = bad.Files },
		"survey":    func(s *board.Source) { s.Directories = bad.Directories },
		"state":     func(s *board.Source) { s.State = bad.State },
		"spec":      func(s *board.Source) { s.Specs = bad.Specs },
		"proposals": nil,
	}
	if b := board.Make(t.Context(), "r", []board.Source{source(whole())}, whole().Overlays, nil); b.Wanting() {
		t.Error("a board with nothing to complain of is found wanting")
	}
	for name, spoil := range parts {
		s, over := source(whole()), whole()
		if spoil != nil {
			spoil(&s)
		} else {
			over = bad
		}
		b := board.Make(t.Context(), "r", []board.Source{s}, over.Overlays, nil)
		w := b.Worktrees[0]
		unread := map[string]*board.Unread{
			"files": w.Files.Unknown, "survey": w.Survey.Unknown, "state": w.State.Unknown, "spec": w.Spec.Unknown, "proposals": b.Proposals.Unknown,
		}
		for part, u := range unread {
			if (u != nil) != (part == name) {
				t.Errorf("without %s, %s is %+v", name, part, u)
			}
		}
		if u := unread[name]; u == nil || u.Reason != "it is broken" || u.Hint != "mend it" {
			t.Errorf("%s says %+v", name, u)
		}
		if !b.Wanting() {
			t.Errorf("a board that does not know its %s is not found wanting", name)
		}
	}
}

// One thing that does not hold, or that nobody knows, is enough to be found wanting; what is
// over, or has no text, is not.
func TestOneThingIsEnough(t *testing.T) {
	directory := func(v survey.Verdict) func(*teller) {
		return func(w *teller) { w.shown.Directories = []survey.ShownDirectory{{Verdict: v}} }
	}
	runs := func(state surveyrun.RunState) *board.Part[board.Runs] {
		return board.RunsPart(&board.Runs{Runs: []surveyrun.Run{{State: state}}}, nil)
	}
	for name, c := range map[string]struct {
		spoil   func(*teller)
		runs    *board.Part[board.Runs]
		wanting bool
	}{
		"a text that does not hold":      {spoil: directory(survey.StaleBelow), wanting: true},
		"a text that nobody could judge": {spoil: directory(survey.Unknown), wanting: true},
		"no text":                        {spoil: directory(survey.None)},
		"a file of nobody knows what":    {spoil: func(w *teller) { w.report.Counts.Unknown = 1 }, wanting: true},
		"an entry that is not allowed":   {spoil: func(w *teller) { w.audit.Counts.AdHoc = 1 }, wanting: true},
		"an archive that cannot be read": {spoil: func(w *teller) { w.archive = errors.New("it is broken") }, wanting: true},
		"a worktree that is not read":    {spoil: func(w *teller) { w.overlaid = []spec.Overlaid{{Unknown: []spec.Unknown{{}}}} }, wanting: true},
		"specs that are not all read":    {spoil: func(w *teller) { w.listing.Unknown = []spec.Unknown{{}} }, wanting: true},
		"runs that are not known":        {runs: board.RunsPart(nil, errors.New("it is away")), wanting: true},
		"a run that is paused":           {runs: runs(surveyrun.Paused), wanting: true},
		"a run that is done":             {runs: runs(surveyrun.Done)},
	} {
		w := whole()
		if c.spoil != nil {
			c.spoil(w)
		}
		b := board.Make(t.Context(), "r", []board.Source{source(w)}, w.Overlays, nil)
		b.Runs = c.runs
		if b.Wanting() != c.wanting {
			t.Errorf("%s: %t", name, b.Wanting())
		}
	}
}

// A node whose code is not there is counted, and wants something.
func TestMissingCodeIsCounted(t *testing.T) {
	w := whole()
	here, other := listed("here", "", ""), listed("other", "", "")
	here.Missing = []string{"gone.go", "lost.go"}
	w.listing.Nodes = []spec.Listed{here, other}
	b := board.Make(t.Context(), "r", []board.Source{source(w)}, w.Overlays, nil)
	if n := b.Worktrees[0].Spec.Known.Counts.Missing; n != 1 || !b.Wanting() {
		t.Errorf("%d nodes miss something, wanting: %t", n, b.Wanting())
	}
}

// A mistake of ken's own makes a part unknown, and no more than that.
func TestAPanicIsNotKnowing(t *testing.T) {
	s := source(whole())
	s.Specs = (&teller{wrong: true}).Specs
	b := board.Make(t.Context(), "r", []board.Source{s}, whole().Overlays, nil)
	if u := b.Worktrees[0].Spec.Unknown; u == nil || !strings.Contains(u.Reason, "a table is empty") {
		t.Errorf("it says %+v", u)
	}
	if b.Worktrees[0].Files.Known == nil {
		t.Error("the others are not told")
	}
}

// A worktree that cannot be looked into is on the board, with the reason everywhere.
func TestAWorktreeThatIsAway(t *testing.T) {
	b := board.Make(t.Context(), "r", []board.Source{{Name: "away", Branch: "main", Err: errors.New("it is not there")}}, whole().Overlays, nil)
	w := b.Worktree("away")
	if w.Branch != nil || !w.Head.IsZero() {
		t.Errorf("it is said to be at %s", w.Head)
	}
	for _, u := range []*board.Unread{w.Unknown, w.Files.Unknown, w.Survey.Unknown, w.State.Unknown, w.Spec.Unknown} {
		if u == nil || u.Reason != "it is not there" {
			t.Errorf("it says %+v", u)
		}
	}
	text, err := json.Marshal(b)
	if err != nil || strings.Contains(string(text), `"known":{`) && !strings.Contains(string(text), `"proposals"`) {
		t.Errorf("%s, %v", text, err)
	}
}

func listed(id, parent string, grade fresh.Grade) spec.Listed {
	n := spec.Listed{Described: spec.Described{ID: id}, Status: spec.StatusMerged}
	if parent != "" {
		n.Parent = &parent
	}
	if grade != "" {
		n.Grade, n.Status = &grade, spec.StatusDrift
	}
	return n
}

// Nodes stand as in their tree, and what has moved farthest comes first, with all that
// it stands below. None is lost.
func TestNodesAreInTheOrderOfTheirTree(t *testing.T) {
	w := whole()
	w.listing.Nodes = []spec.Listed{
		listed("root", "", ""), listed("a", "root", ""), listed("a1", "a", ""), listed("b", "root", ""), listed("b1", "b", fresh.GradeInterface),
		listed("ghost", "gone", ""), listed("self", "self", ""),
	}
	b := board.Make(t.Context(), "r", []board.Source{source(w)}, w.Overlays, nil)
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

// A node drifts whatever its status is, and one whose drift is not known is not counted
// among those that do not.
func TestDriftIsCountedWhateverTheStatus(t *testing.T) {
	drift := func(id string, n int, st spec.Status) spec.Listed {
		l := spec.Listed{Described: spec.Described{ID: id}, Status: st, Drift: &n}
		if n < 0 {
			l.Drift = nil
		}
		return l
	}
	w := whole()
	ghost := drift("ghost", -1, spec.StatusActive)
	ghost.Ghost = true
	w.listing.Nodes = []spec.Listed{
		drift("a", 3, spec.StatusDrift), drift("b", 2, spec.StatusActive), drift("c", 0, spec.StatusActive),
		drift("d", -1, spec.StatusActive), drift("e", -1, spec.StatusUnknown), drift("f", 0, spec.StatusMerged), ghost,
	}
	b := board.Make(t.Context(), "r", []board.Source{source(w)}, w.Overlays, nil)
	c := b.Worktrees[0].Spec.Known.Counts
	if c.Drifting != 2 || c.DriftUnknown != 2 || c.Drift != 1 || c.Active != 4 {
		t.Errorf("the counts are %+v", c)
	}
	for _, alone := range []spec.Listed{drift("b", 2, spec.StatusActive), drift("d", -1, spec.StatusActive)} {
		w.listing.Nodes = []spec.Listed{alone}
		if !board.Make(t.Context(), "r", []board.Source{source(w)}, w.Overlays, nil).Wanting() {
			t.Errorf("a board with only %s is not found wanting", alone.ID)
		}
	}
}

// What is said of so many directories is said of those that count, and having a text is
// not the same as having one that holds.
func TestDirectoriesAreTalliedByThoseThatCount(t *testing.T) {
	text := "words"
	w := whole()
	for i, v := range []survey.Verdict{survey.Fresh, survey.Fresh, survey.StaleBelow, survey.None, survey.Excluded, survey.Excluded, survey.Unknown, survey.Unknown} {
		d := survey.ShownDirectory{PathJSON: repo.Path(strings.Repeat("d", i+1)).JSON(), Verdict: v, Outline: i == 1}
		if v == survey.Fresh || v == survey.StaleBelow || i == 7 {
			d.Text = &text
		}
		w.shown.Directories = append(w.shown.Directories, d)
	}
	b := board.Make(t.Context(), "r", []board.Source{source(w)}, w.Overlays, nil)
	if got, want := b.Worktrees[0].Survey.Known.Tally, (board.Tally{Total: 6, Described: 4, Hold: 2, Outlines: 1, Unknown: 1}); got != want {
		t.Errorf("the tally is %+v, want %+v", got, want)
	}
}

// What each of several says of one meeting is told once, and stands at the node.
func TestMeetingsAreToldOnce(t *testing.T) {
	w := whole()
	w.listing.Nodes = []spec.Listed{listed("a", "", "")}
	w.overlaid = []spec.Overlaid{
		{Worktree: "one", Collisions: []spec.CollideJSON{{Node: "a", Kind: spec.OnSpec, With: []string{"two"}, Paths: []string{"p"}}}},
		{Worktree: "two", Collisions: []spec.CollideJSON{{Node: "a", Kind: spec.OnSpec, With: []string{"one"}, Paths: []string{"p", "q"}}}},
	}
	b := board.Make(t.Context(), "r", []board.Source{source(w)}, w.Overlays, nil)
	m := b.Proposals.Known.Meetings
	if len(m) != 1 || !slices.Equal(m[0].Worktrees, []string{"one", "two"}) || !slices.Equal(m[0].Paths, []string{"p", "q"}) {
		t.Errorf("the meetings are %+v", m)
	}
	if n := b.Worktrees[0].Spec.Known.Nodes[0]; len(n.Collisions) != 1 {
		t.Errorf("at the node: %+v", n.Collisions)
	}
	if !b.Wanting() {
		t.Error("a collision is nothing to look at")
	}
}

// The board so far is told part by part, and the last of it is all.
func TestPartsAreToldAsTheyCome(t *testing.T) {
	var told []*board.Board
	b := board.Make(t.Context(), "r", []board.Source{source(whole())}, whole().Overlays, func(so *board.Board) { told = append(told, so) })
	if len(told) != 5 {
		t.Fatalf("it was told %d times", len(told))
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
		if known(so) != i+1 {
			t.Errorf("after %d parts %d are known", i+1, known(so))
		}
	}
	if known(b) != 5 {
		t.Errorf("at the end %d are known", known(b))
	}
}

// Why a directory does not hold is said without the words that only documents use.
func TestReasonsAreInPlainWords(t *testing.T) {
	d := board.Directory{Reasons: []string{"lib is stale-self", "a is stale-below", "x.go is new", "stale-self is new"}}
	if got, want := d.Why(), []string{"lib is stale", "a is stale", "x.go is new", "stale-self is new"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if d.Reasons[0] != "lib is stale-self" {
		t.Error("the document says something else now")
	}
}
