// Package setup decides what ken init makes in a repository: which files, what they say,
// and what becomes of one that is there already. It also says what is wrong with how a
// repository is set up, from facts that others found out.
package setup

import "bytes"

// A File is one that ken makes.
type File struct {
	Path string // from the root, with slashes
	Text string
}

// Files are what ken makes, beside its part of the git hooks.
var Files = []File{
	{Path: ".ken/config.yaml", Text: configText},
	{Path: ".ken/.gitignore", Text: "# The working files of a workflow are nobody else's.\n/state/\n"},
}

// A Deed is what is done to a file.
type Deed int

// The deeds.
const (
	Nothing Deed = iota
	Create
	Remove
)

// A Change is what setting up, or taking back, makes of a file.
type Change struct {
	Deed   Deed
	Action string // the word for it
	Note   string // what the user should know besides
}

// Install makes the file where there is none; nil is a file that is not there. One that
// is there says what somebody wants it to say.
func (f File) Install(text []byte) Change {
	if text == nil {
		return Change{Deed: Create, Action: "created"}
	}
	return Change{Action: "kept"}
}

// Uninstall removes the file, if it is as it was made.
func (f File) Uninstall(text []byte) Change {
	switch {
	case text == nil:
		return Change{Action: "absent"}
	case !bytes.Equal(text, []byte(f.Text)):
		return Change{Action: "kept", Note: "it was edited, and stays"}
	}
	return Change{Deed: Remove, Action: "removed"}
}

// Would is the word for what a dry run did not do, given the word for having done it. That
// nothing was to be done is said as ever.
func Would(action string) string {
	verb, ok := verbs[action]
	if !ok {
		return action
	}
	return "would " + verb
}

// verbs are the words of ken init and ken install for what changes something.
var verbs = map[string]string{
	"created": "create", "added": "add", "updated": "update", "set aside": "set aside",
	"removed": "remove", "taken out": "take out", "restored": "restore",
}

// An Outcome is what was done with a file.
type Outcome struct {
	Path   string `json:"path"`
	Action string `json:"action"`
	Note   string `json:"note,omitempty"`
}

// configText is the policy as it is without a file, with what can be said otherwise. A
// line of prose begins with a space behind the mark; the others only want it taken away.
const configText = `# What counts in this repository, for ken. Without an entry the default holds, which is
# what stands here unless it says otherwise; take the mark from a line to change it.
# All of it: the page config of ken's manual.

#registry:
#  # Paths that need no summary, and those that do whatever their kind or size.
#  exclude: ["testdata/**"]
#  include: []
#  # Larger files need none.
#  max_bytes: 1048576
#  # Which changes make a summary stale; one of format does not.
#  stale_grades: [body, interface, content]

#spec:
#  # The drift from which the gate stops a commit, and what it does when it cannot judge.
#  gate_threshold: 3
#  gate_unknown: warn

#survey:
#  # Who describes directories: outline (offline, for nothing), anthropic, openai, command.
#  provider: outline
#  # What is left out.
#  exclude: []

#share:
#  # With which git remote what is known is shared, and whether ken close does it.
#  remote: origin
#  push_on_close: false
#  # Whose records are taken over: anyone's, signed-off or signed ones.
#  trust: anyone

#state:
#  # Where the working files of a workflow lie.
#  dir: .ken/state
`
