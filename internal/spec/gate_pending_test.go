package spec

import (
	"maps"
	"slices"
	"testing"

	"ken/internal/repo"
)

// Pending specs are the spec files among the pending changes that are not deleted. An unmerged one has no content,
// even if git lists it a second time with one.
func TestPendingSpecs(t *testing.T) {
	some, other := repo.SHA1.Blob([]byte("some")), repo.SHA1.Blob([]byte("other"))
	p := repo.PendingCommit{Changes: []repo.PendingChange{
		{Path: ".spec/edited/spec.md", ID: some, Mode: repo.Regular},
		{Path: ".spec/gone/spec.md"},
		{Path: ".spec/spec.md", ID: some, Mode: repo.Symlink},
		{Path: ".spec/undecided/spec.md", Unmerged: true},
		{Path: ".spec/undecided/spec.md", ID: other, Mode: repo.Regular},
		{Path: "spec.md", ID: some, Mode: repo.Regular},
	}}
	want := FileIDs{".spec/edited/spec.md": some, ".spec/undecided/spec.md": {}}
	if got := pendingSpecs(p); !maps.Equal(got, want) {
		t.Errorf("pending specs are %v, want %v", got, want)
	}
	paths := []repo.Path{".spec/edited/spec.md", ".spec/gone/spec.md", ".spec/spec.md", ".spec/undecided/spec.md", "spec.md"}
	if got := pendingPaths(p); !slices.Equal(got, paths) {
		t.Errorf("pending paths are %q, want %q", got, paths)
	}
}
