package workflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"ken/internal/contract"
	"ken/internal/state"
)

// A CheckResult lists the problems of the files in the directory.
type CheckResult struct {
	Problems []contract.Problem `json:"problems"`
}

// Check validates the workflow document and every file whose content the contract
// describes.
func (m *Manager) Check(ctx context.Context) (*CheckResult, error) {
	var c *CheckResult
	err := m.reading(ctx, "check", func() (err error) {
		c, err = m.check(ctx)
		return err
	})
	return c, err
}

func (m *Manager) check(ctx context.Context) (*CheckResult, error) {
	entries, err := m.dir.Entries(ctx)
	if err != nil {
		return nil, err
	}
	c := &CheckResult{Problems: []contract.Problem{}}
	for _, e := range entries {
		f, known := m.c.File(e.Name)
		switch classify(m.c, e) {
		case contract.Canonical, contract.PatternAllowed:
			if e.Kind != state.Directory {
				c.Problems = append(c.Problems, m.checkFile(e, f)...)
			}
		case contract.AdHoc:
			if known { // a file in place of a directory, or the reverse
				c.Problems = append(c.Problems, wrongKind(e, f))
			}
		case contract.Unknown:
			c.Problems = append(c.Problems, contract.Problem{File: nameJSON(e.Name).Name, Problem: "cannot be inspected: " + reason(e.Err), Expected: "a readable file"})
		case contract.Ephemeral:
		}
	}
	return c, nil
}

func wrongKind(e state.Entry, f contract.Entry) contract.Problem {
	p := contract.Problem{File: e.Name, Problem: "is a " + kindWord(e.Kind), Expected: "a file"}
	if f.Dir {
		p.Expected = "a directory"
	}
	return p
}

func (m *Manager) checkFile(e state.Entry, f contract.Entry) []contract.Problem {
	if e.Kind != state.Regular {
		return []contract.Problem{{File: nameJSON(e.Name).Name, Problem: "is a " + kindWord(e.Kind), Expected: "a regular file"}}
	}
	if f.Role != contract.Workflow && !m.c.Checks(e.Name) {
		return nil
	}
	b, err := m.dir.Read(e.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone since it was listed
	}
	if err != nil {
		return []contract.Problem{{File: e.Name, Problem: "cannot be read: " + reason(err), Expected: "a readable file"}}
	}
	if f.Role != contract.Workflow {
		return m.c.Check(e.Name, b)
	}
	d, err := parseDocument(b)
	if err != nil {
		return []contract.Problem{{File: e.Name, Problem: "corrupt: " + err.Error(), Expected: "a YAML mapping; ken state restore brings back an older one"}}
	}
	return append(m.keyProblems(d), m.identityProblems(d)...)
}

// identityProblems reports a history without the original or the current id.
func (m *Manager) identityProblems(d *Document) []contract.Problem {
	old := d.history()
	healed := completeHistory(d.id(keyOriginal), d.id(keyID), old)
	if len(healed) == len(old) && (len(old) == 0 || healed[0] == old[0]) {
		return nil
	}
	return []contract.Problem{{
		File:     m.name(contract.Workflow),
		Problem:  fmt.Sprintf("%s is %q", keyHistory, old),
		Expected: fmt.Sprintf("%q; the next ken state update corrects it", healed),
	}}
}

func reason(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

func kindWord(kind state.EntryKind) string {
	switch kind {
	case state.Directory:
		return "directory"
	case state.Symlink:
		return "symbolic link"
	case state.Special:
		return "special file"
	case state.Regular:
		return "file"
	default:
		return "file that cannot be inspected"
	}
}
