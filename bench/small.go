package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// smallWorks fills the rows of the start of the process, which every hook pays for, and of ken state.
func (b *bench) smallWorks(ctx context.Context) error {
	state := filepath.Join(b.tmp, "state")
	if err := makeState(state); err != nil {
		return err
	}
	version := []string{b.ken, "version"}
	for _, w := range []struct {
		name    string
		ken     []string
		against string
		other   []string
		atMost  float64
	}{
		{"state audit", []string{b.ken, "state", "--dir", state, "audit"}, kenVersion, version, 1.5},
		{"state update", []string{b.ken, "state", "--dir", state, "update", "phase=implement"}, kenVersion, version, 2},
		{"version, processor time", version, "empty Go program", []string{b.empty}, 6},
	} {
		if !b.only.MatchString(w.name) {
			continue
		}
		progress(w.name)
		d := comparison{
			ken:       command{args: w.ken, dir: b.tmp, env: b.env},
			other:     command{args: w.other, dir: b.tmp, env: b.env},
			rounds:    max(b.rounds, startRounds),
			processor: w.other[0] == b.empty,
		}
		ken, other, err := d.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		b.rows = append(b.rows, row{work: w.name, ken: ken, against: w.against, other: other, atMost: w.atMost})
	}
	return nil
}

// makeState makes a state directory with ten files.
func makeState(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range 9 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("review-%06d.md", i)), []byte("x\n"), 0o644); err != nil {
			return err
		}
	}
	document := "active: true\nworkflow_id: w\ncreated_at: \"2026-01-01T00:00:00Z\"\nphase: plan\n"
	return os.WriteFile(filepath.Join(dir, "workflow.yaml"), []byte(document), 0o644)
}
