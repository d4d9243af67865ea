package app

import (
	"context"
	"errors"

	"ken/internal/fault"
)

// errNoBase is in the chain where workers have no place to meet.
var errNoBase = errors.New("workers meet in a store on PostgreSQL, and none is named")

// meet returns where workers meet, and who the repository is there. To ask for it is to agree
// with what the repository names, unless asked is false: then it must have been agreed before.
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
	if asked {
		err = t.Agree()
	} else if !t.Agreed() {
		err = errNoBase
	}
	if err != nil {
		return "", "", err
	}
	identity, err = w.identity(ctx)
	return w.baseAddress(), identity, err
}
