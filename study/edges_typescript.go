package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed edges_typescript.js
var typescriptEdges string

// typescriptTruth asks TypeScript where each import leads, with the tsconfig that is
// nearest to the file.
func (st *study) typescriptTruth(ctx context.Context, t tree, files []string) (edgeTruth, error) {
	if err := st.installNpm(ctx, typescriptPackage, typescriptVersion); err != nil {
		return edgeTruth{}, err
	}
	script := filepath.Join(st.npmDir(), "edges.js")
	if err := os.WriteFile(script, []byte(typescriptEdges), 0o644); err != nil {
		return edgeTruth{}, err
	}
	cmd := exec.CommandContext(ctx, "node", script, t.dir)
	cmd.Stdin = strings.NewReader(strings.Join(t.files, "\n"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return edgeTruth{}, fmt.Errorf("edges of TypeScript: %w", err)
	}
	var answer struct {
		Edges   [][2]string
		Unclear [][2]string
		Links   int
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return edgeTruth{}, fmt.Errorf("edges of TypeScript: %w", err)
	}
	truth := newTruth(files)
	for _, e := range answer.Edges {
		truth.add(e[0], e[1], true)
	}
	for _, u := range answer.Unclear {
		truth.unclear[u[0]] = append(truth.unclear[u[0]], u[1])
	}
	truth.note = fmt.Sprintf("%d imports of %d workspace packages not resolved", len(answer.Unclear), answer.Links)
	return truth, nil
}
