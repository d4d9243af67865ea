package install

import (
	"errors"
	"slices"
	"strings"

	"ken/internal/suggest"
)

// A Scope says whose files are meant.
type Scope string

// The scopes.
const (
	Project Scope = "project" // of one repository, for everybody who works in it
	User    Scope = "user"    // of one person, for every repository
)

// A Base is a directory that paths of a client begin at.
type Base int

// The bases. Each but Work depends on the person and on the system.
const (
	Work       Base = iota // the root of the work tree
	Home                   // the home directory
	ClaudeFile             // where Claude Code keeps .claude.json
	ClaudeDir              // where Claude Code keeps its settings
	CodexDir               // where Codex keeps its configuration
	ConfigDir              // where programs keep their configuration: XDG_CONFIG_HOME
	CodeDir                // where VS Code keeps a user's files
)

// A Format is how a file is written.
type Format int

// The formats.
const (
	JSON Format = iota // with comments and trailing commas
	TOML
)

// A Client is a program in which agents run.
type Client struct {
	Name  string // on the command line
	Title string // as its makers call it
	// Reads names a client whose hooks of the project this one runs too, "" for none.
	Reads string
	Files []ClientFile
}

// A ClientFile is one of a client's files, and what ken has in it.
type ClientFile struct {
	Scope Scope
	Base  Base
	Path  string // below the base, with slashes
	// Older is where it was in older versions of the client, "" for the same place. It
	// is the client's file as long as it is the only one that is there.
	Older  string
	Format Format
	// Head is what a JSON file of this kind begins with, as members of an object; it is
	// only written into a file that is made.
	Head  string
	Parts []Part
	Note  string // what the user should know once something was put in
}

// A Part is one thing of ken's in a file: a server, or a hook.
type Part struct {
	// At leads to the object or, of a hook, to the array that the part is in.
	At []string
	// Name is the member's; "" for an element of an array.
	Name string
	// Event is the verb of ken hook that the element runs; "" for a server.
	Event string
	// Value is what is put in, as compact JSON.
	Value string
}

// errUnknown is the error for a client that is none of [Clients].
var errUnknown = errors.New("unknown client")

// FindClient returns the client of that name.
func FindClient(name string) (Client, error) {
	for _, c := range Clients() {
		if c.Name == name {
			return c, nil
		}
	}
	return Client{}, errUnknown
}

// NearestClient returns the client that was probably meant by a name that is none, "" for none:
// claude for claude-code, vscode for VS Code.
func NearestClient(asked string) string {
	asked = letters(asked)
	if len(asked) < 3 || len(asked) > maxAsked {
		return ""
	}
	best, least := "", 0
	for _, c := range Clients() {
		for _, is := range []string{c.Name, letters(c.Title)} {
			far, alike := suggest.Slip(is, asked)
			if strings.HasPrefix(asked, is) || strings.HasPrefix(is, asked) {
				far, alike = max(len(is), len(asked))-min(len(is), len(asked)), true
			}
			if alike && (best == "" || far < least) {
				best, least = c.Name, far
			}
		}
	}
	return best
}

// maxAsked is longer than any name that is worth comparing.
const maxAsked = 40

// letters are those of a name, without case, spaces and the like.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// ClientNames lists the clients by name.
func ClientNames() []string {
	var list []string
	for _, c := range Clients() {
		list = append(list, c.Name)
	}
	return list
}

// In returns the files of a scope.
func (c Client) In(s Scope) []ClientFile {
	return slices.DeleteFunc(slices.Clone(c.Files), func(f ClientFile) bool { return f.Scope != s })
}

// A ClientResult is what was done with a client's files.
type ClientResult struct {
	Client string       `json:"client"`
	Scope  Scope        `json:"scope"`
	Files  []FileResult `json:"files"`
	DryRun bool         `json:"dry_run"` // nothing was done
}

// A ClientStatus is how far ken is in one of a client's files.
type ClientStatus struct {
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
