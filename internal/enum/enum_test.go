package enum

import "testing"

type rank int

var names = Names[rank]{"", "high", "low"}

// Every name is read as the value that it was written for. Other text and other values are refused.
func TestNames(t *testing.T) {
	for v, want := range map[rank]string{-1: "rank(-1)", 0: "rank(0)", 1: "high", 2: "low", 3: "rank(3)"} {
		if got := names.String(v); got != want {
			t.Errorf("the name of %d is %q, want %q", int(v), got, want)
		}
		var back rank
		err := names.Parse([]byte(want), &back)
		if named := v == 1 || v == 2; named != (err == nil) || named && back != v {
			t.Errorf("%q is read as %d (error %v), want %d", want, back, err, v)
		}
	}
	var v rank
	const want = `unknown rank "" (valid: high, low)`
	if err := names.Parse(nil, &v); err == nil || err.Error() != want {
		t.Errorf("the empty name gives the error %v, want %s", err, want)
	}
}
