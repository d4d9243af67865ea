package contract_test

import (
	"strings"
	"testing"

	"ken/internal/contract"
)

const inventoryFile = "../../docs/manual/state-inventory.md"

const inventoryIntro = `<!-- Generated from internal/contract/default.yaml by go generate; do not edit. -->

# What the state directory may hold

The contract that ken brings. A project adds to it in ` + "`.ken/contract.yaml`" + `; what is in
force in a repository, ` + "`ken state contract`" + ` prints.

`

// The manual's inventory is the contract's.
func TestInventory(t *testing.T) {
	golden(t, inventoryFile, []byte(inventoryIntro+contract.Default().Markdown()))
}

// Whatever a project puts into its contract, a row stays a row.
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
		t.Error("the project's files are missing")
	}
}
