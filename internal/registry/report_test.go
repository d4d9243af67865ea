package registry_test

import (
	"encoding/base64"
	"testing"

	"ken/internal/registry"
)

func TestFindingsReadBack(t *testing.T) {
	for f := registry.FindingUnknown; f <= registry.FindingSparse; f++ {
		text, err := f.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back registry.Finding
		if err := back.UnmarshalText(text); err != nil || back != f {
			t.Errorf("%s reads back as %s, %v", f, back, err)
		}
	}
	var f registry.Finding
	if f.UnmarshalText([]byte("splendid")) == nil {
		t.Error("unmarshalled an unknown finding")
	}
}

func TestNeedsAttention(t *testing.T) {
	for want, counts := range map[bool][]registry.Counts{
		true:  {{Stale: 1}, {Unknown: 1}, {Conflicted: 1}},
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
