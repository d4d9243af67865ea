package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// specRecipe names the way repositories with specs are generated, as recipe does.
const specRecipe = "1"

// A specPlan is the size of a repository with specs.
type specPlan struct {
	commits int
	nodes   int
	files   int // to a node
}

// specRepository returns a generated repository with specs, made now unless an
// earlier run left it whole.
func specRepository(ctx context.Context, cache string, env []string, plan specPlan) (string, error) {
	name := fmt.Sprintf("spec-v%s-%d-%d-%d", specRecipe, plan.commits, plan.nodes, plan.files)
	return made(filepath.Join(cache, name), func(dir string) error {
		progress("generating %d commits and %d nodes in %s", plan.commits, plan.nodes, dir)
		if err := git(ctx, "", env, nil, "init", "--quiet", "--initial-branch=main", dir); err != nil {
			return err
		}
		err := imported(ctx, dir, env, func(w io.Writer) error { return writeSpecHistory(w, plan) })
		if err != nil {
			return err
		}
		return ready(ctx, dir, env)
	})
}

// made returns the directory, which make fills under another name unless it is there.
func made(dir string, make func(dir string) error) (string, error) {
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	half := dir + ".part"
	if err := os.RemoveAll(half); err != nil {
		return "", err
	}
	if err := make(half); err != nil {
		return "", errors.Join(err, os.RemoveAll(half))
	}
	return dir, os.Rename(half, dir)
}

// imported feeds git fast-import.
func imported(ctx context.Context, dir string, env []string, write func(w io.Writer) error) error {
	pr, pw := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(pw, 1<<16)
		pw.CloseWithError(errors.Join(write(out), out.Flush()))
	}()
	err := git(ctx, dir, env, pr, "-c", "core.compression=1", "-c", "fastimport.unpackLimit=0",
		"fast-import", "--quiet", "--force", "--date-format=raw")
	pr.CloseWithError(err) // lets the writer go when git gave up
	return err
}

// ready checks the files out and writes a commit-graph, as git's own maintenance does.
func ready(ctx context.Context, dir string, env []string) error {
	for _, args := range [][]string{
		{"config", "gc.auto", "0"},
		{"config", "user.name", "Bench"},
		{"config", "user.email", "bench@example.com"},
		{"reset", "--quiet", "--hard"},
		{"commit-graph", "write", "--reachable"},
	} {
		if err := git(ctx, dir, env, nil, args...); err != nil {
			return err
		}
	}
	return settle(ctx, dir, env)
}

// gitAnswer runs a git command that is not measured, and returns what it printed.
func gitAnswer(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w", strings.Join(args, " "), dir, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// The parts of a generated history.
const (
	specBlobs   = 20_000 // contents that files take turns with
	specBranchy = 12     // of so many steps one is a branch and its merge
	specEdited  = 20     // of so many commits one edits a spec
	specMoved   = 2_000  // one moves a node
	specAcked   = 150    // one is an ack
	specStart   = 1_500_000_000
)

// A specWriter writes a history in git fast-import's format: nodes that each govern a
// directory and a file elsewhere, and commits of about ten files in a few directories.
// Every so often some commits are made on a branch, which is merged, sometimes
// with an edit of the merge's own.
type specWriter struct {
	io.Writer
	rng   *rand.Rand
	plan  specPlan
	count int // commits so far
	mark  int // the last one given to a commit
	paths []string
}

func writeSpecHistory(w io.Writer, plan specPlan) error {
	s := &specWriter{Writer: w, rng: rand.New(rand.NewPCG(2, uint64(plan.commits))), plan: plan, mark: specBlobs}
	for i := range specBlobs {
		s.blob(i + 1)
	}
	for i := range plan.nodes {
		s.paths = append(s.paths, specPath(i))
	}
	s.commit("refs/heads/main", 0, 0, "write the code and its specs", nil)
	for i := range plan.nodes * plan.files {
		s.file(i)
	}
	for i := range plan.nodes {
		s.spec(i)
	}
	main := s.mark
	for s.count < plan.commits {
		if s.rng.IntN(specBranchy) == 0 {
			main = s.branch(main)
			continue
		}
		main = s.step("refs/heads/main", main)
	}
	return nil
}

// specPath puts nodes into nodes, eight in each.
func specPath(i int) string {
	dir := ""
	for d := i + 1; d > 0; d = (d - 1) / fanOut {
		dir = fmt.Sprintf("%s%d/%s", vocabulary[25+d%20], d, dir)
	}
	return ".spec/" + dir + "spec.md"
}

// file is a file of the code: those of a node's directory lie together.
func (p specPlan) file(i int) string {
	dir := i / p.files
	return fmt.Sprintf("src/%s/%s%d/%s_%d%s", vocabulary[25+dir%20], vocabulary[dir%25], dir, vocabulary[i%40], i, extensions[i%len(extensions)])
}

func (s *specWriter) blob(mark int) {
	text := appendText(nil, s.rng, 100+s.rng.IntN(200))
	text = fmt.Appendf(text, "%d\n", mark)
	fmt.Fprintf(s, "blob\nmark :%d\ndata %d\n%s\n", mark, len(text), text)
}

// commit begins a commit on top of others, 0 for none.
func (s *specWriter) commit(ref string, from, merge int, subject string, trailers []string) {
	s.count++
	s.mark++
	message := subject + "\n\n" + string(appendText(nil, s.rng, 40+s.rng.IntN(200)))
	if s.rng.IntN(4) == 0 {
		trailers = append(trailers, fmt.Sprintf("Session: s-%d", s.rng.IntN(5000)))
	}
	if len(trailers) > 0 {
		message += "\n" + strings.Join(trailers, "\n") + "\n"
	}
	fmt.Fprintf(s, "commit %s\nmark :%d\ncommitter Bench <bench@example.com> %d +0100\ndata %d\n%s\n",
		ref, s.mark, specStart+60*s.count, len(message), message)
	if from > 0 {
		fmt.Fprintf(s, "from :%d\n", from)
	}
	if merge > 0 {
		fmt.Fprintf(s, "merge :%d\n", merge)
	}
}

func (s *specWriter) file(i int) { s.put(s.plan.file(i), 1+s.rng.IntN(specBlobs)) }

func (s *specWriter) put(name string, blob int) { fmt.Fprintf(s, "M 100644 :%d %s\n", blob, name) }

// spec writes a node's file, with other words each time.
func (s *specWriter) spec(i int) {
	text := specText(i, path.Dir(s.plan.file(i*s.plan.files)), s.plan.file((i*7919+11)%(s.plan.nodes*s.plan.files)), s.rng)
	fmt.Fprintf(s, "M 100644 inline %s\ndata %d\n%s\n", s.paths[i], len(text), text)
}

// specText is a spec file that governs two paths.
func specText(i int, dir, file string, rng *rand.Rand) string {
	return fmt.Sprintf("---\ntitle: Node %d\ndesc: %s\ncode:\n  - %s\n  - %s\n---\n## raw source\n\n%s\n## expanded spec\n\n%s",
		i, strings.Join(vocabulary[:5], " "), dir, file, appendText(nil, rng, 300), appendText(nil, rng, 900))
}

// step makes one commit.
func (s *specWriter) step(ref string, from int) int {
	node := s.rng.IntN(s.plan.nodes)
	switch {
	case s.rng.IntN(specAcked) == 0:
		id := path.Base(path.Dir(s.paths[node]))
		s.commit(ref, from, 0, "the spec still holds", []string{"Spec-OK: " + id})
		return s.mark
	case s.rng.IntN(specMoved) == 0 && ref == "refs/heads/main":
		s.move(from, node)
		return s.mark
	}
	s.commit(ref, from, 0, strings.TrimSpace(string(appendText(nil, s.rng, 40)[:40])), nil)
	for _, i := range s.touched() {
		s.file(i)
	}
	if s.rng.IntN(specEdited) == 0 {
		s.spec(node)
	}
	return s.mark
}

// move renames the directory of a node, with all that is in it.
func (s *specWriter) move(from, node int) {
	s.commit("refs/heads/main", from, 0, "find a better name", nil)
	old := path.Dir(s.paths[node])
	name := strings.SplitN(path.Base(old), "-", 2)[0]
	fresh := fmt.Sprintf("%s/%s-%d", path.Dir(old), name, s.count)
	fmt.Fprintf(s, "R %s %s\n", old, fresh)
	for i, p := range s.paths {
		if rest, ok := strings.CutPrefix(p, old+"/"); ok {
			s.paths[i] = fresh + "/" + rest
		}
	}
}

// branch makes some commits on a branch and merges it. Meanwhile main goes on in
// another directory.
func (s *specWriter) branch(from int) int {
	type edit struct{ file, blob int }
	var edits []edit
	side := from
	dir := s.rng.IntN(s.plan.nodes)
	for range 1 + s.rng.IntN(4) {
		s.commit("refs/heads/side", side, 0, "try something", nil)
		side = s.mark
		for range 1 + s.rng.IntN(8) {
			e := edit{dir*s.plan.files + s.rng.IntN(s.plan.files), 1 + s.rng.IntN(specBlobs)}
			edits = append(edits, e)
			s.put(s.plan.file(e.file), e.blob)
		}
	}
	s.commit("refs/heads/main", from, 0, "meanwhile", nil)
	s.file((dir+1)%s.plan.nodes*s.plan.files + s.rng.IntN(s.plan.files))
	s.commit("refs/heads/main", s.mark, side, "merge what was tried", nil)
	for _, e := range edits {
		s.put(s.plan.file(e.file), e.blob)
	}
	if s.rng.IntN(10) == 0 {
		s.file(dir * s.plan.files)
	}
	return s.mark
}

// touched draws the files of a commit: eleven in the mean, in a few directories.
func (s *specWriter) touched() []int {
	var files []int
	for range 1 + s.rng.IntN(4) {
		dir := s.rng.IntN(s.plan.nodes)
		for range 1 + s.rng.IntN(8) {
			files = append(files, dir*s.plan.files+s.rng.IntN(s.plan.files))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
