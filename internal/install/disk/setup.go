package disk

import (
	"context"
	"errors"

	"ken/internal/fault"
	"ken/internal/install"
)

// Setup creates the files of ken install git, or removes them.
func (h Hooks) Setup(_ context.Context, opts install.Options) ([]install.FileResult, error) {
	at := Clients{Root: h.Git.Root()}
	var done []install.FileResult
	for _, f := range install.SetupFiles {
		seen, err := at.file(install.ClientFile{Base: install.Work, Path: f.Path})
		if err != nil {
			return nil, notOurs(err)
		}
		decide := f.Install
		if opts.Uninstall {
			decide = f.Uninstall
		}
		c := decide(seen.text)
		done = append(done, install.FileResult{Path: f.Path, Action: c.Action, Note: c.Note})
		if opts.DryRun {
			continue
		}
		if err := seen.apply(c); err != nil {
			return nil, seen.failed(err)
		}
	}
	return done, nil
}

// notOurs adds to a [linkError] a hint for ken install git.
func notOurs(err error) error {
	link, ok := errors.AsType[*linkError](err)
	if !ok {
		return err
	}
	return &fault.Error{
		Hint: "replace the link with a file or a directory, or install only the git hooks: ken install git --hooks",
		Err:  link,
	}
}
