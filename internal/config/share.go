package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ken/internal/share"
)

type sharePolicy struct {
	Remote      string   `yaml:"remote"`
	PushOnClose bool     `yaml:"push_on_close"`
	Trust       string   `yaml:"trust"`
	Authors     []string `yaml:"authors"`
	Refuse      []string `yaml:"refuse"`
	Budget      size     `yaml:"budget"`
}

// policy checks and converts the section share.
func (p sharePolicy) policy() (share.Policy, error) {
	out := share.Policy{Remote: p.Remote, PushOnClose: p.PushOnClose, Authors: p.Authors, Refuse: p.Refuse, Budget: int64(p.Budget)}
	var err error
	if out.Trust, err = share.ParseTrust(p.Trust); err != nil {
		return out, err
	}
	for _, g := range p.Authors {
		if err := share.CheckGlob(g); err != nil {
			return out, fmt.Errorf("authors: %w", err)
		}
	}
	for _, g := range p.Refuse {
		if err := share.CheckGlob(g); err != nil {
			return out, fmt.Errorf("refuse: %w", err)
		}
	}
	return out, nil
}

// A size is a number of bytes, optionally with a unit: B, kB, MB or GB.
type size int64

// UnmarshalYAML accepts sizes from 1 byte.
func (s *size) UnmarshalYAML(n *yaml.Node) error {
	text, unit := strings.ReplaceAll(n.Value, " ", ""), int64(1)
	if rest, ok := strings.CutSuffix(strings.ToLower(text), "b"); ok {
		text = rest
		for name, bytes := range map[string]int64{"k": 1000, "m": 1000_000, "g": 1000_000_000} {
			if rest, ok := strings.CutSuffix(text, name); ok {
				text, unit = rest, bytes
				break
			}
		}
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n.Kind != yaml.ScalarNode || v < 1 || v > math.MaxInt64/unit {
		return fmt.Errorf("line %d: invalid size %q: expected bytes, or a number with B, kB, MB or GB", n.Line, n.Value)
	}
	*s = size(v * unit)
	return nil
}
