//go:build !linux && !darwin

package sqlite

import "strings"

// walIsSafe reports whether WAL can be trusted in a directory. Without statfs,
// only a network path gives itself away.
func walIsSafe(dir string) bool { return !strings.HasPrefix(dir, `\\`) }

// full reports whether the file system that holds dir has no room left, as far
// as can be told here.
func full(string) bool { return false }
