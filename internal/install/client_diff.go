package install

import (
	"bytes"
	"fmt"
	"strings"
)

// contextLines is the number of unchanged lines around a change in a diff.
const contextLines = 3

// Diff returns the unified diff of two texts of a file; "" if they are equal. It has a
// single hunk, since the changes of ken are close together.
func Diff(path string, was, is []byte) string {
	if bytes.Equal(was, is) {
		return ""
	}
	a, b := lines(was), lines(is)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	tail := 0
	for tail < min(len(a), len(b))-same && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, behind := max(0, same-contextLines), min(tail, contextLines)
	var s strings.Builder
	fmt.Fprintf(&s, "--- %s\n+++ %s\n", diffName(path, was), diffName(path, is))
	fmt.Fprintf(&s, "@@ -%s +%s @@\n", hunkRange(from, len(a)-tail+behind), hunkRange(from, len(b)-tail+behind))
	write := func(sign string, list []string) {
		for _, l := range list {
			s.WriteString(sign + l)
			if !strings.HasSuffix(l, "\n") {
				s.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	write(" ", a[from:same])
	write("-", a[same:len(a)-tail])
	write("+", b[same:len(b)-tail])
	write(" ", a[len(a)-tail:len(a)-tail+behind])
	return s.String()
}

func diffName(path string, text []byte) string {
	if text == nil {
		return "/dev/null"
	}
	return path
}

func hunkRange(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func lines(text []byte) []string {
	var list []string
	for l := range bytes.Lines(text) {
		list = append(list, string(l))
	}
	return list
}
