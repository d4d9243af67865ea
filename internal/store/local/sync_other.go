//go:build !unix

package local

// syncDir makes a new name in a directory survive a power cut, where that is
// for programs to do.
func syncDir(string) error { return nil }

func isReadOnlyFS(error) bool { return false }
