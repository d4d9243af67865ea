package install

import "bytes"

// A SetupFile is one that ken makes.
type SetupFile struct {
	Path string // from the root, with slashes
	Text string
}

// SetupFiles are what ken makes, beside its part of the git hooks.
var SetupFiles = []SetupFile{
	{Path: ".ken/config.yaml", Text: configText},
	{Path: ".ken/.gitignore", Text: "# The working files of a workflow are nobody else's.\n/state/\n"},
}

// Install makes the file where there is none; nil is a file that is not there. One that
// is there says what somebody wants it to say.
func (f SetupFile) Install(text []byte) FileChange {
	if text == nil {
		return FileChange{Op: Create, Text: []byte(f.Text), Action: "created"}
	}
	return FileChange{Action: "kept"}
}

// Uninstall removes the file, if it is as it was made.
func (f SetupFile) Uninstall(text []byte) FileChange {
	switch {
	case text == nil:
		return FileChange{Action: "absent"}
	case !bytes.Equal(text, []byte(f.Text)):
		return FileChange{Action: "kept", Note: "it was edited, and stays"}
	}
	return FileChange{Op: Remove, Action: "removed"}
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
