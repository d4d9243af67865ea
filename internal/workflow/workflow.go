// Package workflow keeps the working directory of an agent workflow under its
// contract: it knows what every verb does to the directory, whose each file is,
// and what the workflow document says and must say.
//
// What the directory may hold is package contract's to say. The disk, the lock
// and the archive come in through [Dir]; the clock and new identities through
// [Options].
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
	// Root names the contract a project may extend, in messages.
	Root string
}

// A Keeper carries out the verbs on one state directory.
type Keeper struct {
	dir  Dir
	c    *contract.Contract
	opts Options
}

// New returns the keeper of a directory.
func New(dir Dir, opts Options) *Keeper {
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
func (k *Keeper) locked(ctx context.Context, verb string, f func(Held) error) error {
	h, err := k.dir.Lock(ctx, "ken state "+verb)
	if err != nil {
		return err
	}
	return errors.Join(f(h), h.Unlock())
}

// settle sees to it that what is read next is not the midst of a change: it
// waits for one that is being made and finishes one that was left.
func (k *Keeper) settle(ctx context.Context, verb string) error {
	midst, err := k.dir.Unfinished()
	if err != nil || !midst {
		return err
	}
	return k.locked(ctx, verb, func(Held) error { return nil })
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
	d, err := ParseDocument(b)
	if err != nil {
		return nil, k.corrupt(err)
	}
	return d, nil
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
	return d.session(), nil
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
