//go:build !unix

package git

// ownedByUser is false where owners are no numbers: git is asked then.
func ownedByUser(string) bool { return false }
