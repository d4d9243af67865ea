package app

import (
	"fmt"
	"os"

	"ken/internal/cache"
)

// answers returns the cache of the clone.
func (w *workspace) answers() *cache.Cache { return cache.Open(w.git.CommonDir(), program()) }

// program identifies this build of ken, since another may answer differently.
func program() string {
	name, err := os.Executable()
	if err != nil {
		return Version
	}
	info, err := os.Stat(name)
	if err != nil {
		return Version
	}
	return fmt.Sprint(Version, " ", info.Size(), " ", info.ModTime().UnixNano())
}
