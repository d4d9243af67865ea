package install

// Options say what is done with a client's files. The zero value puts ken into those of
// the project.
type Options struct {
	Scope     Scope // [Project] when ""
	Uninstall bool  // take ken out instead of putting it in
	DryRun    bool  // only say what would be done
}

// An Installation is what was done with a client's files.
type Installation struct {
	Client string    `json:"client"`
	Scope  Scope     `json:"scope"`
	Files  []Outcome `json:"files"`
	DryRun bool      `json:"dry_run"` // nothing was done
}

// An Outcome is what was done with a file.
type Outcome struct {
	Path   string `json:"path"` // from the root of the work tree, or absolute
	Action string `json:"action"`
	Note   string `json:"note,omitempty"`
	Diff   string `json:"diff,omitempty"` // of a dry run
}

// A Standing is how far ken is in one of a client's files.
type Standing struct {
	Client string `json:"client"`
	Scope  Scope  `json:"scope"`
	Path   string `json:"path"`
	Parts  int    `json:"parts"` // of ken that are in it
	Of     int    `json:"of"`    // that there could be
	Broken string `json:"broken,omitempty"`
	Server bool   `json:"server"` // the part is the MCP server, else hooks
	Absent bool   `json:"-"`      // the file is not there
	Named  bool   `json:"-"`      // it cannot be read, and names ken
	Reads  string `json:"-"`      // see [Client]
}
