package lives

import "testing"

// shrink replays a life that differs with fewer and fewer operations. It returns the shortest
// life that still differs, or the life itself if a replay does not differ.
func shrink(tb testing.TB, l *life) *life {
	tb.Helper()
	best := l
	left := *shrinkFlag
	try := func(ops []op) bool {
		if left == 0 || tb.Context().Err() != nil {
			return false
		}
		left--
		again := replay(tb, l.seed, l.kind, ops)
		if again.failure == "" {
			return false
		}
		best = again
		return true
	}
	if left == 0 {
		return l
	}
	if !try(l.ops) {
		l.failure += "a replay of the same operations does not differ: the timing matters\n"
		return l
	}
	// Cut out pieces, the large ones first. The last operation stays: it shows the difference.
	for size := len(best.ops) / 2; size > 0 && left > 0; size /= 2 {
		for at := len(best.ops) - 1 - size; at >= 0 && left > 0; at -= size {
			if at+size >= len(best.ops) {
				continue
			}
			ops := append([]op{}, best.ops[:at]...)
			try(append(ops, best.ops[at+size:]...))
		}
	}
	// Look less often.
	for i := 0; i < len(best.ops)-1 && left > 0; i++ {
		if best.ops[i].look == lookAway {
			continue
		}
		ops := append([]op{}, best.ops...)
		ops[i].look = lookAway
		try(ops)
	}
	return best
}
