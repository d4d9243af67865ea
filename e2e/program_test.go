package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ken/internal/testrepo"
)

// An outcome is the result of a run of ken.
type outcome struct {
	status         int
	stdout, stderr string
}

// ken runs the built program in a repository; prepare may change the command.
func ken(t *testing.T, r *testrepo.Repo, prepare func(*exec.Cmd), args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "ken"), args...)
	cmd.Dir, cmd.Env = r.Dir, r.Env()
	if prepare != nil {
		prepare(cmd)
	}
	out, err := cmd.Output()
	o := outcome{stdout: string(out)}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		o.status, o.stderr = exit.ExitCode(), string(exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return o
}

// mustKen is ken for a run that must succeed.
func mustKen(t *testing.T, r *testrepo.Repo, args ...string) string {
	t.Helper()
	o := ken(t, r, nil, args...)
	if o.status != 0 {
		t.Fatalf("ken %q: exit %d\n%s%s", args, o.status, o.stdout, o.stderr)
	}
	return o.stdout
}

// decode decodes the JSON document that a run printed.
func decode[T any](t *testing.T, text string) (doc T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("ken did not print the expected JSON: %v\n%s", err, text)
	}
	return doc
}
