package spec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/spec"
)

// crowd is a history in which many nodes govern many files: glob returns what the i-th
// of them writes.
func crowd(nodeCount, files int, glob func(i int) string) (w *world, list []string, tracked []repo.Path) {
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
	return tell(b.String()), list, tracked
}

func everything(int) string { return "**/*.go" }
func own(i int) string      { return fmt.Sprintf("**/000.g[o%c]", 0x100+i) }

// Nodes with equal globs are compared with the paths once, however many they are.
func TestEqualGlobsAreMatchedOnce(t *testing.T) {
	const files, count = 40, 300
	w, list, tracked := crowd(count, files, everything)
	spec.Limit(t, 2*(files+count), count*files) // all paths of the history, and as many again
	for _, f := range w.derive(t, list...) {
		if got := w.brief(f); got != "v1 d1 t1 a src/000.go-1 src/001.go-1" {
			t.Fatalf("%s: %s, want drift 1", f.Node.ID, got)
		}
	}
	spec.Limit(t, 4*files, 0) // once each: integrity, coverage, owners
	l, err := spec.Lint(t.Context(), nodes(list...), spec.LintOptions{Tracked: tracked, Sources: tracked})
	if err != nil || len(l.Errors) > 0 {
		t.Errorf("lint: %v %v, want no error", l.Errors, err)
	}
}

// Beyond the bound on comparisons drift is unknown, and never 0; lint says what it left out.
func TestTooManyGlobs(t *testing.T) {
	const files, count = 40, 30
	w, list, tracked := crowd(count, files, own)
	spec.Limit(t, 5*(files+count), 1000)
	known := 0
	for _, f := range w.derive(t, list...) {
		switch {
		case f.Drift == nil && f.Touched == nil && f.Status == spec.StatusUnknown && len(f.Unknown) == 1 && strings.Contains(f.Unknown[0].Reason, "globs"):
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
	if _, err := spec.BasesAt(t.Context(), nodes(list...), spec.JudgedAt{Head: w.head()}, w, w); err == nil || !strings.Contains(err.Error(), "globs") {
		t.Errorf("an ack of files that nobody found: %v, want an error", err)
	}
}

// Beyond the bound on touched files drift is unknown, and never 0.
func TestTooManyTouchedFiles(t *testing.T) {
	const count = 30
	w, list, _ := crowd(count, 10, everything)
	spec.Limit(t, 1e6, 20) // two files of ten nodes
	known := 0
	for _, f := range w.derive(t, list...) {
		switch {
		case f.Drift == nil && f.Touched == nil && len(f.Unknown) == 1 && strings.Contains(f.Unknown[0].Reason, "limit reached"):
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

// A countdown is a context that is done after so many looks at it.
type countdown struct {
	context.Context
	left, looks int
}

func (c *countdown) Err() error {
	c.looks++
	if c.looks > c.left {
		return context.Canceled
	}
	return nil
}

// stopsSoon runs something under contexts that end after more and more looks. It has to
// look at least so often, and to end with the first look that says so.
func stopsSoon(t *testing.T, what string, least int, run func(ctx context.Context) error) {
	t.Helper()
	whole := &countdown{t.Context(), 1 << 30, 0}
	if err := run(whole); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if whole.looks < least {
		t.Errorf("%s looked at its context %d times, want at least %d", what, whole.looks, least)
	}
	for left := 0; left < whole.looks-1; left += 1 + whole.looks/50 {
		c := &countdown{t.Context(), left, 0}
		err := run(c)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s, stopped after %d of %d looks: %v, want %v", what, left, whole.looks, err, context.Canceled)
		}
		if late := c.looks - left; late > 4 {
			t.Errorf("%s, stopped after %d of %d looks, looked %d times more, want at most 4", what, left, whole.looks, late)
		}
	}
}

// Every long loop stops when its context is cancelled.
func TestStops(t *testing.T) {
	const count, files = 200, 20
	for name, glob := range map[string]func(int) string{"one glob": everything, "a glob each": own} {
		w, list, tracked := crowd(count, files, glob)
		all := nodes(list...)
		stopsSoon(t, "derive, "+name, 5*count, func(ctx context.Context) error {
			_, err := spec.Derive(ctx, all, spec.JudgedAt{Head: w.head()}, w, w)
			return err
		})
		stopsSoon(t, "lint, "+name, count+2*files, func(ctx context.Context) error {
			_, err := spec.Lint(ctx, all, spec.LintOptions{Tracked: tracked, Sources: tracked})
			return err
		})
	}
}
