package docs_test

import (
	"strings"
	"testing"

	"ken/internal/config"
	"ken/internal/docs"
)

// A document is excluded by a glob; an accepted mention need not be a glob.
func TestPolicy(t *testing.T) {
	var p docs.Policy
	if err := config.Parse([]byte("{ok: ['[a'], exclude: ['docs/**']}"), &p); err != nil || len(p.OK) != 1 || len(p.Exclude) != 1 {
		t.Errorf("Parse read %+v, %v", p, err)
	}
	for text, want := range map[string]string{
		"exclude: ['[a']":                          `.ken/config.yaml:1: glob "[a" is malformed`,
		"ok: ['" + strings.Repeat("{", 300) + "']": ".ken/config.yaml:1: glob",
	} {
		err := config.Parse([]byte(text), new(docs.Policy))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40s gives %v, want %s", text, err, want)
		}
	}
}
