package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"ken/internal/install"
	"ken/internal/term"
)

// A guardedHooks is a repository whose hooks cannot be written.
type guardedHooks struct {
	brokenHooks
	made *bool
}

func (g guardedHooks) Setup(_ context.Context, opts install.Options) ([]install.FileResult, error) {
	*g.made = *g.made || !opts.DryRun
	return nil, nil
}

func (g guardedHooks) Install(_ context.Context, opts install.Options) (*install.HooksResult, error) {
	if opts.DryRun {
		return &install.HooksResult{}, nil
	}
	return nil, errors.New("write the hook: permission denied")
}

// ken install git creates no file if it cannot write the hooks.
func TestInstallGitCreatesAllOrNothing(t *testing.T) {
	made := false
	deps := Deps{OpenHooks: func(context.Context, string) (GitHooks, error) { return guardedHooks{made: &made}, nil }}
	err := Run(t.Context(), deps, &term.IO{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, []string{"install", "git"})
	if err == nil || made {
		t.Errorf("ken install git returns %v, files created: %t; want an error and no file", err, made)
	}
}
