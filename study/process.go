package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// output runs a program in a directory and returns what it prints.
func (st *study) output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = st.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w\n%s", strings.Join(args, " "), dir, err, tail(stderr.Bytes()))
	}
	return out, nil
}

// git runs a git command and returns what it prints.
func (st *study) git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := st.output(ctx, dir, append([]string{"git"}, args...)...)
	return strings.TrimSpace(string(out)), err
}

// feedGit runs a git command that reads from stdin.
func (st *study) feedGit(ctx context.Context, dir string, stdin io.Reader, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = st.env
	cmd.Stdin = stdin
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s in %s: %w\n%s", strings.Join(args, " "), dir, err, tail(out))
	}
	return nil
}

func tail(b []byte) []byte {
	const most = 2000
	return bytes.TrimSpace(b[max(0, len(b)-most):])
}
