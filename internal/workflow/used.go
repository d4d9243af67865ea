package workflow

import (
	"context"
	"errors"
	"slices"

	"ken/internal/contract"
	"ken/internal/state"
)

// errUnused is the error about a directory that holds files of somebody else.
var errUnused = errors.New("it has files, but no workflow document, journal or snapshot of ken, " +
	"so ken does not change it")

// mayChange refuses to change a directory that ken does not use.
func (m *Manager) mayChange(ctx context.Context) error {
	used, err := m.used(ctx)
	if used || err != nil {
		return err
	}
	const hint = "if it is a state directory, say so with: ken state init --type TYPE"
	return badRequest(hint, "%s: %w", m.dir.Path(), errUnused)
}

// used reports whether ken may change the directory: it is the repository's own, nothing in it
// could be lost, or ken used it before.
func (m *Manager) used(ctx context.Context) (bool, error) {
	if !m.opts.Named {
		return true, nil
	}
	used := false
	err := m.reading(ctx, "look", func() error {
		entries, err := m.dir.Entries(ctx)
		used = len(planReset(m.c, entries)) == 0
		if used || err != nil {
			return err
		}
		used, err = m.hasOwnFile(ctx)
		return err
	})
	return used, err
}

// hasOwnFile reports whether ken finds a document with a key of the contract, a record of the
// journal, or a snapshot that it made. A file that it cannot read proves nothing.
func (m *Manager) hasOwnFile(ctx context.Context) (bool, error) {
	d, err := m.load()
	if err == nil && d != nil && slices.ContainsFunc(d.Keys(), m.knowsKey) {
		return true, nil
	}
	if j, err := m.journal(); err == nil && len(j) > 0 {
		return true, nil
	}
	all, err := m.dir.Snapshots(ctx)
	return slices.ContainsFunc(all, func(s state.Snapshot) bool { return s.Manifest != nil }), err
}

func (m *Manager) knowsKey(name string) bool {
	_, known := m.c.Key(name)
	return known
}

// foreignDocument is the error about a document of another program, in a directory that ken does not use.
func (m *Manager) foreignDocument() error {
	const hint = "move it away, or use another directory with --dir"
	return badRequest(hint, "%s belongs to another program", m.path(contract.Workflow))
}
