package contract

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// CheckDir refuses a place for the state directory that a repository must not
// choose: one outside of its work tree, the work tree itself, git's own directory,
// and the one in which ken's settings lie, since sweeps move what lies there.
func CheckDir(dir string) error {
	elements := strings.Split(dir, "/")
	isGit := func(element string) bool { return strings.EqualFold(element, ".git") }
	switch {
	case dir == ".", dir != path.Clean(dir), strings.HasPrefix(dir, "/"), elements[0] == "..",
		strings.ContainsFunc(dir, unicode.IsControl), strings.ContainsAny(dir, `\:`):
		return fmt.Errorf("dir %s is no plain path below the work tree", show(dir))
	case slices.ContainsFunc(elements, isGit):
		return fmt.Errorf("dir %s is git's own", show(dir))
	case strings.EqualFold(dir, ".ken"):
		return fmt.Errorf("dir %s holds ken's settings, which a sweep would move", show(dir))
	}
	return nil
}
