package spec

import (
	"fmt"
	"testing"

	"ken/internal/repo"
)

func TestLocatorFindsTooMany(t *testing.T) {
	var paths []repo.Path
	for i := range maxOutlined + 1 {
		paths = append(paths, repo.Path(fmt.Sprintf("a/%04d.go", i)))
	}
	for text, want := range map[string]int{"a#X": 0, "a/**#X": 0, "a/000?.go#X": 10, "a/0000.go#X": 1, "a/0000.go": 0} {
		e, err := ParseEntry(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := newLocator(paths).files(e); len(got) != want {
			t.Errorf("%s: %d files, want %d", text, len(got), want)
		}
	}
}
