package spec_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ken/internal/spec"
)

// The threshold is a whole number from 1, and gate_unknown one of two words.
func TestPolicy(t *testing.T) {
	var p spec.Policy
	if err := yaml.Unmarshal([]byte("{main: trunk, gate_threshold: 5, gate_unknown: block}"), &p); err != nil {
		t.Fatal(err)
	}
	if want := (spec.Policy{Main: "trunk", Threshold: 5, BlockUnknown: true}); p != want {
		t.Errorf("the policy is %+v, want %+v", p, want)
	}
	for text, want := range map[string]string{
		"gate_threshold: 0":     `line 1: "0" is not a whole number of at least 1`,
		"gate_threshold: 2.5":   `line 1: "2.5" is not a whole number of at least 1`,
		"gate_unknown: perhaps": `line 1: spec: unknown gate_unknown "perhaps" (valid: warn, block)`,
	} {
		err := yaml.Unmarshal([]byte(text), new(spec.Policy))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", text, err, want)
		}
	}
}
