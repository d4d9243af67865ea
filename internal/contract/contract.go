// Package contract says which files the working directory of an agent workflow may
// contain: their names, writers, purposes and lifetimes, and the required content.
//
// The contract is a table in Go, default.go, with the names of devt in devt.go. A project
// adds its own names. No other part of ken contains the name of a file in that directory:
// code asks for a file by its [Role]. The package checks names and contents, and reads no
// files.
package contract

import (
	"bytes"
	_ "embed" // the schema
	"slices"

	"go.yaml.in/yaml/v3"
)

// A Contract says which files a state directory may contain. [DefaultFor] and [Extend]
// return one. It does not change, and several goroutines may use it.
type Contract struct {
	// Dir is the default directory, relative to the root of the work tree.
	Dir string `yaml:"dir" json:"dir"`
	// StaleDays is the age in days from which cleanup moves pattern_allowed files.
	StaleDays int `yaml:"stale_days" json:"stale_days"`
	// ArchiveRuns is the number of snapshots that the archive keeps.
	ArchiveRuns int `yaml:"archive_runs" json:"archive_runs"`

	Groups    []Group   `yaml:"groups" json:"groups"`
	Files     []Entry   `yaml:"files" json:"files"`
	Patterns  []Pattern `yaml:"patterns" json:"patterns"`
	Ephemeral []Pattern `yaml:"ephemeral" json:"ephemeral"`
	Keys      []Key     `yaml:"keys" json:"keys"`

	instances bool // directories with the name of a session are allowed

	index index
}

// A Group is a section of the printed contract.
type Group struct {
	Name  string `yaml:"name" json:"name"`
	Title string `yaml:"title" json:"title"`
}

// An Entry is a canonical file: its exact name is allowed.
type Entry struct {
	Name    string `yaml:"name" json:"name"`
	Group   string `yaml:"group" json:"group"`
	Writer  string `yaml:"writer" json:"writer"`
	Purpose string `yaml:"purpose" json:"purpose"`
	// Role says what ken itself uses the file for, "" for most files.
	Role Role `yaml:"role,omitempty" json:"role,omitempty"`
	// Dir is true for a directory.
	Dir bool `yaml:"dir,omitempty" json:"dir,omitempty"`
	// Exempt files survive a reset.
	Exempt bool `yaml:"exempt,omitempty" json:"exempt,omitempty"`
	// Log is true for a log, to which other programs append JSON lines.
	Log bool `yaml:"log,omitempty" json:"log,omitempty"`
	// Evict says whether the file moves to the archive when another workflow starts.
	Evict Evict `yaml:"evict,omitempty" json:"evict,omitempty"`
	// Status lists the values of the status heading of a Markdown file. Without
	// values the file needs no heading.
	Status []string `yaml:"status,omitempty" json:"status,omitempty"`
	// Sidecar is the JSON file with the status of a Markdown file.
	Sidecar string `yaml:"sidecar,omitempty" json:"sidecar,omitempty"`
	// Schema describes the fields of a JSON file.
	Schema *Schema `yaml:"schema,omitempty" json:"schema,omitempty"`
}

// A Role says what ken itself uses a file for.
type Role string

// The roles. Each belongs to one file of the default contract.
const (
	Workflow Role = "workflow" // the workflow document
	Lock     Role = "lock"     // has the process that holds the lock
	Archive  Role = "archive"  // the directory of snapshots
	Journal  Role = "journal"  // records which workflow wrote which file
	Deferred Role = "deferred" // the list of deferred work
	Probes   Role = "probes"   // the log of failed probes
)

// Evict says when a file moves to the archive because another workflow starts.
type Evict string

// The values of Evict.
const (
	Stays  Evict = ""       // never
	Always Evict = "always" // always
	Scoped Evict = "scoped" // unless the current session wrote it
)

// A Schema describes the fields of a JSON object.
type Schema struct {
	Required    []string            `yaml:"required,omitempty" json:"required,omitempty"`
	Recommended []string            `yaml:"recommended,omitempty" json:"recommended,omitempty"`
	Enums       map[string][]string `yaml:"enums,omitempty" json:"enums,omitempty"`
}

// A Pattern allows file names by a regular expression (RE2) over the whole name.
type Pattern struct {
	Pattern string `yaml:"pattern" json:"pattern"`
	Example string `yaml:"example" json:"example"`
	Use     string `yaml:"use" json:"use"`
	Evict   Evict  `yaml:"evict,omitempty" json:"evict,omitempty"`
	// Base is the canonical file, without extension, whose status values and schema
	// apply to the variants: with review, those of review.json apply to
	// review-lane-api.json.
	Base string `yaml:"base,omitempty" json:"base,omitempty"`
}

// A Key is a known key of the workflow document.
type Key struct {
	Name string  `yaml:"name" json:"name"`
	Type KeyType `yaml:"type" json:"type"`
	// Enum lists the legal values; any value of the type when empty.
	Enum []string `yaml:"enum,omitempty" json:"enum,omitempty"`
	// Initial is the value in a new workflow, "" for none.
	Initial string `yaml:"initial,omitempty" json:"initial,omitempty"`
	// Open is true if other values than those of Enum are only a warning.
	Open bool `yaml:"-" json:"open,omitempty"`
}

// A KeyType is the type of a key's value.
type KeyType string

// The types.
const (
	Boolean KeyType = "boolean"
	Number  KeyType = "number"
	String  KeyType = "string"
	List    KeyType = "list"
)

// ByRole returns the file with a role. It panics if there is none: every contract has
// a file for each role.
func (c *Contract) ByRole(r Role) Entry {
	for _, f := range c.Files {
		if f.Role == r && r != "" {
			return f
		}
	}
	panic("contract: no file has the role " + string(r))
}

// Name returns the name of the file with a role.
func (c *Contract) Name(r Role) string { return c.ByRole(r).Name }

// File returns the canonical file of that name.
func (c *Contract) File(name string) (Entry, bool) {
	i, ok := c.names()[name]
	if !ok {
		return Entry{}, false
	}
	return c.Files[i], true
}

// Key returns the known key of that name.
func (c *Contract) Key(name string) (Key, bool) {
	i := slices.IndexFunc(c.Keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return c.Keys[i], true
}

//go:embed contract.schema.json
var schema string

// JSONSchema returns the JSON Schema (2020-12) of a project's contract, for editors.
// Only [Extend] checks that names exist, that patterns compile and that a file only adds.
func JSONSchema() []byte { return []byte(schema) }

// YAML returns the contract as a document with the fields of a project's contract.
func (c *Contract) YAML() ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(c); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
