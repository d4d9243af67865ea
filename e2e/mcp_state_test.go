package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// An agent manages its workflow with the tool, and every refusal says what would be
// accepted.
func TestAgentManagesItsWorkflow(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("first")
	a := connect(t, r)

	type answer struct {
		Workflow map[string]any
		Value    any
		Written  *struct {
			Name, Bucket string
			WorkflowID   string `json:"workflow_id"`
		}
		Problems *[]struct{ File, Problem, Expected string }
	}
	call := func(args map[string]any) (out answer) {
		t.Helper()
		a.call("state", args, &out)
		return out
	}
	if got := call(map[string]any{"action": "get"}); len(got.Workflow) != 0 {
		t.Errorf("before anything: %+v", got)
	}
	if _, err := os.Lstat(filepath.Join(r.Dir, ".ken")); err == nil {
		t.Error("reading created the state directory")
	}
	got := call(map[string]any{"action": "update", "set": map[string]any{
		"active": true, "workflow_type": "dev", "iteration": 2, "task": "007", "ratio": 1.5, "tier": nil,
	}})
	id, _ := got.Workflow["workflow_id"].(string)
	if id == "" || got.Workflow["iteration"] != 2.0 || got.Workflow["task"] != "007" || got.Workflow["ratio"] != 1.5 {
		t.Errorf("update: %+v", got.Workflow)
	}
	if got := call(map[string]any{"action": "get", "key": "iteration"}); got.Value != 2.0 {
		t.Errorf("get iteration: %+v", got)
	}
	got = call(map[string]any{"action": "put", "name": "review-lane-api.md", "content": "fine\n"})
	if got.Written == nil || got.Written.Bucket != "pattern_allowed" || got.Written.WorkflowID != id {
		t.Errorf("put: %+v", got.Written)
	}
	if got := call(map[string]any{"action": "check"}); got.Problems == nil || len(*got.Problems) != 0 {
		t.Errorf("check of a sound directory: %+v", got)
	}
	for _, c := range []struct {
		args  map[string]any
		names string
	}{
		{map[string]any{"action": "put", "name": "impl_summary.md", "content": "x"}, "impl-summary.md"},
		{map[string]any{"action": "put", "name": "../escape.md", "content": "x"}, "directly to the state directory"},
		{map[string]any{"action": "put", "name": "review.json", "content": `{"status":"DONE","verdict":"APPROVE"}`}, "APPROVED"},
		{map[string]any{"action": "put", "name": "workflow.yaml", "content": "a: 1"}, `{"action": "update", "set": {"KEY": "VALUE"}}`},
		{map[string]any{"action": "update"}, `hint: {"action": "update", "set": {"phase": "implement"}}`},
		{map[string]any{"action": "update", "set": map[string]any{"phase": "implment"}}, "implement"},
		{map[string]any{"action": "update", "set": map[string]any{"active": "yes"}}, "true or false"},
		{map[string]any{"action": "update"}, "nothing to update"},
		{map[string]any{"action": "get", "key": "iterations"}, "iteration"},
		{map[string]any{"action": "destroy"}, "get"},
	} {
		if words := a.refused("state", c.args); !strings.Contains(words, c.names) {
			t.Errorf("the refusal of %v does not mention %q: %s", c.args, c.names, words)
		}
	}
	if _, err := os.Lstat(filepath.Join(r.Dir, "escape.md")); err == nil {
		t.Error("wrote outside of the state directory")
	}
	r.Write(".ken/state/review.json", `{"status":"FINE"}`)
	if got := call(map[string]any{"action": "check"}); got.Problems == nil || len(*got.Problems) != 1 || (*got.Problems)[0].File != "review.json" {
		t.Errorf("check: %+v", got.Problems)
	}
	if got := call(map[string]any{"action": "get", "dir": "elsewhere"}); len(got.Workflow) != 0 {
		t.Errorf("another directory: %+v", got)
	}
}
