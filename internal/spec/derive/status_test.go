package derive_test

import (
	"testing"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// The rules in order. A rule that depends on an unknown fact makes the status unknown.
func TestStatus(t *testing.T) {
	unknown := -1
	for _, tt := range []struct {
		name           string
		node           string
		version, drift int
		overlay        bool
		want           derive.Status
	}{
		{"declared pending, no code", "@x status=pending", 3, 0, true, derive.StatusPending},
		{"declared pending, no code, nothing known", "@x status=Pending", unknown, unknown, false, derive.StatusPending},
		{"declared pending, with code", "@x status=pending code=f", 3, 0, false, derive.StatusMerged},
		{"declared pending, with code and drift", "@x status=pending code=f", 3, 1, false, derive.StatusDrift},
		{"overlay", "@x code=f", 3, 2, true, derive.StatusActive},
		{"overlay, nothing known", "@x code=f", unknown, unknown, true, derive.StatusActive},
		{"overlay, nothing committed", "@x code=f", 0, 0, true, derive.StatusActive},
		{"drift", "@x code=f status=merged", 3, 1, false, derive.StatusDrift},
		{"drift, version unknown", "@x code=f", unknown, 1, false, derive.StatusDrift},
		{"drift unknown", "@x code=f status=merged", 3, unknown, false, derive.StatusUnknown},
		{"version", "@x code=f status=active", 1, 0, false, derive.StatusMerged},
		{"version unknown", "@x status=merged", unknown, 0, false, derive.StatusUnknown},
		{"nothing committed", "@x code=f status=merged", 0, 0, false, derive.StatusPending},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := derive.Facts{Node: nodes(tt.node)[0]}
			if tt.version != unknown {
				f.Version = &tt.version
			}
			if tt.drift != unknown {
				f.Drift = &tt.drift
			}
			if got := f.StatusWithProposal(tt.overlay); got != tt.want {
				t.Errorf("StatusWithProposal returned %s; want %s", got, tt.want)
			}
		})
	}
}

// If the history cannot be read, the rules that do not need it decide, then the declared status.
func TestStatusUnread(t *testing.T) {
	for node, want := range map[string]derive.Status{
		"@x status=merged code=f":  derive.StatusMerged,
		"@x status=pending code=f": derive.StatusPending,
		"@x status=nonsense":       derive.StatusUnknown,
		"@x code=f":                derive.StatusUnknown,
	} {
		f := derive.AllUnknown(nodes(node), "no git")[0]
		if f.Status != want || f.StatusWithProposal(true) != derive.StatusActive {
			t.Errorf("%s: %s, and under an overlay %s", node, f.Status, f.StatusWithProposal(true))
		}
	}
}

func TestStatusNames(t *testing.T) {
	var zero derive.Status
	if zero != derive.StatusUnknown || derive.Status(9).String() != "Status(9)" || derive.Status(-1).String() != "Status(-1)" {
		t.Errorf("the zero status is %s, status 9 is %s; want unknown and Status(9)", zero, derive.Status(9))
	}
	for _, s := range []derive.Status{derive.StatusUnknown, derive.StatusPending, derive.StatusActive, derive.StatusDrift, derive.StatusMerged} {
		b, err := s.MarshalText()
		var back derive.Status
		if err != nil || back.UnmarshalText(b) != nil || back != s {
			t.Errorf("%s reads back as %s", b, back)
		}
	}
	if zero.UnmarshalText([]byte("done")) == nil {
		t.Error("UnmarshalText accepted the status done")
	}
}

// A spec in conflict has the status unknown, even with proposals.
func TestStatusInConflict(t *testing.T) {
	n := parse.Load([]repo.LoadedFile{{Path: ".spec/a/spec.md", Content: []byte("---\n<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> x\n---\n")}})[0]
	f := derive.Facts{Node: n}
	if f.StatusWithProposal(true) != derive.StatusUnknown {
		t.Errorf("with the problems %v, the status is %v; want %v", n.Problems, f.StatusWithProposal(true), derive.StatusUnknown)
	}
}
