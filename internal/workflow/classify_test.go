package workflow

import (
	"errors"
	"testing"

	"ken/internal/contract"
	"ken/internal/state"
)

// Links and devices are judged by their name like files, and nothing that could not
// be inspected is judged at all.
func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		entry state.Entry
		want  contract.Bucket
	}{
		{state.Entry{Name: "review.md", Kind: state.Regular}, contract.Canonical},
		{state.Entry{Name: "review.md", Kind: state.Symlink}, contract.Canonical},
		{state.Entry{Name: "review.md", Kind: state.Special}, contract.Canonical},
		{state.Entry{Name: "review.md", Kind: state.Directory}, contract.AdHoc},
		{state.Entry{Name: "review.md"}, contract.Unknown},
		{state.Entry{Name: "review.md", Kind: state.Regular, Err: errors.New("no")}, contract.Unknown},
		{state.Entry{Name: ".archive", Kind: state.Directory}, contract.Canonical},
		{state.Entry{Name: ".archive", Kind: state.Symlink}, contract.AdHoc},
	} {
		if got := classify(contract.Default(), tt.entry); got != tt.want {
			t.Errorf("%+v is %v, want %v", tt.entry, got, tt.want)
		}
	}
}
