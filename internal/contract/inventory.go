package contract

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown returns the inventory as tables: the files by group, the patterns, the fields
// of JSON files and the keys of the workflow document.
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
	section(&b, "Patterns", []string{"Pattern", "Example", "Use", "Evicted", "Content"}, patternRows(c.Patterns))
	section(&b, "Temporary files", []string{"Pattern", "Example", "Use", "Evicted", "Content"}, patternRows(c.Ephemeral))
	section(&b, "Fields of JSON files", []string{"Name", "Required", "Recommended", "Legal values"}, c.schemaRows())
	section(&b, "Keys of the workflow document", []string{"Key", "Type", "Legal values", "Initial"}, c.keyRows())
	return b.String()
}

var fileColumns = []string{"Name", "Written by", "Purpose", "Survives reset", "Evicted", "Status values", "Sidecar"}

// row returns the cells of fileColumns.
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

// cell describes the value in a table.
func (e Evict) cell() string {
	switch e {
	case Always:
		return "always"
	case Scoped:
		return "if another workflow wrote it"
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
			held = "as in " + code(p.Base)
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

// section writes a heading and a table. It omits empty columns, and the section if
// there are no rows.
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

// codes formats words as code.
func codes(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = code(w)
	}
	return strings.Join(out, ", ")
}

// code formats a text as code in a cell.
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

// plainCell escapes a text for a cell, without markup.
func plainCell(s string) string {
	return cell(strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "<", "&lt;", "[", `\[`, "_", `\_`).Replace(s))
}

// cell keeps a text on one line and in one column.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
