package docs

import (
	"strings"
	"testing"
)

// An edit of a cell keeps the columns of a table aligned, if they were.
func TestAlignTables(t *testing.T) {
	for name, tt := range map[string]struct{ before, after, want string }{
		"longer": {
			"| file   | what |\n| ------ | ---- |\n| `a.go` | x    |\n",
			"| file   | what |\n| ------ | ---- |\n| `api/a.go` | x    |\n",
			"| file       | what |\n| ---------- | ---- |\n| `api/a.go` | x    |\n",
		},
		"shorter": {
			"text\n\n| file       |\n|:-----------|\n| `api/a.go` |\n| `b.go`     |\n",
			"text\n\n| file       |\n|:-----------|\n| `a.go` |\n| `b.go`     |\n",
			"text\n\n| file   |\n|:-------|\n| `a.go` |\n| `b.go` |\n",
		},
		"not aligned": {
			"| file | what |\n|---|---|\n| `a.go` | x |\n",
			"| file | what |\n|---|---|\n| `api/a.go` | x |\n",
			"| file | what |\n|---|---|\n| `api/a.go` | x |\n",
		},
	} {
		line := strings.Count(tt.before[:strings.Index(tt.before, "a.go")], "\n") + 1
		if got := string(alignTables([]byte(tt.before), []byte(tt.after), []int{line})); got != tt.want {
			t.Errorf("%s: the aligned table is\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}
