package outline

import "bytes"

// A conditional is an open #if.
type conditional struct {
	taking bool // the current branch is taken
	done   bool // a branch has been taken
	plain  bool // it is ignored: all its branches stay
}

// A branchChooser decides about an #if. If decided is false, all branches stay. Otherwise taken tells
// whether the first branch is taken.
type branchChooser func(directive []byte) (decided, taken bool)

// firstBranches takes the first branch of each #if, and the second one of #if 0.
func firstBranches(directive []byte) (decided, taken bool) {
	words := bytes.Fields(directive)
	return true, len(words) != 2 || string(words[0]) != "if" || string(words[1]) != "0"
}

// withoutCPP skips the branches for C++.
func withoutCPP(directive []byte) (decided, taken bool) {
	return bytes.Contains(directive, []byte("__cplusplus")) && !bytes.HasPrefix(directive, []byte("ifndef")) &&
		!bytes.Contains(directive, []byte("!")), false
}

// blankBranches replaces the branches that are not taken, and the lines of their directives, with spaces. It
// returns the blanked ranges.
func blankBranches(src []byte, choose branchChooser) (out []byte, blanked []span) {
	var open []conditional
	skipping := 0   // number of open conditionals whose current branch is not taken
	follow := false // the previous line is a directive that continues
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
				decided, taken := choose(rest)
				open = append(open, conditional{taking: taken || !decided, done: taken, plain: !decided})
				skipping += boolToInt(decided && !taken)
				directive = decided
			case bytes.HasPrefix(rest, []byte("endif")):
				if n := len(open); n > 0 {
					skipping -= boolToInt(!open[n-1].taking)
					directive = !open[n-1].plain
					open = open[:n-1]
				}
			case bytes.HasPrefix(rest, []byte("el")):
				if n := len(open); n > 0 && open[n-1].plain {
					directive = false
				} else if n > 0 {
					c := &open[n-1]
					skipping -= boolToInt(!c.taking)
					c.taking = !c.done
					c.done = true
					skipping += boolToInt(!c.taking)
				}
			default:
				directive = false // not a conditional
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
	return blankSpans(src, blanked), blanked
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
