package cli

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestGlossaryPageHasTheSameTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/manual/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, term := range glossary {
		if row := "| " + term.word + " | " + term.meaning + " |\n"; !strings.Contains(string(page), row) {
			t.Errorf("docs/manual/glossary.md lacks the row %s", row)
		}
	}
}

// A command that is renamed or removed must leave its group too.
func TestGroupsNameCommands(t *testing.T) {
	var names []string
	for _, c := range Tree("").Commands() {
		names = append(names, c.Name())
	}
	for _, g := range groups {
		for _, name := range g.commands {
			if !slices.Contains(names, name) {
				t.Errorf("group %q names %q, which is not a command", g.title, name)
			}
		}
	}
}
