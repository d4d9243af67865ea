package prove

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"ken/internal/fresh"
	"ken/internal/repo"
)

func id(t *testing.T, digit string) repo.ID {
	t.Helper()
	id, err := repo.ParseID(strings.Repeat(digit, 40))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func file(t *testing.T, digit string, size int64) File {
	t.Helper()
	return File{ID: id(t, digit), Size: size, Counts: true}
}

// change returns the change of a file that counts, from one content to another.
func change(t *testing.T, p repo.Path, from, to string, grade fresh.Grade) Change {
	t.Helper()
	return Change{Path: p, Old: file(t, from, 400), New: file(t, to, 400), Grade: grade}
}

func TestReplayByHand(t *testing.T) {
	h := History{
		Before: []Entry{{"a/x.go", file(t, "1", 400)}, {"a/y.go", file(t, "2", 40_000)}, {"z.md", file(t, "3", 80)}},
		Commits: []Commit{
			{Subject: "one", Changes: []Change{change(t, "a/x.go", "1", "4", fresh.GradeBody)}},
			{Subject: "back", Changes: []Change{change(t, "a/x.go", "4", "1", fresh.GradeBody)}},
			{Subject: "spaces", Changes: []Change{change(t, "a/x.go", "1", "5", fresh.GradeFormat)}},
			{Subject: "nothing"},
		},
	}
	r := Replay(h, Options{})
	one := Outcome{Subject: "one", Texts: 5, Grades: Grades{Body: 1}, StaleFiles: 1, ByChecksum: 1, StaleSelf: 1, StaleBelow: 1}
	if got := r.History[0]; got != one {
		t.Errorf("one\n got %+v\nwant %+v", got, one)
	}
	for i, name := range []string{"back", "spaces", "nothing"} {
		if got := r.History[i+1]; !got.Valid() {
			t.Errorf("%s: %+v, want a commit that makes nothing stale", name, got)
		}
	}
	if r.Commits.Valid != 3 || r.Commits.Replayed != 4 {
		t.Errorf("commits: %+v, want 3 valid of 4", r.Commits)
	}
	// The first commit made one of three files stale, and both directories.
	if l := r.Lifetimes.Files; l.Texts != 3 || l.Stale != 1 || l.HalfStaleAfter != nil || *l.FreshPercent != 66 {
		t.Errorf("file summaries: %+v", l)
	}
	if l := r.Lifetimes.Directories; l.Texts != 2 || l.Stale != 2 || l.HalfStaleAfter == nil || *l.HalfStaleAfter != 1 || *l.FreshPercent != 0 {
		t.Errorf("directory summaries: %+v", l)
	}
}

// A deleted file is not stale, and a moved one keeps its summary: neither makes summaries look
// shorter-lived, nor does a deletion make them look longer-lived.
func TestLifetimesOfDeletedAndMovedFiles(t *testing.T) {
	h := History{
		Before: []Entry{{"a.go", file(t, "1", 9)}, {"b.go", file(t, "2", 9)}, {"c.go", file(t, "3", 9)}, {"d.go", file(t, "4", 9)}},
		Commits: []Commit{
			{Changes: []Change{{Path: "a.go", Old: file(t, "1", 9)}, {Path: "b.go", Old: file(t, "2", 9)}}},
			{Changes: []Change{{Path: "c.go", Old: file(t, "3", 9)}, {Path: "e.go", New: file(t, "3", 9)}}},
			{Changes: []Change{change(t, "e.go", "3", "5", fresh.GradeInterface)}},
			{Changes: []Change{change(t, "e.go", "5", "6", fresh.GradeInterface)}},
		},
	}
	l := Replay(h, Options{}).Lifetimes.Files
	if l.Texts != 4 || l.Stale != 1 || l.HalfStaleAfter == nil || *l.HalfStaleAfter != 3 || *l.FreshPercent != 50 {
		t.Errorf("%+v: want 1 of the 2 files that stayed stale after commit 3", l)
	}
}

// A summary of a file that was added later counts from then on.
func TestLifetimesOfAddedFiles(t *testing.T) {
	l := Replay(History{Commits: []Commit{
		{Changes: []Change{{Path: "a/x.go", New: file(t, "1", 9)}}},
		{},
		{Changes: []Change{{Path: "a/y.go", New: file(t, "2", 9)}}},
		{Changes: []Change{change(t, "a/x.go", "1", "3", fresh.GradeBody)}},
	}}, Options{}).Lifetimes
	// x became stale after 3 commits, when y was no longer followed.
	if f := l.Files; f.Texts != 2 || f.Stale != 1 || f.HalfStaleAfter == nil || *f.HalfStaleAfter != 3 || *f.FreshPercent != 0 {
		t.Errorf("file summaries: %+v, half %v, hold %v", f, f.HalfStaleAfter, f.FreshPercent)
	}
	// Both directories became stale after 2 commits.
	if d := l.Directories; d.Texts != 2 || d.Stale != 2 || d.HalfStaleAfter == nil || *d.HalfStaleAfter != 2 {
		t.Errorf("directory summaries: %+v, half %v", d, d.HalfStaleAfter)
	}
}

func TestLifetimeOfNothing(t *testing.T) {
	l := Replay(History{Commits: []Commit{{}}, Followed: 1}, Options{}).Lifetimes
	if l.Files.FreshPercent != nil || l.Files.HalfStaleAfter != nil || l.Mentions.FreshPercent != nil {
		t.Errorf("%+v: want null figures where there is no text", l)
	}
}

// A commit whose contents git lacks is in no figure, and does not count as one without stale summaries.
func TestUnknownCommits(t *testing.T) {
	gone := File{ID: id(t, "6"), Counts: true, Absent: true}
	r := Replay(History{
		Before: []Entry{{"a/x.go", gone}, {"b/y.go", file(t, "1", 400)}},
		Commits: []Commit{
			{Changes: []Change{change(t, "b/y.go", "1", "2", fresh.GradeBody)}},
			{Changes: []Change{{Path: "a/z.go", New: gone}}},
			{Changes: []Change{{Path: "a/x.go", Old: gone}}},
		},
	}, Options{})
	if c := r.Commits; c.Replayed != 1 || c.Unknown != 2 || c.Valid != 0 {
		t.Errorf("%+v: want 1 replayed, 2 unknown, none valid", c)
	}
	if r.PerCommit.StaleSelf.Total != 1 {
		t.Errorf("%+v: want one stale directory", r.PerCommit)
	}
}

func TestTasks(t *testing.T) {
	isCode := func(p repo.Path) bool { return strings.HasSuffix(string(p), ".go") }
	commit := func(subject string, changes ...Change) Commit {
		return Commit{ID: id(t, "a"), Parent: id(t, "b"), Subject: subject, Task: subject, Changes: changes}
	}
	edit := change(t, "x.go", "1", "2", fresh.GradeBody)
	many := make([]Change, 9)
	for i := range many {
		many[i] = change(t, repo.Path("f"+string(rune('a'+i))+".go"), "1", "2", fresh.GradeBody)
	}
	first := commit("the first commit there is", edit)
	first.Parent = repo.ID{}
	h := History{Commits: []Commit{
		first,
		commit("parse an empty header (#12)", edit, change(t, "notes.md", "1", "2", fresh.GradeContent), Change{Path: "new.go", New: file(t, "3", 9)}),
		commit("Merge branch of somebody", edit),
		commit("Revert a change of yesterday", edit),
		commit("v1.2.3 is out now", edit),
		commit("two words", edit),
		commit("only add a file", Change{Path: "new.go", New: file(t, "3", 9)}),
		commit("rename it all over", many...),
		commit("delete what nobody calls", Change{Path: "old.go", Old: file(t, "3", 9)}),
	}}
	tasks := Tasks(h, isCode)
	if len(tasks) != 2 {
		t.Fatalf("%d tasks, want 2: %+v", len(tasks), tasks)
	}
	if task := tasks[1]; task.Query != "parse an empty header" || !slices.Equal(task.Files, []repo.Path{"x.go"}) || task.Tree != id(t, "b") {
		t.Errorf("%+v: want the subject without its number, and the code file that was there before", task)
	}
	if task := tasks[0]; !slices.Equal(task.Files, []repo.Path{"old.go"}) {
		t.Errorf("%+v: want the deleted file, of the newest commit first", task)
	}
	h.Commits = nil
	for i := range 5 * SampledTasks {
		h.Commits = append(h.Commits, commit(strings.Repeat("words ", 3+i), edit))
	}
	tasks = Tasks(h, isCode)
	if len(tasks) != SampledTasks {
		t.Fatalf("%d tasks, want %d", len(tasks), SampledTasks)
	}
	if newest, oldest := len(strings.Fields(tasks[0].Query)), len(strings.Fields(tasks[SampledTasks-1].Query)); newest != 5*SampledTasks+2 || oldest > 10 {
		t.Errorf("tasks of commits %d to %d, want them spread over all commits", oldest, newest)
	}
}

func TestFindResult(t *testing.T) {
	var f FindResult
	f.Add(Task{Files: []repo.Path{"a", "b"}}, []repo.Path{"b", "x", "a"}, []repo.Path{"x", "a"})
	f.Add(Task{Files: []repo.Path{"c"}}, nil, []repo.Path{"c"})
	if want := (FindResult{Commits: 2, Files: 3, Ken: SearchResult{2, 1}, Text: SearchResult{2, 1}}); f != want {
		t.Errorf("got %+v, want %+v", f, want)
	}
}

// The sentences name existing figures, and say unknown if there are none.
func TestVerdict(t *testing.T) {
	r := Replay(History{Before: []Entry{{"x.go", file(t, "1", 9)}}, Commits: []Commit{{Changes: []Change{change(t, "x.go", "1", "2", fresh.GradeBody)}}}}, Options{})
	r.SetVerdict()
	for i, want := range []string{"Unknown: ", "After 1 commit, 0% of file summaries and 0% of directory summaries still hold.", "Unknown: "} {
		if !strings.HasPrefix(r.Verdict[i], want) {
			t.Errorf("sentence %d: %q, want %q", i+1, r.Verdict[i], want)
		}
	}
	r.Find = &FindResult{Commits: 2, Files: 3, Ken: SearchResult{2, 1}, Text: SearchResult{1, 1}}
	r.Briefs = &Briefs{Directories: NewBriefSize([]int64{300, 100, 200}, []int64{4000, 9000, 5000})}
	r.SetVerdict()
	if !strings.Contains(r.Verdict[0], "67% of the files") || !strings.Contains(r.Verdict[0], "text search 33%") {
		t.Errorf("%q: want 67%% and 33%%", r.Verdict[0])
	}
	if !strings.Contains(r.Verdict[2], "200 tokens") || !strings.Contains(r.Verdict[2], "25 times") {
		t.Errorf("%q: want 200 tokens and 25 times", r.Verdict[2])
	}
	empty := Replay(History{}, Options{})
	if empty.SetVerdict(); len(empty.Verdict) != 0 {
		t.Errorf("%q about no commits", empty.Verdict)
	}
}

func TestDistribution(t *testing.T) {
	var list []Outcome
	for i := 1; i <= 10; i++ {
		list = append(list, Outcome{StaleFiles: i}, Outcome{StaleFiles: 1000, Unknown: true})
	}
	of := func(o *Outcome) int { return o.StaleFiles }
	if got := spread(list, of); got != (Distribution{5, 9, 10, 55}) {
		t.Errorf("spread of 1 to 10 returned %v; want 5, 9, 10, 55", got)
	}
	if got := spread(list[:1], of); got != (Distribution{1, 1, 1, 1}) {
		t.Errorf("spread of one outcome returned %v; want 1, 1, 1, 1", got)
	}
	if got := spread(list[1:2], of); got != (Distribution{}) {
		t.Errorf("spread of an unknown outcome returned %v; want zeros", got)
	}
}

// A plot is valid XML for any commit subjects, and the same each time.
func TestPlot(t *testing.T) {
	for _, n := range []int{0, 1, 3, 700} {
		h := History{}
		for i := range n {
			h.Commits = append(h.Commits, Commit{
				Subject: "</title><script>\x00\x1b \xff & \u202e",
				Changes: []Change{{Path: "x", New: File{ID: id(t, string("123456789"[i%9])), Counts: true, Absent: i%5 == 4}}},
			})
		}
		r := Replay(h, Options{})
		var first, second bytes.Buffer
		if err := errors.Join(Plot(&first, r), Plot(&second, r)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%d commits: two plots differ", n)
		}
		if bytes.Contains(first.Bytes(), []byte("<script")) {
			t.Errorf("%d commits: a subject became markup", n)
		}
		if first.Len() > 200_000 {
			t.Errorf("%d commits: %d bytes", n, first.Len())
		}
		for d := xml.NewDecoder(&first); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%d commits: %v", n, err)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for top, want := range map[int64]int64{1: 1, 5: 1, 6: 2, 27: 5, 28: 5, 54_000_000: 10_000_000} {
		if got := tick(top); got != want {
			t.Errorf("tick(%d) = %d, want %d", top, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 9_999: "9999", 12_600: "13k", 1_000_000: "1M", 5_620_000: "5.6M", 53_884_152: "54M", 20_000_000_000: "20G"} {
		if got := short(n); got != want {
			t.Errorf("short(%d) = %s, want %s", n, got, want)
		}
	}
}
