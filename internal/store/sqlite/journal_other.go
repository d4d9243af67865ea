//go:build !linux && !darwin

package sqlite

import "strings"

// walIsSafe reports whether WAL is safe in a directory. Without statfs, it recognizes only network paths.
func walIsSafe(dir string) bool { return !strings.HasPrefix(dir, `\\`) }

// full returns false: this system does not tell whether the file system of dir is full.
func full(string) bool { return false }
