package derive_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// limit lowers the limits for the test.
func limit(t *testing.T, matches, behind int) {
	t.Helper()
	oldMatches, oldBehind := parse.MaxMatches, derive.MaxTouched
	t.Cleanup(func() { parse.MaxMatches, derive.MaxTouched = oldMatches, oldBehind })
	parse.MaxMatches, derive.MaxTouched = matches, behind
}

// manyNodes returns a history in which many nodes govern many files. glob returns the entry of the i-th node.
func manyNodes(nodeCount, files int, glob func(i int) string) (w *fakeHistory, list []string, tracked []repo.Path) {
	var b strings.Builder
	b.WriteString("a:")
	for i := range files {
		fmt.Fprintf(&b, " src/%03d.go=1", i)
		tracked = append(tracked, repo.Path(fmt.Sprintf("src/%03d.go", i)))
	}
	for i := range nodeCount {
		fmt.Fprintf(&b, " @n%d=1", i)
		list = append(list, fmt.Sprintf("@n%d code=%s", i, glob(i)))
	}
	b.WriteString("\nb: src/000.go=2 src/001.go=2")
	return parseHistory(b.String()), list, tracked
}

func allGoFiles(int) string { return "**/*.go" }
func ownGlob(i int) string  { return fmt.Sprintf("**/000.g[o%c]", 0x100+i) }

// Equal globs of many nodes are compared with the paths only once.
func TestEqualGlobsAreMatchedOnce(t *testing.T) {
	const files, count = 40, 300
	w, list, tracked := manyNodes(count, files, allGoFiles)
	limit(t, 2*(files+count), count*files) // twice the number of paths in the history
	for _, f := range w.derive(t, list...) {
		if got := w.brief(f); got != "v1 d1 t1 a src/000.go-1 src/001.go-1" {
			t.Fatalf("%s: %s, want drift 1", f.Node.ID, got)
		}
	}
	limit(t, 4*files, 0) // one pass each for integrity, coverage and owners
	l, err := spec.Lint(t.Context(), nodes(list...), spec.LintOptions{Tracked: tracked, Sources: tracked})
	if err != nil || len(l.Errors) > 0 {
		t.Errorf("lint: %v %v, want no error", l.Errors, err)
	}
}

// Beyond the limit on comparisons, drift is unknown, never 0, and lint lists the skipped checks.
func TestTooManyGlobs(t *testing.T) {
	const files, count = 40, 30
	w, list, tracked := manyNodes(count, files, ownGlob)
	limit(t, 5*(files+count), 1000)
	known := 0
	for _, f := range w.derive(t, list...) {
		switch {
		case f.Drift == nil && f.Touched == nil && f.Status == derive.StatusUnknown && len(f.Unknown) == 1 && strings.Contains(f.Unknown[0].Why, "globs"):
		case f.Drift != nil && *f.Drift == 1:
			known++
		default:
			t.Errorf("%s: %s %v, want drift 1, or unknown because of too many globs", f.Node.ID, w.brief(f), f.Unknown)
		}
	}
	if known == 0 || known == count {
		t.Errorf("%d of %d nodes were judged, want some of them", known, count)
	}
	l, err := spec.Lint(t.Context(), nodes(list...), spec.LintOptions{Tracked: tracked, Sources: tracked})
	if err != nil || len(l.Errors) != 1 || l.Errors[0].Rule != spec.RuleLimit || !strings.Contains(l.Errors[0].Message, "not checked") {
		t.Errorf("lint: %v %v, want one error that says what was not checked", l.Errors, err)
	}
	if _, err := derive.BasesAt(t.Context(), nodes(list...), derive.Options{Head: w.head()}, w, w); err == nil || !strings.Contains(err.Error(), "globs") {
		t.Errorf("BasesAt beyond the limit: %v, want an error", err)
	}
}

// Beyond the limit on touched files, drift is unknown, never 0.
func TestTooManyTouchedFiles(t *testing.T) {
	const count = 30
	w, list, _ := manyNodes(count, 10, allGoFiles)
	limit(t, 1e6, 20) // two files of ten nodes
	known := 0
	for _, f := range w.derive(t, list...) {
		switch {
		case f.Drift == nil && f.Touched == nil && len(f.Unknown) == 1 && strings.Contains(f.Unknown[0].Why, "limit reached"):
		case f.Drift != nil && *f.Drift == 1:
			known++
		default:
			t.Errorf("%s: %s %v, want drift 1, or unknown because of too many files", f.Node.ID, w.brief(f), f.Unknown)
		}
	}
	if known != 10 {
		t.Errorf("%d nodes were judged, want 10", known)
	}
}

// A countdown is a context that is cancelled after a number of calls of Err.
type countdown struct {
	context.Context
	left, checks int
}

func (c *countdown) Err() error {
	c.checks++
	if c.checks > c.left {
		return context.Canceled
	}
	return nil
}

// checkStopsSoon runs a function with contexts that are cancelled later and later. The function must call Err at
// least least times in all, and return soon after the first call that reports cancellation.
func checkStopsSoon(t *testing.T, what string, least int, run func(ctx context.Context) error) {
	t.Helper()
	whole := &countdown{t.Context(), 1 << 30, 0}
	if err := run(whole); err != nil {
		t.Fatalf("%s returned the error %v", what, err)
	}
	if whole.checks < least {
		t.Errorf("%s checked its context %d times, want at least %d", what, whole.checks, least)
	}
	for left := 0; left < whole.checks-1; left += 1 + whole.checks/50 {
		c := &countdown{t.Context(), left, 0}
		err := run(c)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s, cancelled after %d of %d checks: %v, want %v", what, left, whole.checks, err, context.Canceled)
		}
		if late := c.checks - left; late > 4 {
			t.Errorf("%s, cancelled after %d of %d checks: %d more checks, want at most 4", what, left, whole.checks, late)
		}
	}
}

// Every long loop stops when its context is cancelled.
func TestLoopsStopOnCancel(t *testing.T) {
	const count, files = 200, 20
	for name, glob := range map[string]func(int) string{"one glob": allGoFiles, "a glob each": ownGlob} {
		w, list, tracked := manyNodes(count, files, glob)
		all := nodes(list...)
		checkStopsSoon(t, "derive, "+name, 5*count, func(ctx context.Context) error {
			_, err := derive.Derive(ctx, all, derive.Options{Head: w.head()}, w, w)
			return err
		})
		checkStopsSoon(t, "lint, "+name, count+2*files, func(ctx context.Context) error {
			_, err := spec.Lint(ctx, all, spec.LintOptions{Tracked: tracked, Sources: tracked})
			return err
		})
	}
}
