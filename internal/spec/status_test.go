package spec_test

import (
	"testing"

	"ken/internal/spec"
)

// The rules, in their order; and a rule that turns on what is not known makes the
// status unknown.
func TestStatus(t *testing.T) {
	unknown := -1
	for _, tt := range []struct {
		name           string
		node           string
		version, drift int
		overlay        bool
		want           spec.Status
	}{
		{"declared pending, no code", "@x status=pending", 3, 0, true, spec.StatusPending},
		{"declared pending, no code, nothing known", "@x status=Pending", unknown, unknown, false, spec.StatusPending},
		{"declared pending, with code", "@x status=pending code=f", 3, 0, false, spec.StatusMerged},
		{"declared pending, with code and drift", "@x status=pending code=f", 3, 1, false, spec.StatusDrift},
		{"overlay", "@x code=f", 3, 2, true, spec.StatusActive},
		{"overlay, nothing known", "@x code=f", unknown, unknown, true, spec.StatusActive},
		{"overlay, nothing committed", "@x code=f", 0, 0, true, spec.StatusActive},
		{"drift", "@x code=f status=merged", 3, 1, false, spec.StatusDrift},
		{"drift, version unknown", "@x code=f", unknown, 1, false, spec.StatusDrift},
		{"drift unknown", "@x code=f status=merged", 3, unknown, false, spec.StatusUnknown},
		{"version", "@x code=f status=active", 1, 0, false, spec.StatusMerged},
		{"version unknown", "@x status=merged", unknown, 0, false, spec.StatusUnknown},
		{"nothing committed", "@x code=f status=merged", 0, 0, false, spec.StatusPending},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := spec.Facts{Node: nodes(tt.node)[0]}
			if tt.version != unknown {
				f.Version = &tt.version
			}
			if tt.drift != unknown {
				f.Drift = &tt.drift
			}
			if got := f.StatusUnder(tt.overlay); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// When git is unreadable, the rules that need no git still decide, and then what the
// node declares.
func TestStatusUnread(t *testing.T) {
	for node, want := range map[string]spec.Status{
		"@x status=merged code=f":  spec.StatusMerged,
		"@x status=pending code=f": spec.StatusPending,
		"@x status=nonsense":       spec.StatusUnknown,
		"@x code=f":                spec.StatusUnknown,
	} {
		f := spec.Unread(nodes(node), "no git")[0]
		if f.Status != want || f.StatusUnder(true) != spec.StatusActive {
			t.Errorf("%s: %s, and under an overlay %s", node, f.Status, f.StatusUnder(true))
		}
	}
}

func TestStatusNames(t *testing.T) {
	var zero spec.Status
	if zero != spec.StatusUnknown || spec.Status(9).String() != "Status(9)" || spec.Status(-1).String() != "Status(-1)" {
		t.Errorf("%s, %s", zero, spec.Status(9))
	}
	for _, s := range []spec.Status{spec.StatusUnknown, spec.StatusPending, spec.StatusActive, spec.StatusDrift, spec.StatusMerged} {
		b, err := s.MarshalText()
		var back spec.Status
		if err != nil || back.UnmarshalText(b) != nil || back != s {
			t.Errorf("%s reads back as %s", b, back)
		}
	}
	if zero.UnmarshalText([]byte("done")) == nil {
		t.Error("done is a status")
	}
}
