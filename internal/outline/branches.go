package outline

import "bytes"

// A conditional is an open #if.
type conditional struct {
	taking bool // the branch that is being read is the one taken
	done   bool // one has been taken
	plain  bool // it is none that the reading is about: all stays
}

// A reading says what to make of an #if: nothing, or whether its first branch is
// the one to be taken.
type reading func(directive []byte) (decided, taken bool)

// firsts takes the first branch of each, and the second of #if 0.
func firsts(directive []byte) (decided, taken bool) {
	words := bytes.Fields(directive)
	return true, len(words) != 2 || string(words[0]) != "if" || string(words[1]) != "0"
}

// forCPP leaves out what is there for C++ alone.
func forCPP(directive []byte) (decided, taken bool) {
	return bytes.Contains(directive, []byte("__cplusplus")) && !bytes.HasPrefix(directive, []byte("ifndef")) &&
		!bytes.Contains(directive, []byte("!")), false
}

// branches returns src with every branch that a reading does not take made white,
// and the lines of its directives too, and what was made so.
func branches(src []byte, read reading) (out []byte, blanked []span) {
	var open []conditional
	skipping := 0   // how many of them are not being taken
	follow := false // the line goes on a directive's
	for at := 0; at < len(src); {
		end := len(src)
		if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := bytes.TrimSpace(src[at:end])
		directive := follow
		if rest, ok := bytes.CutPrefix(line, []byte("#")); ok && !follow {
			rest = bytes.TrimSpace(rest)
			directive = true
			switch {
			case bytes.HasPrefix(rest, []byte("if")):
				decided, taken := read(rest)
				open = append(open, conditional{taking: taken || !decided, done: taken, plain: !decided})
				skipping += count(decided && !taken)
				directive = decided
			case bytes.HasPrefix(rest, []byte("endif")):
				if n := len(open); n > 0 {
					skipping -= count(!open[n-1].taking)
					directive = !open[n-1].plain
					open = open[:n-1]
				}
			case bytes.HasPrefix(rest, []byte("el")):
				if n := len(open); n > 0 && open[n-1].plain {
					directive = false
				} else if n > 0 {
					c := &open[n-1]
					skipping -= count(!c.taking)
					c.taking = !c.done
					c.done = true
					skipping += count(!c.taking)
				}
			default:
				directive = false // one that takes no branch
			}
		}
		if directive || skipping > 0 {
			if len(line) > 0 {
				blanked = append(blanked, span{start: at, end: at + len(bytes.TrimRight(src[at:end], "\r\n"))})
			}
		}
		follow = directive && bytes.HasSuffix(line, []byte(`\`))
		at = end
	}
	return blank(src, blanked), blanked
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
