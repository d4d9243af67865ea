package survey_test

import (
	"context"
	"testing"

	"ken/internal/cache"
	"ken/internal/repo"
	"ken/internal/survey"
)

// A countingTree counts how often its files are listed.
type countingTree struct {
	*memoryRepo
	listed int
}

func (t *countingTree) Files(ctx context.Context) ([]repo.File, error) {
	t.listed++
	return t.memoryRepo.Files(ctx)
}

// No ranks and an empty map of ranks are the same input of a cached answer. A rank is another input.
func TestRanksAreInputsOfCachedAnswers(t *testing.T) {
	t.Parallel()
	w := newMemoryRepo("a/x", "b/y")
	files := &countingTree{memoryRepo: w}
	answers := cache.Open(t.TempDir(), "test")
	ask := func(ranks map[repo.Path]survey.Rank) {
		t.Helper()
		inputs := func(context.Context) (string, error) { return "inputs", nil }
		s := survey.New(files, w, survey.Options{Ranks: ranks, Cache: &survey.Cache{Answers: answers, Inputs: inputs}})
		if _, err := s.DirCounts(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	ask(nil)
	ask(map[repo.Path]survey.Rank{})
	if files.listed != 1 {
		t.Errorf("listed the files %d times, want once", files.listed)
	}
	ask(map[repo.Path]survey.Rank{"a": survey.RankSkip})
	if files.listed != 2 {
		t.Errorf("listed the files %d times, want twice: a rank is another input", files.listed)
	}
}
