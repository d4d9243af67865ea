package app

import (
	"context"
	"errors"

	"ken/internal/fault"
)

// errNoBase is in the chain where workers have no place to meet.
var errNoBase = errors.New("workers meet in a store on PostgreSQL, and none is named")

// meet returns where workers meet, and who the repository is there. If the user has not allowed
// it, that is an error for who asked for it, and as if none were named for who did not.
func (w *workspace) meet(ctx context.Context, asked bool) (address, identity string, err error) {
	t, err := w.openTeam(ctx)
	if err != nil {
		return "", "", err
	}
	if t == nil {
		return "", "", &fault.Error{
			Kind: fault.Usage, Hint: "name one in .ken/config.yaml: store: postgres://USER@HOST/DATABASE, or in KEN_STORE", Err: errNoBase,
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
