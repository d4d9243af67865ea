//go:build !linux && !darwin && !windows

package content

import "io/fs"

// changed returns 0: there is no portable time of change.
func changed(fs.FileInfo) int64 { return 0 }

func executable(mode fs.FileMode) bool { return mode&0o100 != 0 }
