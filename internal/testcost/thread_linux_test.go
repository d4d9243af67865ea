package testcost

import (
	"testing"
	"time"
)

// Waiting costs nothing, and work does.
func TestCost(t *testing.T) {
	waited := cost(func() { time.Sleep(200 * time.Millisecond) })
	sum := 0
	worked := cost(func() {
		for i := range 200_000_000 {
			sum += i * i
		}
	})
	if waited*2 > worked {
		t.Errorf("waiting cost %v, work cost %v (%d), want far more for work", waited, worked, sum)
	}
}
