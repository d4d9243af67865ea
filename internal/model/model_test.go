package model_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"ken/internal/model"
)

func TestPriceOf(t *testing.T) {
	full := model.Price{Input: 10, Cached: 1, Written: 12.5, Output: 50, UpTo: 1000}
	for _, tt := range []struct {
		name  string
		price model.Price
		usage model.Usage
		usd   float64
		known bool
	}{
		{"nothing, at no price", model.Price{}, model.Usage{}, 0, true},
		{"something, at no price", model.Price{}, model.Usage{Input: 1}, 0, false},
		{"something for nothing", model.Price{Free: true}, model.Usage{Input: 1}, 0, true},
		{"each at its price", full, model.Usage{Input: 1000, Cached: 600, Written: 300, Output: 10}, (1000 + 600 + 3750 + 500) / 1e6, true},
		{"no discount known", model.Price{Input: 10, Output: 50}, model.Usage{Input: 100, Cached: 90}, 1000 / 1e6, true},
		{"longer than the price goes", full, model.Usage{Input: 1001}, 0, false},
		{"counts that do not add up", full, model.Usage{Input: 1, Cached: 5}, 5 / 1e6, true},
	} {
		c := tt.price.Cost(tt.usage)
		if math.Abs(c.USD-tt.usd) > 1e-12 || c.Known() != tt.known {
			t.Errorf("%s: the cost is %+v; want %g, known: %t", tt.name, c, tt.usd, tt.known)
		}
	}
}

// A sum is known only if both terms are, and its text says so.
func TestCostAdds(t *testing.T) {
	known, unknown := model.Cost{USD: 0.25}, model.Cost{Unpriced: 7}
	for c, want := range map[model.Cost]string{
		{}: "$0.0000", known: "$0.2500", unknown: "unknown", known.Add(unknown): "at least $0.2500", known.Add(known): "$0.5000",
	} {
		if c.String() != want {
			t.Errorf("the text of %+v is %s; want %s", c, c, want)
		}
	}
	u := model.Usage{Requests: 1, Input: 2, Cached: 3, Written: 4, Output: 5}
	if got := u.Add(model.Usage{Estimated: true}).Add(u); got != (model.Usage{Requests: 2, Input: 4, Cached: 6, Written: 8, Output: 10, Estimated: true}) {
		t.Errorf("the sum of the usages is %+v; want each count doubled, and estimated", got)
	}
}

func TestReasonOf(t *testing.T) {
	err := fmt.Errorf("x: %w", &model.Failure{Reason: model.NoCredit, Err: errors.New("y")})
	if model.ReasonOf(err) != model.NoCredit || model.ReasonOf(nil) != model.Other || model.ReasonOf(errors.New("z")) != model.Other {
		t.Errorf("ReasonOf returned %v for a wrapped failure; want %v, and %v for other errors", model.ReasonOf(err), model.NoCredit, model.Other)
	}
	for r := model.Other; r <= model.Cancelled; r++ {
		if (r.String() == "failed") != (r == model.Other) {
			t.Errorf("reason %d has no name", r)
		}
		if r.Permanent() != (r >= model.NoKey && r <= model.NoModel) {
			t.Errorf("Permanent of %v returned %t; want the opposite", r, r.Permanent())
		}
	}
}
