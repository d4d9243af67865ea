package spec

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"ken/internal/config"
)

// A Policy is the section spec of the configuration.
type Policy struct {
	// Main is the branch with the canonical specs; "" is the main branch of the remote.
	Main string `yaml:"main"`
	// Threshold is the drift at which a node blocks a commit; 0 means DefaultThreshold.
	Threshold config.Positive `yaml:"gate_threshold"`
	// BlockUnknown stops a commit that the gate could not judge.
	BlockUnknown GateUnknown `yaml:"gate_unknown"`
}

// A GateUnknown says whether the gate blocks a commit that it could not judge.
type GateUnknown bool

// UnmarshalYAML accepts the words warn and block.
func (g *GateUnknown) UnmarshalYAML(n *yaml.Node) error {
	switch n.Value {
	case "block":
		*g = true
	case "warn":
		*g = false
	default:
		return fmt.Errorf("line %d: spec: unknown gate_unknown %q (valid: warn, block)", n.Line, n.Value)
	}
	return nil
}
