package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pyrightConfig makes pyright read every file, whatever the repository checks itself.
const pyrightConfig = `{"include": ["."], "exclude": ["**/node_modules"], "typeCheckingMode": "off"}`

// pythonTruth asks pyright which files each file imports.
func (st *study) pythonTruth(ctx context.Context, t tree, files []string) (edgeTruth, error) {
	if err := st.installNpm(ctx, pyrightPackage, pyrightVersion); err != nil {
		return edgeTruth{}, err
	}
	root, err := filepath.EvalSymlinks(t.dir)
	if err != nil {
		return edgeTruth{}, err
	}
	config := filepath.Join(root, "pyrightconfig.json")
	if err := os.WriteFile(config, []byte(pyrightConfig), 0o644); err != nil {
		return edgeTruth{}, err
	}
	cmd := exec.CommandContext(ctx, "node", filepath.Join(st.npmDir(), "node_modules", pyrightPackage, "index.js"), "--dependencies", "--verbose")
	cmd.Dir = root
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	// Status 1 says that the code has errors, which it may.
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1) {
		return edgeTruth{}, fmt.Errorf("pyright: %w\n%s", err, tail(stdout.Bytes()))
	}
	return pyrightEdges(stdout.String(), root, files), nil
}

// pyrightEdges reads what pyright --dependencies prints: a file by line, the files that it
// imports below " Imports", and those that import it below " Imported by".
func pyrightEdges(text, root string, files []string) edgeTruth {
	truth := newTruth(files)
	clear(truth.read)
	var previous, from string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, " Imports "):
			from = filepath.ToSlash(previous)
			truth.read[from] = truth.known[from]
		case strings.HasPrefix(line, "    file://"):
			place, err := url.Parse(strings.TrimSpace(line))
			if err != nil || from == "" {
				continue
			}
			if to, err := filepath.Rel(root, filepath.FromSlash(place.Path)); err == nil {
				truth.add(from, filepath.ToSlash(to), true)
			}
		default:
			from = ""
		}
		previous = line
	}
	read := 0
	for _, is := range truth.read {
		if is {
			read++
		}
	}
	truth.note = fmt.Sprintf("%d of %d files read", read, len(files))
	return truth
}
