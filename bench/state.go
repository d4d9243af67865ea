package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// The limits of ken state: small directories against starting ken, and a huge directory against find.
const (
	stateAuditAtMost  = 1.5
	stateUpdateAtMost = 2.0
	stateHugeAtMost   = 2.0

	stateFew  = 10
	stateHuge = 100_000
)

// stateWorks fills the rows of ken state.
func (b *bench) stateWorks(ctx context.Context) error {
	for _, w := range []struct {
		name, against string
		files         int
		atMost        float64
		args          []string
		other         func(dir string) command
		rounds        int
	}{
		{"state audit", "ken version", stateFew, stateAuditAtMost, []string{"audit"}, b.version, startupRounds},
		{"state update", "ken version", stateFew, stateUpdateAtMost, []string{"update", "phase=implement"}, b.version, startupRounds},
		{"state audit, huge", "find -printf", stateHuge, stateHugeAtMost, []string{"audit", "--json"}, b.find, b.rounds},
	} {
		if !b.only.MatchString(w.name) {
			continue
		}
		progress("%s, %d files", w.name, w.files)
		dir, err := b.stateDir(w.files)
		if err != nil {
			return err
		}
		d := comparison{
			ken:    command{args: append([]string{b.ken, "state", "--dir", dir}, w.args...), dir: b.tmp, env: b.env},
			other:  w.other(dir),
			rounds: max(b.rounds, w.rounds),
		}
		ken, other, _, err := d.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		b.rows = append(b.rows, row{work: w.name, files: w.files, ken: ken, against: w.against, other: other, atMost: w.atMost})
	}
	return nil
}

// stateDir makes a state directory with so many files. A pattern of the contract allows most of them.
func (b *bench) stateDir(files int) (string, error) {
	dir := filepath.Join(b.tmp, fmt.Sprintf("state-%d", files))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for i := range files - 1 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("review-%06d.md", i)), []byte("x\n"), 0o644); err != nil {
			return "", err
		}
	}
	document := []byte("active: true\nworkflow_id: w\ncreated_at: \"2026-01-01T00:00:00Z\"\nphase: plan\n")
	return dir, os.WriteFile(filepath.Join(dir, "workflow.yaml"), document, 0o644)
}

func (b *bench) version(string) command {
	return command{args: []string{b.ken, "version"}, dir: b.tmp, env: b.env}
}

func (b *bench) find(dir string) command {
	return command{args: []string{"find", dir, "-maxdepth", "1", "-printf", `%s %T@ %f\0`}, dir: b.tmp, env: b.env}
}
