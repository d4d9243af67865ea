package outline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/outline"
	"ken/internal/repo"
)

var update = os.Getenv("KEN_UPDATE") != ""

// Each file of testdata has its expected outline in a file next to it.
func TestOutlines(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, ".outline") || strings.Contains(name, "fuzz") {
			continue
		}
		t.Run(filepath.ToSlash(strings.TrimPrefix(name, "testdata/")), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			o, err := outline.Parse(repo.Path(filepath.Base(strings.TrimSuffix(name, ".txt"))), src)
			if err != nil {
				t.Fatal(err)
			}
			got := render(o)
			golden := name + ".outline"
			if update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("outline of %s (-want +got):\n%s", name, diff)
			}
		})
	}
}
