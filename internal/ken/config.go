package ken

import (
	"errors"
	"fmt"
	"strings"

	"ken/internal/config"
	"ken/internal/docs"
	"ken/internal/registry"
	"ken/internal/review"
	"ken/internal/share"
	"ken/internal/spec"
	"ken/internal/store/team"
	"ken/internal/survey"
	"ken/internal/workflow"
)

// Config is the configuration of a repository: the sections of all features.
type Config struct {
	Registry registry.Policy `yaml:"registry"`
	State    workflow.Policy `yaml:"state"`
	Spec     spec.Policy     `yaml:"spec"`
	Survey   survey.Policy   `yaml:"survey"`
	Docs     docs.Policy     `yaml:"docs"`
	Review   review.Policy   `yaml:"review"`
	Share    share.Policy    `yaml:"share"`
	// Store is the address of the database that a team shares, "" for none.
	Store string      `yaml:"store"`
	Team  team.Policy `yaml:"team"`
}

// LoadConfig reads the configuration of the work tree at root.
func LoadConfig(root string) (Config, error) {
	var c Config
	if err := config.Load(root, &c); err != nil {
		return Config{}, err
	}
	return c, nil
}

// ParseConfig parses the text of a configuration.
func ParseConfig(text []byte) (Config, error) {
	var c Config
	if err := config.Parse(text, &c); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Validate returns an error for the first wrong value. It does not quote the address of the store, because that may
// contain a password.
func (c *Config) Validate() error {
	if err := c.Registry.Validate(); err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	if err := c.Survey.Validate(); err != nil {
		return fmt.Errorf("survey: %w", err)
	}
	if err := c.Share.Validate(); err != nil {
		return fmt.Errorf("share: %w", err)
	}
	if c.Store != "" && !strings.HasPrefix(c.Store, "postgres://") && !strings.HasPrefix(c.Store, "postgresql://") {
		return errors.New("store: want the address of a PostgreSQL database: postgres://USER@HOST/DATABASE")
	}
	if err := c.Docs.Validate(); err != nil {
		return fmt.Errorf("docs: %w", err)
	}
	if err := c.Review.Validate(); err != nil {
		return fmt.Errorf("review: %w", err)
	}
	return nil
}
