package docs

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// A Policy is the section docs of the configuration.
type Policy struct {
	OK      []Accepted `yaml:"ok"`
	Exclude []string   `yaml:"exclude"` // globs of documents that are not checked
}

// Accepted is a mention that is right as it is.
type Accepted struct {
	Document repo.Path `yaml:"document"` // "" for all documents
	Mention  string    `yaml:"mention"`  // exact; without a document also a glob
}

// UnmarshalYAML reads a mention, or a mapping with a document and a mention.
func (a *Accepted) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return n.Decode(&a.Mention)
	}
	for i := 0; i < len(n.Content); i += 2 {
		if key := n.Content[i]; key.Value != "document" && key.Value != "mention" {
			return fmt.Errorf("line %d: unknown field %s (valid: document, mention)", key.Line, key.Value)
		}
	}
	type fields Accepted
	if err := n.Decode((*fields)(a)); err != nil {
		return err
	}
	if a.Document == "" || a.Mention == "" {
		return fmt.Errorf("line %d: an entry of ok needs a document and a mention", n.Line)
	}
	return nil
}

// Validate returns an error for the first invalid glob.
func (p Policy) Validate() error {
	if err := repo.CheckGlobs(p.Exclude); err != nil {
		return err
	}
	for _, a := range p.OK { // an entry may also be a mention, which need not be a valid glob
		if a.Document != "" {
			continue
		}
		if err := repo.CheckGlobSize(a.Mention); err != nil {
			return err
		}
	}
	return nil
}

// acceptedByPolicy reports whether the policy accepts a mention.
func acceptedByPolicy(ok []Accepted, m *mention.Mention) bool {
	for _, a := range ok {
		if a.Document != "" && a.Document != policyName(m.File) {
			continue
		}
		if a.Mention == m.Text || a.Mention == m.Name {
			return true
		}
		if a.Document != "" {
			continue
		}
		if match, err := doublestar.Match(a.Mention, strings.TrimPrefix(m.Name, "./")); err == nil && match {
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

// policyName returns the name of a document in the configuration. That of a document outside of the repository names no
// directory of the user, since others read the configuration too.
func policyName(doc repo.Path) repo.Path {
	if !IsOutside(doc) {
		return doc
	}
	return repo.Path(path.Join(doc.Dir().Base(), doc.Base()))
}
