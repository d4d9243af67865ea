package workflow

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"ken/internal/config"
	"ken/internal/contract"
)

// A Policy is the section state of the configuration.
type Policy struct {
	// Dir is the path of the state directory from the root of the work tree; "" is the path in the contract.
	Dir Dir `yaml:"dir"`
	// ArchiveRuns is the number of snapshots in the archive; nil is the number in the contract.
	ArchiveRuns *config.Whole `yaml:"archive_runs"`
}

// A Dir is the path of a state directory in a work tree.
type Dir string

// UnmarshalYAML accepts directories that a repository may choose.
func (d *Dir) UnmarshalYAML(n *yaml.Node) error {
	if err := n.Decode((*string)(d)); err != nil {
		return err
	}
	if err := contract.CheckDir(string(*d)); err != nil {
		return fmt.Errorf("line %d: state: %w", n.Line, err)
	}
	return nil
}
