//go:build !unix

package git

import "io/fs"

const openFlags = 0

func sameDevice(_, _ fs.FileInfo) bool { return true }
