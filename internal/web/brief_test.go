package web

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ken/internal/board"
	"ken/internal/brief"
)

// A page that does not get its brief in time has the address to load it from. A failure is
// shown with its reason.
func TestLateBriefIsLoadedByThePage(t *testing.T) {
	p, err := loadPages()
	if err != nil {
		t.Fatal(err)
	}
	render := func(within time.Duration, read func(context.Context) (*brief.Brief, error)) string {
		f := &pageData{Page: "file", Here: true, Tag: "t1", Tree: &board.Worktree{}}
		b := &fileBody{pathDetails: pathDetails{Path: "a b.go"}}
		b.readBrief(t.Context(), f, within, read)
		f.Body = b
		var out bytes.Buffer
		if err := p.templates["file"].ExecuteTemplate(&out, "content", f); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	late := render(time.Millisecond, func(ctx context.Context) (*brief.Brief, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if want := `data-load="/brief?path=a&#43;b.go&amp;tag=t1"`; !strings.Contains(strings.ReplaceAll(late, "+", "&#43;"), want) {
		t.Errorf("the page has no %s:\n%s", want, late)
	}
	failed := render(time.Hour, func(context.Context) (*brief.Brief, error) { return nil, errors.New("the disk is gone") })
	if strings.Contains(failed, "data-load") || !strings.Contains(failed, "the disk is gone") {
		t.Errorf("the page does not say why there is no brief:\n%s", failed)
	}
	ready := render(time.Hour, func(context.Context) (*brief.Brief, error) {
		return &brief.Brief{Path: "a b.go", Kind: brief.KindFile, Sections: []brief.Section{{Subject: "used by", Verdict: "unknown", Text: "ken cannot tell"}}}, nil
	})
	if strings.Contains(ready, "data-load") || !strings.Contains(ready, "ken cannot tell") {
		t.Errorf("the page does not show the brief:\n%s", ready)
	}
}

// A long list is folded, and a path that git does not track is no link.
func TestBriefSection(t *testing.T) {
	f := &pageData{Here: true, Tree: &board.Worktree{Files: board.Part[board.Files]{Known: &board.Files{MapFiles: []board.MapFile{{Path: "a.go"}}}}}}
	items := []brief.Item{{Path: "a.go"}, {Path: "gone.go"}}
	for range 40 {
		items = append(items, brief.Item{Path: "a.go"})
	}
	s := f.briefSection(brief.Section{Subject: "used by 42 files", Verdict: "fresh", Text: "lines", Items: items}, "x.go")
	if len(s.Rows) != rowsShown || len(s.Rows)+len(s.Rest) != len(items) {
		t.Errorf("%d rows are shown and %d folded, want %d of %d shown", len(s.Rows), len(s.Rest), rowsShown, len(items))
	}
	if s.Title != "Used by 42 files" || s.Text != "" || s.Verdict != "" {
		t.Errorf("the section is %q %q %q", s.Title, s.Text, s.Verdict)
	}
	if got := s.Rows[0].Page; got != "/file?path=a.go" {
		t.Errorf("a tracked file leads to %q", got)
	}
	if got := s.Rows[1].Page; got != "" {
		t.Errorf("a file that git does not track leads to %q", got)
	}
	uses := f.briefSection(brief.Section{Subject: "uses 1 file", Items: []brief.Item{{Path: "a.go", Lines: []int{3}, Names: []string{"A", "B", "C", "D", "E", "F", "G"}}}}, "x.go").Rows[0]
	if len(uses.Shown()) != 0 || len(uses.FirstNames()) != rowNames || uses.OtherNames() != 2 {
		t.Errorf("a used file has lines %v and names %v and %d more; want no lines of another file, and 2 more names", uses.Shown(), uses.FirstNames(), uses.OtherNames())
	}
	for subject, want := range map[string]string{"used by 2 files": "brief-used-by", "symbols, most used first": "brief-symbols", "last commits (without 3)": "brief-last-commits"} {
		if got := sectionID(subject); got != want {
			t.Errorf("the id of %q is %q, want %q", subject, got, want)
		}
	}
}

// Patches beyond the limit are cut with a count.
func TestPatchLinesAreCut(t *testing.T) {
	lines, cut := patchLines("diff --git a b\n@@ -1 +1 @@\n-a\n+b\n c\n", 4)
	if len(lines) != 4 || cut != 1 || lines[2].Kind != "minus" || lines[3].Kind != "plus" {
		t.Errorf("the lines are %v, %d cut; want 4 lines and 1 cut", lines, cut)
	}
}
