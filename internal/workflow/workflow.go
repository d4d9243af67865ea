// Package workflow implements the verbs of ken state: it decides which files of a
// state directory move or stay, which workflow wrote a file, and what the workflow
// document contains.
//
// Package contract says what the directory may contain. Package state has the disk,
// the lock and the archive. The clock and new ids come from [Options].
package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/state"
)

// Options tunes a Manager.
type Options struct {
	Contract *contract.Contract // the default contract when nil
	Now      func() time.Time
	NewID    func() string // returns a workflow id that was never used
	Author   string        // who writes, "" if unknown
	// ArchiveRuns is how many snapshots the archive keeps; the contract's
	// number when nil.
	ArchiveRuns *int
	// From is the base of relative paths of documents; "" for the current directory.
	From string
	// Mentions lists the paths by which documents refer to the directory.
	Mentions []string
	// Named says that the caller named a directory which is not the repository's own. ken changes it only
	// if it used it before, or after Begin.
	Named bool
	// Shared is the directory with the deferred work and the probes, if several sessions share
	// one; nil if it is the same. Close closes it.
	Shared *Manager
}

// A Manager carries out the verbs on one state directory.
type Manager struct {
	dir  *state.Dir
	c    *contract.Contract
	opts Options
}

// New returns the Manager of a directory.
func New(dir *state.Dir, opts Options) *Manager {
	if opts.Contract == nil {
		opts.Contract = contract.Default()
	}
	return &Manager{dir, opts.Contract, opts}
}

// Contract returns the contract of the directory.
func (m *Manager) Contract() *contract.Contract { return m.c }

// Path returns the absolute path of the directory.
func (m *Manager) Path() string { return m.dir.Path() }

// Mentions lists the paths by which documents refer to the directory.
func (m *Manager) Mentions() []string { return m.opts.Mentions }

// Documents calls f with every text file in paths and in the directories among them, except for files in the state
// directory. It calls left for files in directories that could not be read.
func (m *Manager) Documents(ctx context.Context, paths []string, left func(path string, why error), f func(path string, content []byte) error) error {
	return state.Documents(ctx, m.opts.From, paths, m.dir.Path(), left, f)
}

// Close closes the directory.
func (m *Manager) Close() error {
	if m.opts.Shared == nil {
		return m.dir.Close()
	}
	return errors.Join(m.dir.Close(), m.opts.Shared.Close())
}

// shared returns the Manager of the directory that all sessions share.
func (m *Manager) shared() *Manager {
	if m.opts.Shared == nil {
		return m
	}
	return m.opts.Shared
}

// name returns the name of the file with a role.
func (m *Manager) name(r contract.Role) string { return m.c.Name(r) }

// keep returns how many snapshots the archive keeps.
func (m *Manager) keep() int {
	if m.opts.ArchiveRuns != nil {
		return *m.opts.ArchiveRuns
	}
	return m.c.ArchiveRuns
}

// locked calls f while it has the lock of the directory. It refuses a directory that ken does not use.
func (m *Manager) locked(ctx context.Context, verb string, f func(*state.Locked) error) error {
	if err := m.mayChange(ctx); err != nil {
		return err
	}
	return m.lockedAny(ctx, verb, f)
}

// lockedAny is locked for a directory that ken need not have used.
func (m *Manager) lockedAny(ctx context.Context, verb string, f func(*state.Locked) error) error {
	h, err := m.dir.Lock(ctx, "ken state "+verb)
	if err != nil {
		return m.dir.WithDiskHint(err)
	}
	return m.dir.WithDiskHint(errors.Join(f(h), h.Unlock()))
}

// reading calls f, which only reads, until it saw the directory before a change or
// after it.
func (m *Manager) reading(ctx context.Context, verb string, f func() error) error {
	return m.dir.WithDiskHint(m.dir.View(ctx, "ken state "+verb, f))
}

// load reads the workflow document; nil if there is none.
func (m *Manager) load() (*Document, error) {
	name := m.name(contract.Workflow)
	b, err := m.dir.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(b)
	if err != nil {
		return nil, m.corrupt(err)
	}
	return d, nil
}

// corrupt adds the path, the line and a hint to an error about the workflow document.
func (m *Manager) corrupt(err error) error {
	place := m.dir.Path() + "/" + m.name(contract.Workflow)
	if c, ok := errors.AsType[*CorruptError](err); ok && c.Line > 0 {
		place, err = fmt.Sprintf("%s:%d", place, c.Line), &CorruptError{What: c.What}
	}
	return &fault.Error{
		Hint: "correct it by hand, or restore an older one with: ken state restore --overwrite SNAPSHOT " + m.name(contract.Workflow) +
			", or move everything to the archive and start anew with: ken state reset; ken state init --type TYPE",
		Err: fmt.Errorf("%s: corrupt: %w", place, err),
	}
}

// A Name is an entry's name in JSON. A name that is not UTF-8 is escaped, with the
// original bytes in base64.
type Name struct {
	Name string `json:"name"`
	B64  string `json:"name_b64,omitempty"`
}

// Raw returns the name by its bytes.
func (n Name) Raw() string {
	raw, err := repo.PathJSON{Path: n.Name, B64: n.B64}.Raw()
	if err != nil {
		return n.Name
	}
	return string(raw)
}

func nameJSON(name string) Name {
	j := repo.Path(name).JSON()
	return Name{j.Path, j.B64}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// badRequest returns a usage error.
func badRequest(hint, format string, args ...any) error {
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf(format, args...)}
}
