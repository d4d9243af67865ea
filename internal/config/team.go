package config

import (
	"errors"
	"strings"
)

// Team is the policy for the database that a team shares.
type Team struct {
	// Store is the address of the database, "" for none.
	Store string
	// Repository is the name of the repository in the database; "" is its root commit.
	Repository string
}

type teamPolicy struct {
	Repository string `yaml:"repository"`
}

// team checks the address of the database. Errors do not quote the address, because it may contain a password.
func team(store string, p teamPolicy) (Team, error) {
	if store != "" && !strings.HasPrefix(store, "postgres://") && !strings.HasPrefix(store, "postgresql://") {
		return Team{}, errors.New("store: want the address of a PostgreSQL database: postgres://USER@HOST/DATABASE")
	}
	return Team{Store: store, Repository: p.Repository}, nil
}
