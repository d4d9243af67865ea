package web

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"ken/internal/attention"
	"ken/internal/board"
	"ken/internal/docs"
	"ken/internal/docs/mention"
	"ken/internal/fault"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/spec"
	"ken/internal/survey"
)

// read returns a part that was read.
func read[T any](v T) board.Part[T] { return board.Part[T]{Known: &v} }

// homeOf serves a worktree and returns its home page.
func homeOf(t *testing.T, w board.Worktree) string {
	t.Helper()
	w.Name = "here"
	deps := Deps{
		Worktrees: func(context.Context) ([]Worktree, error) {
			return []Worktree{{Name: "here", Here: true, IsStartDir: true}}, nil
		},
		Fingerprint: func(context.Context) (Fingerprint, error) { return "1", nil },
		Board: func(context.Context, string, func(*board.Board)) (*board.Board, error) {
			return &board.Board{Repository: "sample", Worktrees: []board.Worktree{w}, Proposals: read(board.Proposals{})}, nil
		},
	}
	s := serve(t, deps, defaultLimits)
	status, page := s.asks(http.MethodGet, "/", "")
	for range 50 { // the first answer may come before the board
		if strings.Contains(page, `data-tag="`) && !strings.Contains(page, `data-tag=""`) && !strings.Contains(page, `id="late"`) {
			break
		}
		status, page = s.asks(http.MethodGet, "/", "")
	}
	if status != http.StatusOK {
		t.Fatalf("the home page answers %d:\n%s", status, page)
	}
	return page
}

// empty is a worktree that has nothing to report.
func empty() board.Worktree {
	return board.Worktree{
		Files: read(board.Files{State: registry.StateTrust}), Survey: read(board.Survey{}), State: read(board.State{}), Spec: read(board.Spec{Gate: 3}),
		Documents: read(board.Documents{Report: &docs.Report{}}),
	}
}

// The home page lists at most 20 items of a kind, and says how many more there are.
func TestHomeListsFewItemsOfEachKind(t *testing.T) {
	w := empty()
	drift := 7
	specs := board.Spec{Gate: 3}
	for i := range 4000 {
		n := board.Node{ListedSpec: spec.ListedSpec{NodeJSON: spec.NodeJSON{ID: fmt.Sprintf("node%d", i)}, Drift: &drift}}
		if i%2 == 0 {
			n.Missing = []string{"gone/"}
		}
		specs.Nodes = append(specs.Nodes, n)
	}
	w.Spec = read(specs)
	page := homeOf(t, w)
	for kind, more := range map[string]int{"drift": 3980, "broken": 1980} {
		if n := strings.Count(page, `class="item k-`+kind+`"`); n != maxItems {
			t.Errorf("%d items of kind %s, want %d", n, kind, maxItems)
		}
		if want := fmt.Sprintf(">%d more</a>", more); !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if !strings.Contains(page, `<span class="n-count">6000</span>`) {
		t.Error("the heading does not have the number of all items")
	}
	if len(page) > 100_000 {
		t.Errorf("the page has %d bytes, want at most 100000", len(page))
	}
}

// In a repository without summaries, the home page shows the first three steps.
func TestHomeShowsFirstSteps(t *testing.T) {
	w := empty()
	w.Files = read(board.Files{Counts: registry.Counts{Files: 2, None: 2}, MapFiles: []board.MapFile{{Path: ".gitignore"}, {Path: "README.md"}}})
	page := homeOf(t, w)
	for _, want := range []string{"Nothing needs attention.", "First steps", "ken summary set README.md -m TEXT", ">ken up<", ">ken install claude<"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	w.Survey = read(board.Survey{Summaries: survey.DirCounts{Directories: 1, Fresh: 1}})
	if page := homeOf(t, w); strings.Contains(page, "First steps") {
		t.Error("the page shows the first steps although a summary exists")
	}
}

// A part that is still being read is named, and one that could not be read is an item.
func TestHomeNamesMissingParts(t *testing.T) {
	w := empty()
	w.Documents = board.Part[board.Documents]{}
	w.Spec = board.Part[board.Spec]{Unknown: &fault.Unknown{What: "specs", Why: "no <b>main</b> branch"}}
	page := homeOf(t, w)
	for _, want := range []string{"ken is still reading documents.", `class="item k-unknown"`, "no &lt;b&gt;main&lt;/b&gt; branch", "ken spec ls"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "Nothing needs attention") {
		t.Error("the page says that nothing needs attention before everything was read")
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		before time.Duration
		want   string
	}{
		{0, "just now"},
		{-time.Hour, "just now"},
		{time.Minute, "1 minute ago"},
		{59 * time.Minute, "59 minutes ago"},
		{25 * time.Hour, "25 hours ago"},
		{72 * time.Hour, "3 days ago"},
		{70 * 24 * time.Hour, "2 months ago"},
		{1000 * 24 * time.Hour, "2 years ago"},
	} {
		if got := ago(now.Add(-c.before), now); got != c.want {
			t.Errorf("%v before: %q, want %q", c.before, got, c.want)
		}
	}
	if got := ago(time.Time{}, now); got != "" {
		t.Errorf("an unknown time is %q, want nothing", got)
	}
}

// An item keeps its element while its reason changes, and two items never share one.
func TestItemID(t *testing.T) {
	f := &pageData{Tree: &board.Worktree{}, Here: true}
	a := f.homeItem(itemAbout("a.go", "edited"), time.Time{})
	again := f.homeItem(itemAbout("a.go", "renamed"), time.Time{})
	other := f.homeItem(itemAbout("b.go", "edited"), time.Time{})
	if a.ID != again.ID || a.ID == other.ID {
		t.Errorf("ids %s, %s and %s; want the first two to be equal and the third another", a.ID, again.ID, other.ID)
	}
}

func itemAbout(path repo.Path, why string) attention.Item {
	return attention.Item{Kind: attention.Stale, Word: "stale", Subject: path.String(), Path: path, Why: why, Command: "ken summary diff " + string(path)}
}

// The tag of a board changes with everything that the home page shows besides the JSON.
func TestTagCoversHome(t *testing.T) {
	tag := func(change func(*board.Worktree)) string {
		t.Helper()
		b := newBoardCache(Deps{Board: func(context.Context, string, func(*board.Board)) (*board.Board, error) {
			w := empty()
			w.Name = "w"
			change(&w)
			return &board.Board{Worktrees: []board.Worktree{w}}, nil
		}})
		v, err := b.build("w", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return v.tag
	}
	same := tag(func(*board.Worktree) {})
	documents := func(mentions ...docs.CheckedMention) board.Part[board.Documents] {
		return read(board.Documents{Report: &docs.Report{Mentions: mentions}})
	}
	for what, change := range map[string]func(*board.Worktree){
		"a stale mention": func(w *board.Worktree) {
			w.Documents = documents(docs.CheckedMention{Mention: mention.Mention{File: "a.md", Line: 1}, Verdict: docs.Gone, ExistedThen: true})
		},
		"unread documents": func(w *board.Worktree) {
			w.Documents = board.Part[board.Documents]{Unknown: &fault.Unknown{Why: "no history"}}
		},
		"an ignored record": func(w *board.Worktree) {
			w.Ignored = read([]share.Ignored{{Remote: "origin", Records: []share.Untrusted{{Committer: "Eve"}}}})
		},
		"the time of an edit": func(w *board.Worktree) {
			w.Changes = map[repo.Path]board.Change{"a.go": {At: time.Unix(1, 0)}}
		},
	} {
		if tag(change) == same {
			t.Errorf("the board has %s, but the tag is that of one without", what)
		}
	}
}

// Two mentions on one line of a document have elements of their own.
func TestMentionsOnOneLine(t *testing.T) {
	w := empty()
	stale := func(name string) docs.CheckedMention {
		return docs.CheckedMention{Mention: mention.Mention{File: "a.md", Line: 3, Text: name, Name: name}, Verdict: docs.Gone, ExistedThen: true}
	}
	w.Documents = read(board.Documents{Report: &docs.Report{Mentions: []docs.CheckedMention{stale("x.go"), stale("y.go")}}})
	page := homeOf(t, w)
	ids := regexp.MustCompile(`id="(item-[0-9a-f]+)"`).FindAllStringSubmatch(page, -1)
	if len(ids) != 2 || ids[0][1] == ids[1][1] {
		t.Errorf("the items are %q, want two with different ids", ids)
	}
	if !strings.Contains(page, "name=x.go") || !strings.Contains(page, "name=y.go") {
		t.Error("the links to the lines do not name the mentions")
	}
}
