package worker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/model/provider"
	"ken/internal/pgtest"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/surveyrun"
	"ken/internal/testrepo"
)

// generous is a lease without a limit.
type generous struct{}

func (generous) Claim(context.Context, fresh.Digest) error { return nil }

func (generous) Reserve(context.Context, surveyrun.Amount, surveyrun.Amount) error { return nil }

// A worker starts the program of a repository's configuration only with --provider command, because another user may
// have started the run.
func TestWorkerStartsProgramOnlyIfAllowed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("KEN_STORE", pgtest.Database(t))
	started := filepath.Join(t.TempDir(), "started")
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write(".ken/config.yaml", "survey: {provider: command, command: [sh, -c, 'echo x > "+started+"; echo It is.']}\n")
	r.Commit("begin")
	commit, err := repo.ParseID(strings.TrimSpace(r.Git("rev-parse", "HEAD")))
	if err != nil {
		t.Fatal(err)
	}
	run := surveyrun.Run{Provider: provider.Command, Commit: commit}
	for _, given := range []string{"", provider.Command} {
		starts := given != ""
		s, err := openRepository(t.Context(), r.Dir, Options{Provider: given}, true)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		_, err = s.Describe(t.Context(), run, survey.DirTask{Work: true, Top: true}, nil, generous{})
		if errors.Is(err, describe.ErrFatal) == starts {
			t.Errorf("--provider %q: %v", given, err)
		}
		if _, err := os.Stat(started); (err == nil) != starts {
			t.Errorf("--provider %q: %v", given, err)
		}
		if starts {
			tree, err := s.treeAt(t.Context(), commit)
			if err != nil {
				t.Fatal(err)
			}
			m, err := s.model(tree, run)
			if err != nil {
				t.Fatal(err)
			}
			// All summaries of a run have the same recipe.
			run.Recipe = (&describe.ModelWriter{Model: m}).Recipe()
			if err := s.CheckRun(t.Context(), run); err != nil {
				t.Errorf("with its own recipe: %v", err)
			}
			run.Recipe += " of another ken"
			if err := s.CheckRun(t.Context(), run); err == nil {
				t.Error("the worker accepts a run with another recipe")
			}
		}
	}
}

// A run with an address that is not allowed here is left to other workers. It does not end this one.
func TestWorkerLeavesRunWithForeignAddress(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("KEN_STORE", "postgres://ken@127.0.0.1:1/ken")
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write(".ken/config.yaml", "survey: {provider: openai, model: m, base_url: 'https://model..invalid/v1'}\n")
	commit, err := repo.ParseID(r.Commit("begin"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := openRepository(t.Context(), r.Dir, Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	err = s.CheckRun(t.Context(), surveyrun.Run{Provider: "openai", Model: "m", Commit: commit})
	if err == nil || !strings.Contains(err.Error(), "until you allow it") || !strings.Contains(fault.HintOf(err), "ken allow") {
		t.Errorf("CheckRun returned %v with the hint %q; want that the address is not allowed", err, fault.HintOf(err))
	}
}

// The error for a missing commit has the command that fetches it, also in a bare clone.
func TestWorkerSaysHowToFetch(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("KEN_STORE", "postgres://ken@127.0.0.1:1/ken")
	for _, how := range [][]string{{"--bare"}, {"--mirror"}, nil} {
		r := testrepo.New(t)
		r.Write("a.go", "package a\n")
		r.Commit("begin")
		clone := r.Clone(how...)
		r.Git("switch", "-q", "-c", "topic")
		r.Write("b.go", "package b\n")
		commit, err := repo.ParseID(r.Commit("more"))
		if err != nil {
			t.Fatal(err)
		}
		r.Git("switch", "-q", "main")
		s, err := openRepository(t.Context(), clone.Dir, Options{}, true)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		_, err = s.treeAt(t.Context(), commit)
		if fault.HintOf(err) == "" {
			t.Fatalf("%v without a hint", err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", fault.HintOf(err))
		cmd.Env = r.Env()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("the command of the hint failed with %v\n%s", err, out)
		}
		if _, err := s.treeAt(t.Context(), commit); err != nil {
			t.Errorf("clone %v, after %s: %v", how, fault.HintOf(err), err)
		}
	}
}
