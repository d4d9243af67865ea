// Package disk finds, reads and writes the files that package install decides about: git hooks, the files of agents'
// clients, and the files of ken install git.
//
// It decides all changes before it writes the first. It refuses links, and it does not overwrite a file that changed
// after it was read.
package disk

import (
	"os"
	"path/filepath"
	"runtime"
)

// OnPath reports whether a program is on the PATH.
func OnPath(name string) bool {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
