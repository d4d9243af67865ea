package spec

import "strings"

// A mention is a node that a body names in its prose, as [[id]].
type mention struct {
	id   string
	line int // from 0
}

// mentionsIn returns the mentions of a body, in order. What stands in code is a
// sample.
func mentionsIn(body string) []mention {
	var found []mention
	for number, line := range prose(body) {
		for {
			_, rest, ok := strings.Cut(line, "[[")
			if !ok {
				break
			}
			id, after, closed := strings.Cut(rest, "]]")
			if !closed {
				break
			}
			id, _, _ = strings.Cut(id, "|") // the rest is how it reads
			if line = after; id != "" && !strings.ContainsAny(id, "[<> \t") {
				found = append(found, mention{id, number})
			}
		}
	}
	return found
}

// prose yields the lines of a body that are no code, by number, without the code
// spans in them.
func prose(body string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		var open fence
		number := -1
		for line := range strings.Lines(body) {
			number++
			line = strings.TrimSuffix(line, "\n")
			if open.size > 0 {
				if open.closedBy(line) {
					open = fence{}
				}
				continue
			}
			s, ok := outdent(line)
			if !ok {
				continue
			}
			if open = opens(s); open.size > 0 {
				continue
			}
			if !yield(number, withoutSpans(s)) {
				return
			}
		}
	}
}

// withoutSpans returns a line without what stands between backticks. A run of them
// that nothing closes is text.
func withoutSpans(line string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(line, '`')
		if i < 0 {
			b.WriteString(line)
			return b.String()
		}
		rest := strings.TrimLeft(line[i:], "`")
		run := line[i : len(line)-len(rest)]
		b.WriteString(line[:i])
		end := closingRun(rest, run)
		if end < 0 {
			b.WriteString(run)
			line = rest
			continue
		}
		line = rest[end:]
	}
}

// closingRun returns where the code ends that a run of backticks opened, after the
// run that closes it; -1 if nothing does.
func closingRun(s, run string) int {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		n := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		at += n
		if n == len(run) {
			return at
		}
	}
}
