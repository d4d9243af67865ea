package attention_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ken/internal/attention"
	"ken/internal/board"
	"ken/internal/contract"
	"ken/internal/docs"
	"ken/internal/docs/mention"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/surveyrun"
	"ken/internal/workflow"
)

// A day on which everything in these tests changed.
var day = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func read[T any](v T) board.Part[T] { return board.Part[T]{Known: &v} }

// boardOf returns a board with nothing but a worktree.
func boardOf(w board.Worktree) *board.Board { return &board.Board{Worktrees: []board.Worktree{w}} }

// oneOfEach returns a board with one problem of each kind.
func oneOfEach() *board.Board {
	drift := 5
	stamp := day.Format(time.RFC3339Nano)
	mention := docs.CheckedMention{
		Mention: mention.Mention{File: "docs/guide.md", Line: 7, Text: "`old.go`", Name: "old.go"},
		Verdict: docs.Moved, To: "new.go", ExistedThen: true, Since: &docs.Commit{ID: id(2), Date: "2026-03-04T05:06:07Z", Subject: "rename it"},
	}
	w := board.Worktree{
		Files: read(board.Files{
			Unknown: []registry.FileState{
				{PathJSON: repo.Path("locked.go").JSON(), Reason: "permission denied", Summary: fresh.Stale},
			},
			Stale: []registry.FileState{
				{PathJSON: repo.Path("main.go").JSON(), Content: registry.Comparison{State: fresh.Stale}, Summary: fresh.Stale, Grade: fresh.GradeBody},
			},
			RenamedFrom: read(map[repo.Path]repo.Path{"main.go": "old.go"}),
		}),
		Survey: read(board.Survey{Summaries: survey.DirCounts{
			NeedAttention: []survey.StaleDirectory{
				{PathJSON: repo.Path("internal").JSON(), Verdict: fresh.StaleSelf.Verdict(), Reasons: []string{"a.go changed"}},
				{PathJSON: repo.Path("tools").JSON(), Verdict: fresh.Failed.Verdict(), Reasons: []string{"refused"}},
			},
			Failed: []survey.StaleDirectory{{PathJSON: repo.Path("tools").JSON(), Verdict: fresh.Failed.Verdict(), Reasons: []string{"refused"}}},
		}}),
		Documents: read(board.Documents{Report: &docs.Report{Mentions: []docs.CheckedMention{mention}}}),
		Spec: read(board.Spec{Gate: 3, Nodes: []board.Node{
			{ListedSpec: spec.ListedSpec{NodeJSON: spec.NodeJSON{ID: "parser"}, Drift: &drift, DriftFiles: []spec.DriftFile{{File: "main.go", Behind: 5}}}},
			{ListedSpec: spec.ListedSpec{NodeJSON: spec.NodeJSON{ID: "lost"}, Missing: []string{"gone/"}}},
		}}),
		State: read(board.State{
			Buckets: []board.Bucket{
				{Name: contract.AdHoc, Entries: []workflow.AuditEntry{{Name: workflow.Name{Name: "notes.md"}, MTime: &stamp}}},
				{Name: contract.Ephemeral, Entries: []workflow.AuditEntry{{Name: workflow.Name{Name: "x.tmp"}}}},
				{Name: contract.Canonical, Entries: []workflow.AuditEntry{{Name: workflow.Name{Name: "workflow.yaml"}}}},
			},
			Workflow: board.Part[workflow.Document]{Unknown: &fault.Unknown{What: "workflow", Why: "the contract cannot be read"}},
		}),
		Ignored: read([]share.Ignored{{Remote: "origin", Records: []share.Untrusted{
			{Committer: "Eve <eve@example.org>", Reason: "committer not in share.authors", At: day},
			{Committer: "Eve <eve@example.org>", Reason: "committer not in share.authors", At: day.Add(-time.Hour)},
		}}}),
		Changes: map[repo.Path]board.Change{"main.go": {Commit: id(1), Subject: "edit", At: day}},
	}
	runs := read(board.Runs{Runs: []surveyrun.Run{
		{State: surveyrun.Incomplete, Dead: []surveyrun.Dead{{PathJSON: repo.Path("web").JSON(), Run: 7, Attempts: 3, Error: "timeout", At: day}}},
		{State: surveyrun.Cancelled, Dead: []surveyrun.Dead{{PathJSON: repo.Path("other").JSON(), Run: 6}}},
	}})
	collision := board.Collision{Node: "parser", Kind: spec.OnSpec, Worktrees: []string{"a", "b", "c"}, Paths: []string{".spec/parser/spec.md"}}
	b := boardOf(w)
	b.Proposals = read(board.Proposals{Meetings: []board.Collision{collision}})
	b.Runs = &runs
	return b
}

func id(n byte) repo.ID {
	id, err := repo.ParseID(strings.Repeat("0"+string('0'+n), 20))
	if err != nil {
		panic(err)
	}
	return id
}

// The list has every kind in the order of importance, and each item has a reason and a
// command.
func TestList(t *testing.T) {
	var got []string
	for _, it := range attention.List(oneOfEach()) {
		if it.Why == "" || it.Command == "" {
			t.Errorf("%s %s has no reason or no command: %+v", it.Word, it.Subject, it)
		}
		got = append(got, string(it.Kind)+" "+it.Word+" "+it.Subject+": "+it.Command)
	}
	want := []string{
		"stale stale main.go: ken summary diff main.go",
		"stale stale internal: ken summary diff internal",
		"mention moved docs/guide.md:7: ken docs --fix docs/guide.md",
		"drift drift parser: ken spec drift parser --patch",
		"broken broken lost: ken spec lint",
		"collision collides parser: ken spec overlay",
		"foreign foreign notes.md: ken state cleanup",
		"foreign leftover x.tmp: ken state cleanup",
		"failed failed tools: ken survey run tools",
		"failed failed web: ken worker retry 7",
		"untrusted ignored Eve <eve@example.org>: ken share status origin",
		"unknown unknown locked.go: ken status locked.go",
		"unknown unknown workflow: ken state get",
	}
	if !slices.Equal(got, want) {
		t.Errorf("list:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each kind says why and since when.
func TestReasons(t *testing.T) {
	commit := board.Change{Commit: id(1), Subject: "edit", At: day}
	want := []struct {
		subject, why string
		since        board.Change
	}{
		{"main.go", "renamed from old.go; edited since the summary was written: body", commit},
		{"internal", "its own files changed since the summary was written: a.go changed", board.Change{}},
		{"docs/guide.md:7", "mentions `old.go`, moved to new.go since " + id(2).Short() + ` "rename it"`, board.Change{Commit: id(2), Subject: "rename it", At: day}},
		{"parser", "5 commits to its files since it was edited or acknowledged; the gate blocks at 3", commit},
		{"lost", "it governs files that do not exist: gone/", board.Change{}},
		{"parser", "worktrees a, b and c change its spec: .spec/parser/spec.md", board.Change{}},
		{"notes.md", "the contract does not allow this name in the state directory", board.Change{At: day}},
		{"x.tmp", "a temporary file in the state directory", board.Change{}},
		{"tools", "ken could not describe it: refused", board.Change{}},
		{"web", "the workers of run 7 gave up after 3 attempts: timeout", board.Change{At: day}},
		{"Eve <eve@example.org>", "2 records from origin not used: committer not in share.authors; in .ken/config.yaml, trust them (share.authors) or refuse them for good (share.refuse: [\"eve@example.org\"])", board.Change{At: day.Add(-time.Hour)}},
		{"locked.go", "permission denied", board.Change{}},
		{"workflow", "the contract cannot be read", board.Change{}},
	}
	list := attention.List(oneOfEach())
	if len(list) != len(want) {
		t.Fatalf("%d items, want %d", len(list), len(want))
	}
	for i, w := range want {
		if it := list[i]; it.Subject != w.subject || it.Why != w.why || it.Since != w.since {
			t.Errorf("item %d: %q %q %+v, want %q %q %+v", i, it.Subject, it.Why, it.Since, w.subject, w.why, w.since)
		}
	}
}

// Nothing to report gives an empty list, and so do parts that were not read yet.
func TestListOfNothing(t *testing.T) {
	w := board.Worktree{
		Files: read(board.Files{}), Survey: read(board.Survey{}), State: read(board.State{}), Spec: read(board.Spec{}),
		Documents: read(board.Documents{Report: &docs.Report{}}), Ignored: read([]share.Ignored{}),
	}
	b := boardOf(w)
	b.Proposals = read(board.Proposals{})
	if list := attention.List(b); len(list) > 0 {
		t.Errorf("%+v, want no items", list)
	}
	if list := attention.List(boardOf(board.Worktree{})); len(list) > 0 {
		t.Errorf("of an empty board: %+v, want no items", list)
	}
}

// A part of the board that could not be read is an item, with the command of its hint.
func TestUnreadPart(t *testing.T) {
	w := board.Worktree{Spec: board.Part[board.Spec]{Unknown: &fault.Unknown{What: "specs", Why: "no main branch", Command: "name it with: git branch main"}}}
	list := attention.List(boardOf(w))
	if len(list) != 1 || list[0].Kind != attention.Unknown || list[0].Subject != "specs" || list[0].Command != "git branch main" {
		t.Errorf("%+v, want one unknown item about specs with the command git branch main", list)
	}
}

// A failed directory is asked about again with the provider that failed.
func TestFailedNamesProvider(t *testing.T) {
	w := board.Worktree{Survey: read(board.Survey{Summaries: survey.DirCounts{Failed: []survey.StaleDirectory{
		{PathJSON: repo.Path("tools").JSON(), Verdict: fresh.Failed.Verdict(), Reasons: []string{"ask command/sh: exit status 7"}},
	}}})}
	got := attention.List(boardOf(w))[0].Command
	if want := "ken survey run tools --provider command"; got != want {
		t.Errorf("the command is %q, want %q", got, want)
	}
}

// Directories come before their parents, which can only be settled after them.
func TestDirectoriesBeforeParents(t *testing.T) {
	var wanting []survey.StaleDirectory
	for _, p := range []repo.Path{".", "a", "a/b", "c"} {
		wanting = append(wanting, survey.StaleDirectory{PathJSON: p.JSON(), Verdict: fresh.StaleBelow.Verdict()})
	}
	var got []string
	w := board.Worktree{Survey: read(board.Survey{Summaries: survey.DirCounts{NeedAttention: wanting}})}
	for _, it := range attention.List(boardOf(w)) {
		got = append(got, it.Subject)
	}
	if want := []string{"a/b", "a", "c", "."}; !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
}

// An item about a document that could not be read names it and the reason.
func TestUnreadDocument(t *testing.T) {
	w := board.Worktree{Documents: read(board.Documents{Report: &docs.Report{Unread: []docs.Unread{
		{File: "docs/big.md", Why: "not checked: permission denied"},
		{File: "big.md", Why: "not checked: too large"},
	}}})}
	for i, want := range []string{"docs/big.md: not checked: permission denied", "big.md: not checked: too large"} {
		if got := attention.List(boardOf(w))[i].Why; got != want {
			t.Errorf("the reason is %q, want %q", got, want)
		}
	}
}

// If ken cannot tell which files were renamed, the stale files are listed all the same. An unreadable workflow document
// names the command that prints what can be done.
func TestPartOfPartThatCannotBeRead(t *testing.T) {
	unread := func(what string) *fault.Unknown {
		return &fault.Unknown{What: what, Why: "it is broken", Command: "mend it with: ken state restore"}
	}
	w := board.Worktree{
		Files: read(board.Files{
			Stale:       []registry.FileState{{PathJSON: repo.Path("main.go").JSON(), Content: registry.Comparison{State: fresh.Stale}, Summary: fresh.Stale}},
			RenamedFrom: board.Part[map[repo.Path]repo.Path]{Unknown: unread("files")},
		}),
		State: read(board.State{Workflow: board.Part[workflow.Document]{Unknown: unread("workflow")}}),
	}
	var got []string
	for _, it := range attention.List(boardOf(w)) {
		got = append(got, it.Subject+": "+it.Command)
	}
	want := []string{"main.go: ken summary diff main.go", "files: ken state restore", "workflow: ken state get"}
	if !slices.Equal(got, want) {
		t.Errorf("the items are %q, want %q", got, want)
	}
}
