package git

import (
	"fmt"
	"os"
	"path/filepath"

	"ken/internal/fault"
)

// checkOwnFiles refuses a git directory in which ken's directory, or a file or directory that ken writes in it, is a
// symbolic link. ken makes none, but an unpacked archive may have one, and ken would write where it leads.
func checkOwnFiles(gitDir string) error {
	own := filepath.Join(gitDir, "ken")
	if info, err := os.Lstat(own); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return isLink(own)
	}
	for _, dir := range []string{own, filepath.Join(own, "cache")} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // it does not exist; otherwise the command that needs it reports why
		}
		for _, e := range entries {
			if e.Type()&os.ModeSymlink != 0 {
				return isLink(filepath.Join(dir, e.Name()))
			}
		}
	}
	return nil
}

func isLink(name string) error {
	return &fault.Error{
		Hint: "see where it leads, then remove it: ls -l " + fault.Quote(name) + "; rm " + fault.Quote(name),
		Err:  fmt.Errorf("%s is a symbolic link; ken writes through none", name),
	}
}
