package contract_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"ken/internal/contract"
)

func TestClassify(t *testing.T) {
	const (
		canonical, allowed = contract.Canonical, contract.PatternAllowed
		ephemeral, adHoc   = contract.Ephemeral, contract.AdHoc
	)
	for _, tt := range []struct {
		name string
		kind contract.EntryKind
		want contract.Bucket
	}{
		{"review.md", contract.Regular, canonical},
		{"review.md", contract.Symlink, canonical},
		{"review.md", contract.Special, canonical},
		{"review.md", contract.Directory, adHoc},
		{"review.md", contract.Uninspected, contract.Unknown},
		{".archive", contract.Directory, canonical},
		{".archive", contract.Regular, adHoc},
		{".archive", contract.Symlink, adHoc},
		{".archive.tmp", contract.Directory, adHoc},
		{"review-pr12.md", contract.Directory, adHoc},
		{"Review.md", contract.Regular, adHoc},
		{"review.md ", contract.Regular, adHoc},
		{"review.md\n", contract.Regular, adHoc},
		{"review-scope.md", contract.Regular, canonical},
		{"review-pr367-slice-A.md", contract.Regular, allowed},
		{"review-pr12.md\n", contract.Regular, adHoc},
		{"xreview-pr12.md", contract.Regular, adHoc},
		{"review-.md", contract.Regular, adHoc},
		{"review-pr12.json", contract.Regular, adHoc},
		{"review-lane-api.json", contract.Regular, allowed},
		{"review-lane-Api.json", contract.Regular, adHoc},
		{"review-lane-" + strings.Repeat("a", 32) + ".json", contract.Regular, allowed},
		{"review-lane-" + strings.Repeat("a", 33) + ".json", contract.Regular, adHoc},
		{"impl-summary-cr3.json", contract.Regular, allowed},
		{"test-summary-x.md", contract.Regular, allowed},
		{"verification-rerun.json", contract.Regular, allowed},
		{"slice-A.md", contract.Regular, allowed},
		{"plan-a.md", contract.Regular, allowed},
		{"plan-a.json", contract.Regular, adHoc},
		{"research-a.md", contract.Regular, allowed},
		{"spec-a.md", contract.Regular, allowed},
		{"debug-context-a.md", contract.Regular, allowed},
		{"debug-investigation-a.md", contract.Regular, allowed},
		{"debug-summary-a.md", contract.Regular, allowed},
		{"debug-other-a.md", contract.Regular, adHoc},
		{"module-summary.md", contract.Regular, allowed},
		{"module-md-update-summary.md", contract.Regular, allowed},
		{"Module-summary.md", contract.Regular, adHoc},
		{"-summary.md", contract.Regular, adHoc},
		{"a--summary.md", contract.Regular, adHoc},
		{".foo.tmp", contract.Regular, ephemeral},
		{"bar.tmp", contract.Regular, ephemeral},
		{".tmp", contract.Regular, ephemeral},
		{"review-a.md~", contract.Regular, ephemeral},
		{"\xff.tmp", contract.Regular, ephemeral},
		{"\xff", contract.Regular, adHoc},
		{"", contract.Regular, adHoc},
		{"notes.txt", contract.Regular, adHoc},
	} {
		if got := contract.Default().Classify(contract.Entry{Name: tt.name, Kind: tt.kind}); got != tt.want {
			t.Errorf("%q of kind %d is %v, want %v", tt.name, tt.kind, got, tt.want)
		}
	}
	failed := contract.Entry{Name: "review.md", Kind: contract.Regular, Err: errors.New("no")}
	if got := contract.Default().Classify(failed); got != contract.Unknown {
		t.Errorf("what could not be inspected is %v", got)
	}
}

func TestEvicts(t *testing.T) {
	for name, want := range map[string]contract.Evict{
		"review.md": contract.Scoped, "review-a.md": contract.Scoped, "review-lane-a.json": contract.Scoped,
		"impl-summary-a.md": contract.Scoped, "test-summary-a.json": contract.Scoped, "verification-a.md": contract.Scoped, "slice-a.md": contract.Scoped,
		"graph-impact.md": contract.Always, "plan.md": contract.Stays, "plan-a.md": contract.Stays,
		"module-summary.md": contract.Stays, "debug-summary-a.md": contract.Stays, "notes.txt": contract.Stays, "slice-a.md~": contract.Stays,
	} {
		if got := contract.Default().Evicts(name); got != want {
			t.Errorf("%s is evicted %q, want %q", name, got, want)
		}
	}
}

// A fresh contract may be asked by many at once.
func TestConcurrentUse(t *testing.T) {
	c, err := contract.Extend(contract.Default(), nil, "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if c.Bucket("review-a.md") != contract.PatternAllowed || c.Bucket("review.md") != contract.Canonical {
				t.Error("the answer depends on who asks")
			}
			c.Nearest("reviw.md")
		})
	}
	wg.Wait()
}
