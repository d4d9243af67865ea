// Package contract knows what the working directory of an agent workflow may
// hold: every file name, who writes it and for what, how long it lives, and what
// must stand in it.
//
// The contract is data, default.yaml, which a project may extend. No other place
// in ken spells out the name of a file in that directory: code asks for a file by
// the [Role] it plays. The package judges names and contents that it is handed,
// and touches no disk.
package contract

// A Contract is what a state directory may hold. It is made by [Default] or
// [Extend], is not changed after that, and may be asked by several goroutines at
// once.
type Contract struct {
	// Dir is where the directory lies when nobody says otherwise, from the
	// root of the work tree.
	Dir string `yaml:"dir" json:"dir"`
	// StaleDays is how long a file that only a pattern allows is fresh.
	StaleDays int `yaml:"stale_days" json:"stale_days"`
	// ArchiveRuns is how many snapshots the archive keeps.
	ArchiveRuns int `yaml:"archive_runs" json:"archive_runs"`

	Groups    []Group   `yaml:"groups" json:"groups"`
	Files     []File    `yaml:"files" json:"files"`
	Patterns  []Pattern `yaml:"patterns" json:"patterns"`
	Ephemeral []Pattern `yaml:"ephemeral" json:"ephemeral"`
	Keys      []Key     `yaml:"keys" json:"keys"`

	index index
}

// A Group is a heading of the inventory.
type Group struct {
	Name  string `yaml:"name" json:"name"`
	Title string `yaml:"title" json:"title"`
}

// A File is a canonical file: one that is allowed by its exact name.
type File struct {
	Name    string `yaml:"name" json:"name"`
	Group   string `yaml:"group" json:"group"`
	Writer  string `yaml:"writer" json:"writer"`
	Purpose string `yaml:"purpose" json:"purpose"`
	// Role is what ken itself uses the file for, "" for most.
	Role Role `yaml:"role,omitempty" json:"role,omitempty"`
	// Dir says that it is a directory.
	Dir bool `yaml:"dir,omitempty" json:"dir,omitempty"`
	// Exempt files survive a reset.
	Exempt bool `yaml:"exempt,omitempty" json:"exempt,omitempty"`
	// Log files are forensic: one JSON object to a line, appended only.
	Log bool `yaml:"log,omitempty" json:"log,omitempty"`
	// Evict says whether the file leaves when another workflow begins.
	Evict Evict `yaml:"evict,omitempty" json:"evict,omitempty"`
	// Status lists the values a Markdown file's status heading may have;
	// without any, it needs none.
	Status []string `yaml:"status,omitempty" json:"status,omitempty"`
	// Sidecar names the JSON file that carries a Markdown file's status.
	Sidecar string `yaml:"sidecar,omitempty" json:"sidecar,omitempty"`
	// Schema is what a JSON file must hold.
	Schema *Schema `yaml:"schema,omitempty" json:"schema,omitempty"`
}

// A Role is what ken itself uses a file for.
type Role string

// The roles. Each belongs to exactly one file of the default contract, and no
// project can reassign it.
const (
	Workflow  Role = "workflow"  // the workflow document
	Lock      Role = "lock"      // names the holder of the lock
	Archive   Role = "archive"   // the directory of snapshots
	Journal   Role = "journal"   // who wrote which file
	Deferred  Role = "deferred"  // work put off
	Handoff   Role = "handoff"   // a paused workflow, for programs
	Narrative Role = "narrative" // the same, for people
	Probes    Role = "probes"    // the log of failed probes
)

// Evict says when a file leaves as another workflow begins.
type Evict string

// The ways of leaving.
const (
	Stays  Evict = ""       // it does not
	Always Evict = "always" // whoever wrote it
	Scoped Evict = "scoped" // unless the session at hand wrote it
)

// A Schema is what a JSON object must hold.
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
	// Base is the stem of the canonical file whose statuses and schema a
	// variant obeys: review for review-lane-api.json means review.json.
	Base string `yaml:"base,omitempty" json:"base,omitempty"`
}

// A Key is a known key of the workflow document.
type Key struct {
	Name string  `yaml:"name" json:"name"`
	Type KeyType `yaml:"type" json:"type"`
	// Enum lists the legal values; any value of the type when empty.
	Enum []string `yaml:"enum,omitempty" json:"enum,omitempty"`
	// Initial is its value in a workflow that has just begun, "" for none.
	Initial string `yaml:"initial,omitempty" json:"initial,omitempty"`
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
