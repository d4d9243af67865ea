package repo

// A FileChange is how one file differs between two trees.
type FileChange struct {
	Change
	// From is the path before the change, if the file was renamed; "" otherwise.
	From Path
	// Unmerged says that the merge of this path is not resolved.
	Unmerged bool
}

// OldPath is the path before the change.
func (c *FileChange) OldPath() Path {
	if c.From != "" {
		return c.From
	}
	return c.Path
}
