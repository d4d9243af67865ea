// Package workflow keeps the working directory of an agent workflow under its
// contract: it knows what every verb does to the directory, whose each file is,
// and what the workflow document says and must say.
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

// Options tunes a Keeper.
type Options struct {
	Contract *contract.Contract // the default contract when nil
	Now      func() time.Time
	NewID    func() string // a workflow id that nobody has had
	Author   string        // who writes, "" when nobody knows
	// ArchiveRuns is how many snapshots the archive keeps; the contract's
	// number when nil.
	ArchiveRuns *int
	// Commit returns the commit at HEAD, "" where there is none.
	Commit func(context.Context) string
}

// A Keeper carries out the verbs on one state directory.
type Keeper struct {
	dir  *state.Dir
	c    *contract.Contract
	opts Options
}

// New returns the keeper of a directory.
func New(dir *state.Dir, opts Options) *Keeper {
	if opts.Contract == nil {
		opts.Contract = contract.Default()
	}
	if opts.Commit == nil {
		opts.Commit = func(context.Context) string { return "" }
	}
	return &Keeper{dir, opts.Contract, opts}
}

// Contract returns what the directory is held to.
func (k *Keeper) Contract() *contract.Contract { return k.c }

func (k *Keeper) name(r contract.Role) string { return k.c.Name(r) }

// keep is how many snapshots a change may leave.
func (k *Keeper) keep() int {
	if k.opts.ArchiveRuns != nil {
		return *k.opts.ArchiveRuns
	}
	return k.c.ArchiveRuns
}

// locked runs f as the only one who writes to the directory.
func (k *Keeper) locked(ctx context.Context, verb string, f func(*state.Locked) error) error {
	h, err := k.dir.Lock(ctx, "ken state "+verb)
	if err != nil {
		return err
	}
	return errors.Join(f(h), h.Unlock())
}

// reading calls f, which only reads, until it saw the directory before a change or
// after it.
func (k *Keeper) reading(ctx context.Context, verb string, f func() error) error {
	return k.dir.View(ctx, "ken state "+verb, f)
}

// load reads the workflow document; nil if there is none.
func (k *Keeper) load() (*Document, error) {
	name := k.name(contract.Workflow)
	b, err := k.dir.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(b)
	if err != nil {
		return nil, k.corrupt(err)
	}
	return d, nil
}

// entries lists the directory as it is between changes.
func (k *Keeper) entries(ctx context.Context, verb string) (entries []state.Entry, err error) {
	err = k.reading(ctx, verb, func() (err error) {
		entries, err = k.dir.Entries(ctx)
		return err
	})
	return entries, err
}

// corrupt says which file cannot be read, where, and what mends it.
func (k *Keeper) corrupt(err error) error {
	place := k.dir.Path() + "/" + k.name(contract.Workflow)
	if c, ok := errors.AsType[*CorruptError](err); ok && c.Line > 0 {
		place, err = fmt.Sprintf("%s:%d", place, c.Line), &CorruptError{What: c.What}
	}
	return &fault.Error{
		Hint: "mend it by hand, or keep the bad copy in the archive and save what can be read with: ken state repair",
		Err:  fmt.Errorf("%s: corrupt: %w", place, err),
	}
}

// sessionNow returns what the sweeps need to know of the workflow at hand.
func (k *Keeper) sessionNow() (session, error) {
	d, err := k.load()
	if d == nil || err != nil {
		return session{}, err
	}
	return d.session(k.opts.Now()), nil
}

// A Name is an entry's name in documents: as text, and in base64 beside it when
// the text is only a rendering.
type Name struct {
	Name string `json:"name"`
	B64  string `json:"name_b64,omitempty"`
}

func nameJSON(name string) Name {
	j := repo.Path(name).JSON()
	return Name{j.Path, j.B64}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// badRequest is an error in what was asked for.
func badRequest(hint, format string, args ...any) error {
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf(format, args...)}
}
