//go:build !unix

package command

import "os/exec"

// ownGroup does nothing here: os/exec kills the process itself.
func ownGroup(*exec.Cmd) {}
