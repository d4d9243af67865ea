package spec_test

import (
	"context"
	"errors"
	"testing"

	"ken/internal/testrepo"
)

// A cancelled List returns an error and no partial listing.
func TestSpecStopped(t *testing.T) {
	r := testrepo.New(t)
	r.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\n")
	r.Write("a.go", "package a\n")
	r.Commit("start")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reads, reader := openObserved(t, r)
	reads.AfterHistory = stop // right after the history is read
	l, err := reader.List(ctx)
	if l != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("List returned %+v, %v; want only the cancellation", l, err)
	}
	if reads.Histories == 0 {
		t.Error("the history was not read")
	}
}
