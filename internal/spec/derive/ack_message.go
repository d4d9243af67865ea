package derive

import (
	"regexp"
	"strings"
	"sync"

	"ken/internal/repo"
)

// TrailerLost is the key under which the history keeps an ack that its message does not carry.
const TrailerLost = "Spec-OK-Lost"

// ackLine matches a line with an ack or a basis, as people, git and forges write it into a message.
var ackLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[ \t]*(?:[*-] )?)(?i:(Spec-OK(?:-Basis)?))[ \t]*:[ \t]*(.*?)[ \t\r]*$`)
})

// squashTitle is the line above the messages that git merge --squash puts together.
const squashTitle = "Squashed commit of the following:"

// ackTrailers returns the trailers of a commit for the history: the acks of a squash before its own trailers. An ack
// with a basis that git copied from a trailer counts. Any other line with an ack is lost, and kept to be named.
func ackTrailers(c repo.Commit) []repo.Trailer {
	if !strings.Contains(strings.ToLower(c.Message), "spec-ok") {
		return c.Trailers
	}
	own := 0 // the acks that git reads as trailers; they are the last
	for _, t := range c.Trailers {
		if strings.EqualFold(t.Key, TrailerAck) {
			own++
		}
	}
	lines := strings.Split(c.Message, "\n")
	carried := squashedLines(lines)
	var found, lost []repo.Trailer
	for i, line := range lines {
		m := ackLine().FindStringSubmatch(line)
		if m == nil || !strings.EqualFold(m[1], TrailerAck) {
			continue
		}
		var basis []string
		if carried[i] && carried[i+1] {
			basis = ackLine().FindStringSubmatch(lines[i+1])
		}
		if basis != nil && strings.EqualFold(basis[1], TrailerBasis) {
			found = append(found, repo.Trailer{Key: TrailerAck, Value: m[2]}, repo.Trailer{Key: TrailerBasis, Value: basis[2]})
			continue
		}
		lost = append(lost, repo.Trailer{Key: TrailerLost, Value: m[2]})
	}
	lost = lost[:max(0, len(lost)-own)]
	return append(append(lost, found...), c.Trailers...)
}

// squashedLines returns the lines below squashTitle that are in the last paragraph of the message of a listed commit.
// A message of one paragraph has no trailers.
func squashedLines(lines []string) map[int]bool {
	found := make(map[int]bool)
	inside := false
	paragraphs := 0
	var last []int // the lines of the last paragraph so far
	blank := true
	end := func() {
		if paragraphs > 1 {
			for _, i := range last {
				found[i] = true
			}
		}
		paragraphs = 0
		last = nil
		blank = true
	}
	for i, line := range lines {
		text, indented := strings.CutPrefix(line, "    ")
		switch {
		case line == squashTitle:
			inside = true
		case !inside:
		case strings.TrimSpace(line) == "":
			blank = true
		case !indented:
			end()
			inside = isSquashHeader(line)
		default:
			if blank {
				paragraphs++
				last = nil
			}
			blank = strings.TrimSpace(text) == ""
			last = append(last, i)
		}
	}
	end()
	return found
}

// isSquashHeader reports whether git writes such a line above the message of a listed commit.
func isSquashHeader(line string) bool {
	key, _, _ := strings.Cut(line, " ")
	switch key {
	case "commit", "Merge:", "Author:", "Date:":
		return true
	}
	return false
}
