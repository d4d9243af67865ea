// Package order compares conditions, for lists that are sorted by them.
package order

// TrueFirst puts true before false.
func TrueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// FalseFirst puts false before true.
func FalseFirst(a, b bool) int { return TrueFirst(b, a) }
