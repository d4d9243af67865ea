package board_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/board"
)

// The rectangles fill the whole rectangle without overlapping. Their areas are proportional to the weights.
func TestSquarifyFillsTheWholeInProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := board.Rect{W: rapid.Float64Range(1, 1000).Draw(t, "w"), H: rapid.Float64Range(1, 1000).Draw(t, "h")}
		weights := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 0, 60).Draw(t, "weights")
		total := 0.0
		for _, w := range weights {
			total += w
		}
		const slack = 1e-6
		rects := board.Squarify(in, weights)
		if len(rects) != len(weights) {
			t.Fatalf("%d rectangles for %d weights", len(rects), len(weights))
		}
		for i, r := range rects {
			want := 0.0
			if total > 0 {
				want = in.Area() * weights[i] / total
			}
			if math.Abs(r.Area()-want) > slack*in.Area() {
				t.Errorf("%d: area %g, want %g", i, r.Area(), want)
			}
			if r.X < -slack || r.Y < -slack || r.X+r.W > in.W*(1+slack) || r.Y+r.H > in.H*(1+slack) {
				t.Errorf("%d: %+v sticks out of %+v", i, r, in)
			}
			for k, o := range rects[:i] {
				w := min(r.X+r.W, o.X+o.W) - max(r.X, o.X)
				h := min(r.Y+r.H, o.Y+o.H) - max(r.Y, o.Y)
				if w > 0 && h > 0 && w*h > slack*in.Area() {
					t.Errorf("%d and %d overlap: %+v, %+v", i, k, r, o)
				}
			}
		}
	})
}

// Equal weights in a square give rectangles that are nearly square.
func TestSquarifyIsSquare(t *testing.T) {
	for _, r := range board.Squarify(board.Rect{W: 100, H: 100}, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}) {
		if ratio := max(r.W/r.H, r.H/r.W); ratio > 2 {
			t.Errorf("%+v is %g times as long as wide", r, ratio)
		}
	}
}
