package mention

import (
	"fmt"
	"strings"
	"testing"
)

// A document with very many mentions is read in part, and Partial says so.
func TestMentionLimit(t *testing.T) {
	var b strings.Builder
	for i := range maxMentions + 5 {
		fmt.Fprintf(&b, "[a%d]: src/a%d.go\n\n", i, i)
	}
	doc, err := Read("README.md", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Mentions) != maxMentions || !strings.Contains(doc.Partial, "10000 mentions") {
		t.Errorf("%d mentions, partial %q; want the first %d and the limit", len(doc.Mentions), doc.Partial, maxMentions)
	}
	if doc, err = Read("README.md", []byte("[a]: src/a.go\n")); err != nil || doc.Partial != "" {
		t.Errorf("a short document is partial: %q (%v)", doc.Partial, err)
	}
}

// The path of directories after many cd commands is limited.
func TestShellDirLimit(t *testing.T) {
	size := func(lines int) int {
		doc, err := Read("README.md", []byte("```sh\n"+strings.Repeat("cd src && cat a/b.go\n", lines)+"```\n"))
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, m := range doc.Mentions {
			total += len(m.In)
		}
		return total
	}
	if once, twice := size(4000), size(8000); twice > 2*once+1000 {
		t.Errorf("8000 lines name directories of %d bytes, and 4000 lines %d: want at most twice as much", twice, once)
	}
}

func TestIsCommonName(t *testing.T) {
	for name, want := range map[string]bool{
		"README.md": true, "CLAUDE.md": true, ".env.example": true, "package.json": true, "Makefile": true,
		"docs/README.md": false, "server.go": false, "build.sh": false, ".travis.yml": true,
		".cursorrules": true, ".windsurfrules": true,
	} {
		if isCommonName(name) != want {
			t.Errorf("isCommonName(%q) = %t; want %t", name, !want, want)
		}
	}
}
