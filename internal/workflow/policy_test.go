package workflow_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ken/internal/workflow"
)

// The directory is one that a repository may choose, and the archive keeps a whole number of runs.
func TestPolicy(t *testing.T) {
	var p workflow.Policy
	err := yaml.Unmarshal([]byte("{dir: .devt/state, archive_runs: 0}"), &p)
	if err != nil || p.Dir != ".devt/state" || p.ArchiveRuns == nil || *p.ArchiveRuns != 0 {
		t.Errorf("the policy is %+v, %v; want .devt/state and 0 archived runs", p, err)
	}
	for text, want := range map[string]string{
		"dir: ../outside":   `line 1: state: dir "../outside" is not a plain path inside the work tree`,
		"dir: .git/x":       `line 1: state: dir ".git/x" belongs to git`,
		"archive_runs: 1.5": `line 1: "1.5" is not a whole number of at least 0`,
	} {
		err := yaml.Unmarshal([]byte(text), new(workflow.Policy))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", text, err, want)
		}
	}
}
