package install

import (
	"errors"
	"slices"
	"strings"

	"ken/internal/suggest"
)

// A Scope is the owner of files.
type Scope string

// The scopes.
const (
	Project Scope = "project" // the repository: for everybody who works in it
	User    Scope = "user"    // the user: for all repositories
)

// A Base is a directory to which the paths of a client are relative.
type Base int

// The bases. All but Work depend on the user and the system.
const (
	Work       Base = iota // the root of the work tree
	Home                   // the home directory
	ClaudeFile             // of .claude.json of Claude Code
	ClaudeDir              // of the settings of Claude Code
	CodexDir               // of the configuration of Codex
	ConfigDir              // XDG_CONFIG_HOME
	CodeDir                // of the user's files of VS Code
)

// A Format is the format of a file.
type Format int

// The formats.
const (
	JSON Format = iota // with comments and trailing commas
	TOML
)

// A Client is a program that runs agents.
type Client struct {
	Name  string // on the command line
	Title string // the name of the product
	// Reads names another client whose project hooks this one also runs; "" for none.
	Reads string
	Files []ClientFile
}

// A ClientFile is a file of a client, with the entries that ken adds to it.
type ClientFile struct {
	Scope Scope
	Base  Base
	Path  string // relative to the base, with slashes
	// Older is the path in older versions of the client; "" for the same path. ken uses
	// it if only that file exists.
	Older  string
	Format Format
	// Head is the first members of a JSON file that ken creates.
	Head  string
	Parts []Part
	// Retired are entries that older versions added. They do nothing, so ken removes them.
	Retired []Part
	Note    string // what the user should know after the installation
}

// A Part is one entry of ken in a file: a server or a hook.
type Part struct {
	// At is the path to the object of a server, or to the array of a hook.
	At []string
	// Name is the member name of a server; "" for a hook.
	Name string
	// Event is the command of ken hook that the hook runs; "" for a server.
	Event string
	// Value is the entry as compact JSON.
	Value string
}

// errUnknown is the error for a name that no client has.
var errUnknown = errors.New("unknown client")

// FindClient returns the client with a name.
func FindClient(name string) (Client, error) {
	for _, c := range Clients() {
		if c.Name == name {
			return c, nil
		}
	}
	return Client{}, errUnknown
}

// NearestClient returns the client that a wrong name probably means: claude for
// claude-code, vscode for VS Code. It returns "" if none is similar.
func NearestClient(asked string) string {
	asked = letters(asked)
	if len(asked) < 3 || len(asked) > maxAsked {
		return ""
	}
	best, least := "", 0
	for _, c := range Clients() {
		for _, is := range []string{c.Name, letters(c.Title)} {
			far, alike := suggest.TypoDistance(is, asked)
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

// maxAsked is the limit for names that are compared.
const maxAsked = 40

// letters returns the letters of a name in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// ClientNames lists the names of all clients.
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

// A ClientResult is the result of ken install.
type ClientResult struct {
	Client string       `json:"client"`
	Scope  Scope        `json:"scope"`
	Files  []FileResult `json:"files"`
	DryRun bool         `json:"dry_run"` // nothing was changed
}

// A ClientStatus counts the entries of ken in a file of a client.
type ClientStatus struct {
	Client string `json:"client"`
	Scope  Scope  `json:"scope"`
	Path   string `json:"path"`
	Parts  int    `json:"parts"` // entries of ken in the file
	Of     int    `json:"of"`    // entries that ken install adds
	Broken string `json:"broken,omitempty"`
	Server bool   `json:"server"` // the entry is the MCP server; otherwise hooks
	// Foreign counts servers named ken that start another program.
	Foreign int    `json:"-"`
	Absent  bool   `json:"-"` // the file does not exist
	Named   bool   `json:"-"` // the file cannot be parsed, and mentions ken
	Reads   string `json:"-"` // see [Client]
}
