//go:build !linux && !darwin

package state

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// nonblock is not needed: there are no pipes in directories.
const nonblock = 0

// shared always returns false: the answer would need another system call.
func shared(fs.FileInfo) bool { return false }

// identity is not available.
func identity(fs.FileInfo) string { return "" }

// syncFolder does nothing: names are durable when the call that creates them returns.
func syncFolder(*os.File) error { return nil }

// validName refuses the names of devices and streams, and names with separators.
func validName(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsAny(name, `\:`)
}
