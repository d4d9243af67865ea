package worker

import (
	"context"
	"errors"

	"ken/internal/fault"
	"ken/internal/ken"
)

// ErrNoDatabase means that no database for workers is configured.
var ErrNoDatabase = errors.New("workers need a PostgreSQL database, and none is configured")

// database returns the address of the database of the workers, and the repository's identity there.
// If the user has not allowed the address, a command that asked for it gets that error, and any
// other command ErrNoDatabase.
func database(ctx context.Context, w *ken.Repository, asked bool) (address, identity string, err error) {
	t, err := w.OpenTeam(ctx)
	if err != nil {
		return "", "", err
	}
	if t == nil {
		return "", "", &fault.Error{
			Kind: fault.Usage, Hint: "set store: postgres://USER@HOST/DATABASE in .ken/config.yaml, or KEN_STORE", Err: ErrNoDatabase,
		}
	}
	w.Team = t
	switch refused := t.Refused(); {
	case refused != nil && asked:
		return "", "", refused
	case refused != nil:
		return "", "", ErrNoDatabase
	}
	identity, err = w.Identity().Name(ctx)
	return w.StoreAddress(), identity, err
}
