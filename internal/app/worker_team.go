package app

import (
	"context"
	"errors"

	"ken/internal/fault"
)

// errNoBase is in the chain when no database for workers is configured.
var errNoBase = errors.New("workers need a PostgreSQL database, and none is configured")

// meet returns the address of the database of the workers, and the repository's identity there.
// If the user has not allowed the address, a command that asked for it gets that error, and any
// other command errNoBase.
func (w *workspace) meet(ctx context.Context, asked bool) (address, identity string, err error) {
	t, err := w.openTeam(ctx)
	if err != nil {
		return "", "", err
	}
	if t == nil {
		return "", "", &fault.Error{
			Kind: fault.Usage, Hint: "set store: postgres://USER@HOST/DATABASE in .ken/config.yaml, or KEN_STORE", Err: errNoBase,
		}
	}
	w.team = t
	switch refused := t.Refused(); {
	case refused != nil && asked:
		return "", "", refused
	case refused != nil:
		return "", "", errNoBase
	}
	identity, err = w.identity(ctx)
	return w.baseAddress(), identity, err
}
