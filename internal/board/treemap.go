package board

import (
	"cmp"
	"slices"
)

// A Rect is a rectangle.
type Rect struct{ X, Y, W, H float64 }

// Area returns the area of the rectangle.
func (r Rect) Area() float64 { return r.W * r.H }

// Squarify divides a rectangle into one for each weight, in the order of the weights. Areas are proportional to
// weights, and sides are as even as possible: it fills rows along the shorter side, from the heaviest weight on, as
// long as that improves the worst aspect ratio of the row. A weight that is not above 0 gets an empty rectangle.
func Squarify(in Rect, weights []float64) []Rect {
	out := make([]Rect, len(weights))
	var order []int
	for i, w := range weights {
		if w > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	for len(order) > 0 && in.W > 0 && in.H > 0 {
		total := 0.0 // add up again each time, since differences accumulate rounding errors
		for _, i := range order {
			total += weights[i]
		}
		n, sum := row(in, in.Area()/total, order, weights)
		in = place(in, sum/total, order[:n], sum, weights, out)
		order = order[n:]
	}
	return out
}

// row returns the number of weights in the next row, and their sum.
func row(in Rect, scale float64, order []int, weights []float64) (n int, sum float64) {
	side := min(in.W, in.H)
	heaviest := weights[order[0]]
	best := 0.0
	for n < len(order) {
		w := weights[order[n]]
		// The worst aspect ratio is that of the heaviest or the lightest weight.
		thick := scale * (sum + w) / side
		worst := max(aspect(scale*heaviest/thick, thick), aspect(scale*w/thick, thick))
		if n > 0 && worst > best {
			break
		}
		best, sum, n = worst, sum+w, n+1
	}
	return n, sum
}

func aspect(a, b float64) float64 { return max(a/b, b/a) }

// place lays out a row along the shorter side and returns the rest of the rectangle. share is the part of the area
// that the row takes.
func place(in Rect, share float64, some []int, sum float64, weights []float64, out []Rect) Rect {
	wide := in.W >= in.H
	thick := max(in.W, in.H) * share
	at := 0.0
	for _, i := range some {
		long := min(in.W, in.H) * weights[i] / sum
		if wide {
			out[i] = Rect{in.X, in.Y + at, thick, long}
		} else {
			out[i] = Rect{in.X + at, in.Y, long, thick}
		}
		at += long
	}
	if wide {
		return Rect{in.X + thick, in.Y, max(in.W-thick, 0), in.H}
	}
	return Rect{in.X, in.Y + thick, in.W, max(in.H-thick, 0)}
}
