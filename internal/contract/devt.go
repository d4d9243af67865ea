package contract

import (
	_ "embed"
	"path"
	"strings"
	"sync"
)

//go:embed devt.yaml
var devtFile []byte

// DefaultFor returns the default contract of a state directory, a path with slashes. The contract of
// .devt/state, or of a directory in it, also has devt's names, which are in devt.yaml.
func DefaultFor(dir string) *Contract {
	inside := "/" + path.Clean(dir) + "/"
	if strings.Contains(inside, "/.devt/state/") {
		return devtContract()
	}
	return Default()
}

var devtContract = sync.OnceValue(func() *Contract {
	c, err := Extend(Default(), devtFile, "devt.yaml")
	if err != nil {
		panic(err) // a test reads the file
	}
	return c
})
