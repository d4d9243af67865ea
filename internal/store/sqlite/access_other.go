//go:build !unix

package sqlite

import "os"

// writable asks the mode bits alone, which elsewhere than on unix hold the
// read-only attribute. What an access list forbids shows when it is tried.
func writable(path string) bool {
	f, err := os.Stat(path)
	return err == nil && (f.IsDir() || f.Mode().Perm()&0o200 != 0)
}
