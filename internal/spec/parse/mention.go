package parse

import "strings"

// A mention is an [[id]] in the prose of a body.
type mention struct {
	ID   string
	Line int // from 0
}

// MentionsIn returns the mentions of a body, in order. It ignores code.
func MentionsIn(body string) []mention {
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
			id, _, _ = strings.Cut(id, "|") // the part after | is the link text
			if line = after; id != "" && !strings.ContainsAny(id, "[<> \t") {
				found = append(found, mention{id, number})
			}
		}
	}
	return found
}

// prose iterates over the lines of a body that are not code, with their numbers and without code spans.
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

// withoutSpans removes code spans from a line. Backticks without a matching run are text.
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

// closingRun returns the offset after the run of backticks that closes a code span, -1 without one.
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
