// Package objects reads many objects of a repository with few git processes: contents, sizes, and the ids of paths in
// commits. It runs git cat-file and git ls-tree, and parses their output while git writes it.
//
// It fetches nothing. A partial clone may lack objects; each method says what that means.
package objects

import (
	"ken/internal/git/command"
	"ken/internal/repo"
)

// A Reader reads the objects of one repository.
type Reader struct {
	Git    command.Runner
	Format repo.ObjectFormat
}
