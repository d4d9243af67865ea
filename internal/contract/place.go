package contract

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// CheckDir refuses a state directory that a repository must not choose: one outside its
// work tree, the work tree itself, git's own directory, and the directory with ken's
// settings. Commands move the files in a state directory.
func CheckDir(dir string) error {
	elements := strings.Split(dir, "/")
	isGit := func(element string) bool { return strings.EqualFold(element, ".git") }
	switch {
	case dir == ".", dir != path.Clean(dir), strings.HasPrefix(dir, "/"), elements[0] == "..",
		strings.ContainsFunc(dir, unicode.IsControl), strings.ContainsAny(dir, `\:`):
		return fmt.Errorf("dir %s is not a plain path inside the work tree", show(dir))
	case slices.ContainsFunc(elements, isGit):
		return fmt.Errorf("dir %s belongs to git", show(dir))
	case strings.EqualFold(dir, ".ken"):
		return fmt.Errorf("dir %s contains ken's settings", show(dir))
	}
	return nil
}
