package config

import (
	"errors"
	"strings"
)

// Team is the policy of what several machines share through a base.
type Team struct {
	// Store is the address of the base, "" for none.
	Store string
	// Repository names the repository there; its root commit does when "".
	Repository string
}

type teamPolicy struct {
	Repository string `yaml:"repository"`
}

// team checks what is said of a base. The address may hold a password, and is not quoted.
func team(store string, p teamPolicy) (Team, error) {
	if store != "" && !strings.HasPrefix(store, "postgres://") && !strings.HasPrefix(store, "postgresql://") {
		return Team{}, errors.New("store: want the address of a PostgreSQL database: postgres://USER@HOST/DATABASE")
	}
	return Team{Store: store, Repository: p.Repository}, nil
}
