// Package install decides how ken is added to a repository and to agents' clients, and
// removed again: the git hooks, the files of ken install git, the entries in clients' files. It also
// decides what ken doctor reports.
//
// The package is given names, bytes and facts, and answers with changes. It keeps every
// byte that ken did not write, and removing ken restores the bytes before it. Other
// packages find, read and write the files.
package install

// A FileOp is an operation on a file.
type FileOp int

// The operations.
const (
	Nothing  FileOp = iota
	Create          // write a new file, or replace one that ken created
	Rewrite         // replace the content and keep the mode
	SetAside        // rename the file, then create one in its place
	Remove          // remove the file
	Restore         // give the renamed file its name back
)

// A FileChange is the change that installing or uninstalling makes to a file.
type FileChange struct {
	Op     FileOp
	Text   []byte // the content to write
	Action string // the word for the change, such as "created"
	Note   string // what the user should know besides
	Off    bool   // a hook that contains ken's block and that git does not run
}

// A FileResult reports what was done with a file.
type FileResult struct {
	Name   string `json:"name,omitempty"` // of a git hook
	Path   string `json:"path"`           // relative to the root, or absolute outside it
	Action string `json:"action"`
	Note   string `json:"note,omitempty"`
	Diff   string `json:"diff,omitempty"` // of a client's file, in a dry run
	Off    bool   `json:"-"`              // see [FileChange]
}

// Options choose between installing and uninstalling. The zero value installs ken for
// the project.
type Options struct {
	Scope     Scope // of a client's files; "" is [Project]
	Uninstall bool  // remove ken instead of adding it
	DryRun    bool  // only report what would be done
}

// Would turns the word for a change into the word for a change that a dry run would
// make: "created" into "would create". Words for no change stay.
func Would(action string) string {
	verb, ok := verbs[action]
	if !ok {
		return action
	}
	return "would " + verb
}

var verbs = map[string]string{
	"created": "create", "added": "add", "updated": "update", "set aside": "set aside",
	"removed": "remove", "taken out": "take out", "restored": "restore",
}
