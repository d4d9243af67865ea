package outline

import "bytes"

// A conditional is an open #if.
type conditional struct {
	taking bool // the branch that is being read is the one taken
	done   bool // one has been taken
}

// firstBranches returns src with every branch but the first of each conditional
// made white, and the lines of the directives too, and what was made so. The
// first branch of #if 0 is the second.
func firstBranches(src []byte) (out []byte, blanked []span) {
	out = bytes.Clone(src)
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
				never := isNever(rest)
				open = append(open, conditional{taking: !never, done: !never})
				skipping += count(never)
			case bytes.HasPrefix(rest, []byte("endif")):
				if n := len(open); n > 0 {
					skipping -= count(!open[n-1].taking)
					open = open[:n-1]
				}
			case bytes.HasPrefix(rest, []byte("el")):
				if n := len(open); n > 0 {
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
			for i := at; i < end; i++ {
				if out[i] != '\n' && out[i] != '\r' {
					out[i] = ' '
				}
			}
			if len(line) > 0 {
				blanked = append(blanked, span{start: at, end: at + len(bytes.TrimRight(src[at:end], "\r\n"))})
			}
		}
		follow = directive && bytes.HasSuffix(line, []byte(`\`))
		at = end
	}
	return out, blanked
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isNever reports #if 0.
func isNever(directive []byte) bool {
	words := bytes.Fields(directive)
	return len(words) == 2 && string(words[0]) == "if" && string(words[1]) == "0"
}
