package team

import (
	"context"
	"strings"

	"ken/internal/git"
	"ken/internal/repo"
)

// A Policy is the section team of the configuration.
type Policy struct {
	// Repository is the name of the repository in the database; "" is its root commit.
	Repository string `yaml:"repository"`
}

// An Identity finds the name by which the machines of a team know a repository: the configured name, or else the
// root commit of its main branch. If an older history is merged into the main branch, the name changes, here as in
// every other clone that has the merge; Team then sends all records again under the new name.
type Identity struct {
	Configured string // the name in the configuration; "" for the root commit
	Git        *git.Repo
	Store      Local // remembers the root commit
}

// rootKey is the key of the root commit in the store. Its value has also the commit of the main branch from which
// ken found the root, so that ken searches again only after that branch moved.
const rootKey = "root commit"

// Name returns the name, and remembers how it was found.
func (i Identity) Name(ctx context.Context) (string, error) {
	name, found, err := i.find(ctx)
	if found != "" {
		_ = i.Store.SetValue(ctx, rootKey, found) // else the next call searches again
	}
	return name, err
}

// Check returns an error if the name cannot be found. It writes nothing.
func (i Identity) Check(ctx context.Context) error {
	_, _, err := i.find(ctx)
	return err
}

// find returns the name, and the new value for rootKey, "" if it has not changed.
func (i Identity) find(ctx context.Context) (name, value string, err error) {
	if i.Configured != "" {
		return i.Configured, "", nil
	}
	var known git.RootCommit
	if text, err := i.Store.Value(ctx, rootKey); err == nil {
		root, tip, _ := strings.Cut(text, " ")
		known.Root, _ = repo.ParseID(root) // zero if it is damaged: ken searches again
		known.Tip, _ = repo.ParseID(tip)
	}
	found, err := i.Git.RootCommit(ctx, known)
	if err != nil {
		return "", "", err
	}
	if found != known {
		value = found.Root.String() + " " + found.Tip.String()
	}
	return found.Root.String(), value, nil
}
