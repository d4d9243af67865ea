//go:build !unix

package pgtest

import (
	"errors"
	"os/exec"
)

func own(string) error { return errors.New("these tests start PostgreSQL on Unix only") }

func demote(*exec.Cmd) {}
