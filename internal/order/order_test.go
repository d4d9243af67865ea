package order

import (
	"slices"
	"testing"
)

func TestOrders(t *testing.T) {
	list := []bool{true, false, true, false}
	slices.SortFunc(list, TrueFirst)
	if want := []bool{true, true, false, false}; !slices.Equal(list, want) {
		t.Errorf("TrueFirst sorts to %v, want %v", list, want)
	}
	slices.SortFunc(list, FalseFirst)
	if want := []bool{false, false, true, true}; !slices.Equal(list, want) {
		t.Errorf("FalseFirst sorts to %v, want %v", list, want)
	}
}
