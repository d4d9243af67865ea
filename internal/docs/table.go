package docs

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// alignTables restores the columns of Markdown tables whose rows were edited. lines are the edited
// lines, from 1. A table that was not aligned before stays as it is.
func alignTables(before, after []byte, lines []int) []byte {
	old, now := bytes.SplitAfter(before, []byte("\n")), bytes.SplitAfter(after, []byte("\n"))
	if len(old) != len(now) {
		return after
	}
	done := 0 // the lines up to here belong to a table that was processed
	for _, line := range lines {
		i := line - 1
		if i < done || i >= len(old) || !isRow(old[i]) {
			continue
		}
		first, last := i, i+1
		for first > 0 && isRow(old[first-1]) {
			first--
		}
		for last < len(old) && isRow(old[last]) {
			last++
		}
		if aligned(old[first:last]) {
			align(now[first:last])
		}
		done = last
	}
	return bytes.Join(now, nil)
}

func isRow(line []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("|")) }

// cells splits a row at its bars. A bar in code or after a backslash belongs to a cell.
func cells(line []byte) []string {
	text := strings.TrimRight(string(line), "\r\n")
	var list []string
	start := 0
	code := false
	for i := range len(text) {
		switch {
		case text[i] == '`':
			code = !code
		case text[i] == '|' && !code && (i == 0 || text[i-1] != '\\'):
			list = append(list, text[start:i])
			start = i + 1
		}
	}
	return append(list, text[start:])
}

// aligned reports whether the bars of all rows are in the same columns.
func aligned(rows [][]byte) bool {
	var widths []int
	for _, row := range rows {
		var w []int
		for _, c := range cells(row) {
			w = append(w, utf8.RuneCountInString(c))
		}
		if widths != nil && !slices.Equal(w[:len(w)-1], widths[:len(widths)-1]) {
			return false
		}
		widths = w
	}
	return len(rows) > 1
}

// align pads the cells of each column to the same width.
func align(rows [][]byte) {
	split := make([][]string, len(rows))
	var widths []int
	for i, row := range rows {
		split[i] = cells(row)
		for k, c := range split[i] {
			c = strings.TrimRight(c, " ")
			if strings.Trim(c, " -:") == "" && strings.Contains(c, "-") {
				c = " ---" // it grows with the others
			}
			if k == len(widths) {
				widths = append(widths, 0)
			}
			if k > 0 && k < len(split[i])-1 {
				widths[k] = max(widths[k], utf8.RuneCountInString(c)+1)
			}
		}
	}
	for i, row := range split {
		for k := 1; k < len(row)-1; k++ {
			row[k] = toWidth(row[k], widths[k])
		}
		end := rows[i][len(bytes.TrimRight(rows[i], "\r\n")):]
		rows[i] = append([]byte(strings.Join(row, "|")), end...)
	}
}

// toWidth pads a cell to the width of its column; dashes pad the line below the header.
func toWidth(cell string, width int) string {
	core := strings.TrimSpace(cell)
	if strings.Trim(core, "-:") == "" && strings.Contains(core, "-") {
		padded := strings.HasPrefix(cell, " ")
		if padded {
			width -= 2
		}
		left, right := strings.HasPrefix(core, ":"), strings.HasSuffix(core, ":")
		dashes := []byte(strings.Repeat("-", max(width, 1)))
		if left {
			dashes[0] = ':'
		}
		if right {
			dashes[len(dashes)-1] = ':'
		}
		if padded {
			return " " + string(dashes) + " "
		}
		return string(dashes)
	}
	cell = strings.TrimRight(cell, " ")
	return cell + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(cell)))
}
