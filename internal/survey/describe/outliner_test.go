package describe

import (
	"context"
	"strings"
	"testing"

	"ken/internal/repo"
)

// outlineLinesOf outlines a directory that describes itself and has children.
func outlineLinesOf(t *testing.T, dir repo.Path, own string, children ...Child) []string {
	t.Helper()
	it := &Item{Path: dir, Own: SelfDescription{Text: own}, Children: children}
	d, err := Outliner{}.Write(context.Background(), it)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(d.Text, "\n")
}

func lines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Children are listed by priority. A directory that only leads to another one quotes it.
func TestChildrenInOrder(t *testing.T) {
	child := func(path repo.Path, text string) Child { return Child{Path: path, Status: ChildSummary, Text: text} }
	lines(t, "order", outlineLinesOf(t, "", "The README speaks.",
		child(".github", "Hidden."), child("docs", "Explains all. And more."), child("gen", "Makes it.\n- a.go: A is one"), child("src", "The README speaks.\n- b.go: B is one"),
		child("tests", "Tries it."), child("mute", ""), Child{Path: "old", Status: ChildStale, Text: "Was good."}),
		"The README speaks.", "- gen/: Makes it.", "- old/: (stale) Was good.", "- docs/: Explains all.", "- tests/: Tries it.", "- .github/: Hidden.")
	lines(t, "leads", outlineLinesOf(t, "src", "", child("src/main", "Leads to java/: Routes orders."), child("src/test", "Tries it.")),
		"Leads to main/java/: Routes orders.", "- test/: Tries it.")
	lines(t, "two of the same promise", outlineLinesOf(t, "client", "", child("client/pkg", "Helps it."), child("client/v3", "Asks the server.")),
		"- pkg/: Helps it.", "- v3/: Asks the server.")
}
