package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// recipe names the way repositories are generated. Raise it with every change to
// this file, so that no figure stands on a repository of the old kind.
const recipe = "1"

// repository returns a generated repository of the given number of files, made
// now unless an earlier run left it whole and clean.
func repository(ctx context.Context, cache string, env []string, files int) (string, error) {
	dir := filepath.Join(cache, fmt.Sprintf("v%s-%d", recipe, files))
	return repositoryOf(ctx, dir, env, func(w io.Writer) error { return writeHistory(w, files) })
}

// repositoryOf returns the repository at dir, whose history write writes, made now
// unless an earlier run left it whole and clean.
func repositoryOf(ctx context.Context, dir string, env []string, write func(io.Writer) error) (string, error) {
	if _, err := os.Stat(dir); err == nil {
		// A run that was interrupted may have left an edit behind.
		if git(ctx, dir, env, nil, "diff-index", "--quiet", "HEAD") == nil {
			return dir, nil
		}
	}
	progress("generating %s", dir)
	half := dir + ".part" // only a whole one gets the name
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(half)); err != nil {
		return "", err
	}
	if err := generate(ctx, half, env, write); err != nil {
		return "", errors.Join(err, os.RemoveAll(half))
	}
	return dir, os.Rename(half, dir)
}

// generate makes a repository as a clone leaves it: one pack, a checked-out work
// tree, a branch that follows an upstream. It streams through git fast-import,
// which is several times faster than adding files and keeps this process small.
func generate(ctx context.Context, dir string, env []string, write func(io.Writer) error) error {
	if err := git(ctx, "", env, nil, "init", "--quiet", "--initial-branch=main", dir); err != nil {
		return err
	}
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(write(pw)) }()
	err := git(ctx, dir, env, pr, "-c", "core.compression=1", "fast-import", "--quiet", "--date-format=raw")
	pr.CloseWithError(err) // lets the writer go when git gave up
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"config", "remote.origin.url", "."},
		{"config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"},
		{"config", "branch.main.remote", "origin"},
		{"config", "branch.main.merge", "refs/heads/main"},
		{"config", "gc.auto", "0"},
		{"update-ref", "refs/remotes/origin/main", "refs/heads/main"},
		{"reset", "--quiet", "--hard"},
	} {
		if err := git(ctx, dir, env, nil, args...); err != nil {
			return err
		}
	}
	return settle(ctx, dir, env)
}

// settle lets the work tree grow old, so that neither side ever hashes a file
// only because it shares a tick with the index.
func settle(ctx context.Context, dir string, env []string) error {
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular():
			return os.Chtimes(name, old, old)
		}
		return nil
	})
	if err != nil {
		return err
	}
	time.Sleep(1100 * time.Millisecond) // the change times must be older than the index, too
	return git(ctx, dir, env, nil, "update-index", "--refresh")
}

// writeHistory writes one commit of all files, in git fast-import's format.
func writeHistory(w io.Writer, files int) error {
	out := bufio.NewWriterSize(w, 1<<16)
	rng := rand.New(rand.NewPCG(1, uint64(files)))
	fmt.Fprint(out, "commit refs/heads/main\ncommitter Bench <bench@example.com> 1700000000 +0000\ndata 9\ngenerated\n")
	var text []byte
	for i := range files {
		text = appendText(text[:0], rng, size(rng))
		fmt.Fprintf(out, "M 100644 inline %s\ndata %d\n", fileName(i), len(text))
		out.Write(text)
		out.WriteByte('\n')
	}
	return out.Flush()
}

const (
	perDir = 12 // files in a directory
	fanOut = 8  // directories in a directory
)

var (
	extensions = []string{".go", ".go", ".go", ".ts", ".py", ".c", ".h", ".md", ".json", ".yaml", "_test.go", ".css"}
	vocabulary = strings.Fields(`package import func return if else for range type struct interface const var
		error context string int bool byte map chan select switch case default break continue
		server client request response handler buffer reader writer index commit branch path
		token parse render cache store query result value option config state verify := == != {} () [] // `)
)

// fileName spreads files over a tree of directories, a dozen in each.
func fileName(i int) string {
	name := fmt.Sprintf("%s_%d%s", vocabulary[i%40], i, extensions[i%len(extensions)])
	for d := i / perDir; d > 0; d = (d - 1) / fanOut {
		name = fmt.Sprintf("%s%d/%s", vocabulary[25+d%20], d, name)
	}
	return name
}

// size draws a file's size as source trees have them: half below 2.5 KiB, the
// mean near 5, a few of hundreds.
func size(rng *rand.Rand) int {
	const mu, sigma, most = 7.8, 1.15, 512 << 10
	return min(int(math.Exp(mu+sigma*rng.NormFloat64()))+16, most)
}

// appendText appends about n bytes of lines that compress like code.
func appendText(b []byte, rng *rand.Rand, n int) []byte {
	for start, column := len(b), 0; len(b)-start < n; {
		word := vocabulary[rng.IntN(len(vocabulary))]
		b = append(b, word...)
		if column += len(word) + 1; column > 60 {
			b, column = append(b, '\n'), 0
			continue
		}
		b = append(b, ' ')
	}
	return append(b, '\n')
}

// git runs a git command that is not measured.
func git(ctx context.Context, dir string, env []string, stdin io.Reader, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, env, stdin
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, tail(out))
	}
	return nil
}
