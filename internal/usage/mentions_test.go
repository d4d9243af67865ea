package usage

import (
	"strings"
	"testing"

	"ken/internal/repo"
	"ken/internal/searchindex"
)

func TestHasPath(t *testing.T) {
	for _, tt := range []struct {
		line, path string
		want       bool
	}{
		{"go run limit/limit.go", "limit/limit.go", true},
		{"go run ./limit/limit.go.", "limit/limit.go", true},
		{"`limit/limit.go`", "limit/limit.go", true},
		{"sub/limit/limit.go", "limit/limit.go", false},
		{"limit/limit.go.bak", "limit/limit.go", false},
		{"rlimit/limit.go", "limit/limit.go", false},
		{"xlimit/limit.go limit/limit.go", "limit/limit.go", true},
		{"limit/limit.gox", "limit/limit.go", false},
		{"../limit/limit.go", "../limit/limit.go", true},
		{"", "limit/limit.go", false},
	} {
		if got := hasPath(tt.line, tt.path); got != tt.want {
			t.Errorf("hasPath(%q, %q) is %t, expected %t", tt.line, tt.path, got, tt.want)
		}
	}
}

func TestRelativeTo(t *testing.T) {
	for _, tt := range []struct{ dir, path, want string }{
		{"", "a/b.go", "a/b.go"},
		{"a", "a/b.go", "b.go"},
		{"a/c", "a/b.go", "../b.go"},
		{"x/y", "a/b.go", "../../a/b.go"},
		{"ab", "a/b.go", "../a/b.go"},
	} {
		if got := relativeTo(repo.Path(tt.dir), repo.Path(tt.path)); got != tt.want {
			t.Errorf("%s from %q is %q, expected %q", tt.path, tt.dir, got, tt.want)
		}
	}
}

func TestSameWords(t *testing.T) {
	words := searchindex.NameWords("commitReword")
	if strings.Join(words, " ") != "commit reword" {
		t.Fatalf("the words of commitReword are %q", words)
	}
	for name, want := range map[string]bool{
		"commit_reword": true, "CommitReword": true, "COMMIT_REWORD": true, "commit-reword": true, "commit_reword_cmd": true, "doCommitReword": true,
		"commit": false, "reword": false, "rewordCommit": false, "commit_and_reword": false, "try_commit_reword_cmd": false,
	} {
		if got := sameWords(name, words); got != want {
			t.Errorf("sameWords(%s) is %t, expected %t", name, got, want)
		}
	}
}
