package install

import "bytes"

// A SetupFile is a file that ken install git creates.
type SetupFile struct {
	Path string // from the root, with slashes
	Text string
}

// SetupFiles lists the files that ken install git creates besides the git hooks.
var SetupFiles = []SetupFile{
	{Path: ".ken/config.yaml", Text: configText},
	{Path: ".ken/.gitignore", Text: "# Working files of workflows stay on this machine.\n/state/\n"},
}

// Install creates the file if it is missing, which nil says. It keeps a file that exists.
func (f SetupFile) Install(text []byte) FileChange {
	if text == nil {
		return FileChange{Op: Create, Text: []byte(f.Text), Action: "created"}
	}
	return FileChange{Action: "kept"}
}

// Uninstall removes the file if it was not edited.
func (f SetupFile) Uninstall(text []byte) FileChange {
	switch {
	case text == nil:
		return FileChange{Action: "absent"}
	case !bytes.Equal(text, []byte(f.Text)):
		return FileChange{Action: "kept", Note: "edited since ken install git; ken leaves it as it is"}
	}
	return FileChange{Op: Remove, Action: "removed"}
}

// configText has every setting as a comment, with its default. A line of prose has a
// space after the mark; the other lines become settings when the mark is removed.
const configText = `# Settings of ken for this repository. The values below are the defaults unless a comment
# says otherwise. Remove the # at the start of a line to change a setting.
# The manual page config lists all settings.

#registry:
#  # Files that need no summary, and files that need one whatever their kind or size (examples).
#  exclude: ["testdata/**"]
#  include: []
#  # Larger files need no summary.
#  max_bytes: 1048576
#  # Changes that make a summary stale. Changes of format do not.
#  stale_grades: [body, interface, content]

#spec:
#  # The drift at which the gate stops a commit, and what it does if it cannot judge one.
#  gate_threshold: 3
#  gate_unknown: warn

#survey:
#  # The writer of directory summaries: outline (offline, free), anthropic, openai or command.
#  provider: outline
#  # Paths that the survey leaves out.
#  exclude: []

#review:
#  # The lines that fail ken review --check: docs, drift, broken, may use, tests, stale or also.
#  fail_on: [docs, drift]

#share:
#  # The git remote to share summaries with, and whether ken summary close pushes to it.
#  remote: origin
#  push_on_close: false
#  # Whose records to accept: anyone, signed-off or signed.
#  trust: anyone

#state:
#  # The directory of a workflow's working files.
#  dir: .ken/state
`
