package registry_test

import (
	"testing"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

func TestExcluded(t *testing.T) {
	policy := registry.Policy{
		Exclude: []string{"gen/**", "*.tmp", "both/*"}, Include: []string{"both/*", "vendor/ours/**"}, MaxBytes: 100,
	}
	for _, c := range []struct {
		path repo.Path
		kind repo.Kind
		size int64
		want string
	}{
		{"a.go", repo.KindSource, 10, ""},
		{"a.go", repo.KindSource, 101, "larger than 100 bytes"},
		{"go.sum", repo.KindLockfile, 10, "lockfile"},
		{"gen/deep/a.go", repo.KindSource, 10, "policy"},
		{"x.tmp", repo.KindData, 10, "policy"},
		{"sub/x.tmp", repo.KindData, 10, ""},
		{"both/a.go", repo.KindSource, 1000, ""},
		{"vendor/ours/a.go", repo.KindVendored, 10, ""},
		{"vendor/ours/link", repo.KindSymlink, 10, "symlink"},
		{"vendor/theirs/a.go", repo.KindVendored, 10, "vendored"},
		{"sub", repo.KindGitlink, 0, "gitlink"},
	} {
		if got := policy.Excluded(c.path, c.kind, c.size); got != c.want {
			t.Errorf("%s (%s, %d bytes): %q, want %q", c.path, c.kind, c.size, got, c.want)
		}
	}
	if got := (registry.Policy{}).Excluded("a.go", repo.KindSource, registry.DefaultMaxBytes); got != "" {
		t.Errorf("a file of just the size limit is excluded: %s", got)
	}
}

func TestPolicyValidates(t *testing.T) {
	for name, p := range map[string]registry.Policy{
		"a broken glob":   {Exclude: []string{"[a"}},
		"a grade unknown": {StaleGrades: []fresh.Grade{"gigantic"}},
		"a negative size": {MaxBytes: -1},
	} {
		if p.Validate() == nil {
			t.Errorf("Validate accepted a policy with %s; want an error", name)
		}
	}
	if err := (registry.Policy{StaleGrades: fresh.Grades, Exclude: []string{"**/*.go", "{a,b}"}}).Validate(); err != nil {
		t.Error(err)
	}
}
