package contract_test

import (
	"strings"
	"testing"

	"ken/internal/contract"
)

const inventoryFile = "../../docs/manual/state-inventory.md"

const inventoryIntro = `<!-- Generated from internal/contract/default.yaml by go generate; do not edit. -->

# Files of the state directory

The default contract. A project extends it in ` + "`.ken/contract.yaml`" + `; ` + "`ken state contract`" + `
prints the contract of a repository.

`

// The inventory in the manual is generated from the contract.
func TestInventory(t *testing.T) {
	golden(t, inventoryFile, []byte(inventoryIntro+contract.Default().Markdown()))
}

// Texts of a project's contract do not break the tables.
func TestInventoryEscapes(t *testing.T) {
	c := extend(t, `
files:
  - {name: "a|b`+"`"+`c.md", writer: "x | y", purpose: "two\nlines, <b>, *bold*"}
patterns: [{pattern: 'x(a|b)', use: "a_b"}]
`)
	for _, line := range strings.Split(c.Markdown(), "\n") {
		if strings.Contains(line, "b`c") && line != "| `` a\\|b`c.md `` | x \\| y | two lines, &lt;b>, \\*bold\\* | no |" {
			t.Errorf("got %s", line)
		}
		if strings.Contains(line, "x(a") && line != "| `x(a\\|b)` | | a\\_b | | |" {
			t.Errorf("got %s", line)
		}
	}
	if !strings.Contains(c.Markdown(), "## Of this project\n") {
		t.Error("the inventory has no section for the files of the project")
	}
}
