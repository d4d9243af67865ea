package app

import (
	"context"
	"errors"
	"testing"

	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/testrepo"
)

// A stoppedPast is stopped at the very moment in which the history is read.
type stoppedPast struct {
	specPast
	stop context.CancelFunc
}

func (s stoppedPast) History(ctx context.Context, heads []repo.ID) (spec.History, error) {
	h, err := s.specPast.History(ctx, heads)
	s.stop()
	return h, err
}

// Who is stopped while an answer comes in has an error, and not half an answer.
func TestSpecStopped(t *testing.T) {
	r := testrepo.New(t)
	r.Write(".spec/a/spec.md", "---\ncode: [a.go]\n---\n")
	r.Write("a.go", "package a\n")
	r.Commit("start")
	w, err := open(t.Context(), openOptions{dir: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	past := stoppedPast{specPast{w.git, w}, stop}
	l, err := spec.NewReader(specSource{w.files, w.git, w.specs}, past, specMemo{w.git}).List(ctx)
	if l != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", l, err)
	}
}
