//go:build !unix

package session

import "io/fs"

// ownedByUser returns true on systems without numeric owners.
func ownedByUser(fs.FileInfo) bool { return true }
