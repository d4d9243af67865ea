package contract

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown returns the inventory: every group of files, the patterns, what the
// JSON files hold and the keys of the workflow document, in tables.
func (c *Contract) Markdown() string {
	var b strings.Builder
	for _, g := range c.Groups {
		var rows [][]string
		for _, f := range c.Files {
			if f.in(g) {
				rows = append(rows, f.row())
			}
		}
		if len(rows) > 0 {
			section(&b, g.Title, fileColumns, rows)
		}
	}
	section(&b, "Patterns", []string{"Pattern", "Example", "Use", "Evicted", "Held to"}, patternRows(c.Patterns))
	section(&b, "Leftovers", []string{"Pattern", "Example", "Use", "Evicted", "Held to"}, patternRows(c.Ephemeral))
	section(&b, "What JSON files hold", []string{"Name", "Required", "Recommended", "Legal values"}, c.schemaRows())
	section(&b, "Keys of the workflow document", []string{"Key", "Type", "Legal values", "Begins as"}, c.keyRows())
	return b.String()
}

var fileColumns = []string{"Name", "Written by", "Purpose", "Survives reset", "Evicted", "Status values", "Sidecar"}

// row returns what fileColumns says of f.
func (f File) row() []string {
	name := f.Name
	if f.Dir {
		name += "/"
	}
	survives := "no"
	if f.Exempt {
		survives = "yes"
	}
	return []string{
		code(name), plainCell(f.Writer), plainCell(f.Purpose), survives, f.Evict.cell(), codes(f.Status), code(f.Sidecar),
	}
}

// cell says when a file leaves, for a table.
func (e Evict) cell() string {
	switch e {
	case Always:
		return "always"
	case Scoped:
		return "when it is another workflow's"
	case Stays:
		return ""
	default:
		return string(e)
	}
}

func patternRows(patterns []Pattern) [][]string {
	var rows [][]string
	for _, p := range patterns {
		held := ""
		if p.Base != "" {
			held = "the rules of " + code(p.Base)
		}
		rows = append(rows, []string{code(p.Pattern), code(p.Example), plainCell(p.Use), p.Evict.cell(), held})
	}
	return rows
}

func (c *Contract) schemaRows() [][]string {
	var rows [][]string
	for _, f := range c.Files {
		if f.Schema == nil {
			continue
		}
		var legal []string
		for _, field := range f.Schema.named() {
			if values := f.Schema.Enums[field]; len(values) > 0 {
				legal = append(legal, code(field)+": "+codes(values))
			}
		}
		rows = append(rows, []string{
			code(f.Name), codes(f.Schema.Required), codes(f.Schema.Recommended), strings.Join(legal, "; "),
		})
	}
	return rows
}

func (c *Contract) keyRows() [][]string {
	var rows [][]string
	for _, k := range c.Keys {
		rows = append(rows, []string{code(k.Name), string(k.Type), codes(k.Enum), code(k.Initial)})
	}
	return rows
}

// section writes a heading and a table. A column in which no row has anything is
// left out, and a section without rows too.
func section(b *strings.Builder, title string, columns []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "## %s\n\n", plainCell(title))
	var keep []int
	for i := range columns {
		if slices.ContainsFunc(rows, func(row []string) bool { return row[i] != "" }) {
			keep = append(keep, i)
		}
	}
	line := func(cell func(i int) string) {
		for _, i := range keep {
			b.WriteString(strings.TrimRight("| "+cell(i), " ") + " ")
		}
		b.WriteString("|\n")
	}
	line(func(i int) string { return columns[i] })
	line(func(int) string { return "---" })
	for _, row := range rows {
		line(func(i int) string { return row[i] })
	}
}

// codes lists words as code.
func codes(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = code(w)
	}
	return strings.Join(out, ", ")
}

// code writes a text as code in a table's cell.
func code(s string) string {
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if fence != "`" {
		return fence + " " + cell(s) + " " + fence
	}
	return fence + cell(s) + fence
}

// plainCell writes a sentence in a table's cell, with no mark-up of its own.
func plainCell(s string) string {
	return cell(strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "<", "&lt;", "[", `\[`, "_", `\_`).Replace(s))
}

// cell keeps a text on its line and in its column.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
