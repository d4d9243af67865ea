package app

import (
	"context"
	"errors"
	"os"

	"ken/internal/fault"
)

// team says where the team's store is, and who the repository is in it.
func (w *workspace) team(ctx context.Context) (address, identity string, err error) {
	address = os.Getenv("KEN_STORE")
	if address == "" {
		return "", "", &fault.Error{Kind: fault.Usage, Hint: "set store: postgres://… in .ken/config.yaml, or KEN_STORE", Err: errors.New("workers meet in a store on PostgreSQL, and none is configured")}
	}
	root, err := w.git.RootCommit(ctx)
	return address, root, err
}

// hasTeam reports whether the repository that a directory lies in has a team's store.
func hasTeam(string) bool { return os.Getenv("KEN_STORE") != "" }
