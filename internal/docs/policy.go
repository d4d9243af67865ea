package docs

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// A Policy is the section docs of the configuration.
type Policy struct {
	OK      []string `yaml:"ok"`      // accepted mentions, exact or as globs
	Exclude []string `yaml:"exclude"` // globs of documents that are not checked
}

// Validate returns an error for the first invalid glob.
func (p Policy) Validate() error {
	if err := repo.CheckGlobs(p.Exclude); err != nil {
		return err
	}
	for _, g := range p.OK { // an entry may also be a mention, which need not be a valid glob
		if err := repo.CheckGlobSize(g); err != nil {
			return err
		}
	}
	return nil
}

// acceptedByPolicy reports whether the policy accepts a mention.
func acceptedByPolicy(ok []string, m *mention.Mention) bool {
	for _, o := range ok {
		if o == m.Text || o == m.Name {
			return true
		}
		if match, err := doublestar.Match(o, strings.TrimPrefix(m.Name, "./")); err == nil && match {
			return true
		}
	}
	return false
}

// excluded reports whether a glob covers a document.
func excluded(globs []string, p repo.Path) bool {
	for _, g := range globs {
		if ok, err := doublestar.Match(g, string(p)); err == nil && ok {
			return true
		}
	}
	return false
}
