package registry_test

import (
	"encoding/base64"
	"testing"

	"ken/internal/fresh"
	"ken/internal/registry"
)

// The words for comparisons are published. The zero value is unknown.
func TestWordsForComparisons(t *testing.T) {
	for want, c := range map[string]fresh.Verdict{
		"unknown": {}, "match": {State: fresh.Fresh}, "mismatch": {State: fresh.Stale}, "missing": {State: fresh.Gone}, "new": {State: fresh.None},
		"conflicted": fresh.Conflicted.Verdict(), "sparse": fresh.NotCheckedOut.Verdict(),
	} {
		if got, err := registry.Comparison(c).MarshalText(); err != nil || string(got) != want {
			t.Errorf("%+v is %s (error %v), want %s", c, got, err, want)
		}
	}
}

func TestNeedsAttention(t *testing.T) {
	for want, counts := range map[bool][]registry.Counts{
		true:  {{Stale: 1}, {Gone: 1}, {Unknown: 1}, {Conflicted: 1}},
		false: {{}, {None: 1, Excluded: 1, Mismatch: 1, New: 1, Missing: 1, Fresh: 1, Sparse: 1}},
	} {
		for _, c := range counts {
			if c.NeedsAttention() != want {
				t.Errorf("NeedsAttention of %+v is %v, want %v", c, c.NeedsAttention(), want)
			}
		}
	}
}

func TestRenamesKnowTheBytesOfTheOldPath(t *testing.T) {
	w := settled(t, "lat\xefn.go", "alpha")
	w.mv("lat\xefn.go", "a.go")
	rep := w.status(t, registry.VerifyOptions{})
	if v := rep.Verdicts[0]; v.ChangedB64 != base64.StdEncoding.EncodeToString([]byte("lat\xefn.go")) || v.RawPath() != "a.go" {
		t.Errorf("the verdict of the renamed file is %+v; want the bytes of its old path", v)
	}
}
