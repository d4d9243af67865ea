package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"ken/internal/agenthook"
	"ken/internal/fault"
	"ken/internal/install"
	"ken/internal/registry"
	"ken/internal/spec"
	"ken/internal/term"
)

// A brokenHooks is a repository in which every call fails.
type brokenHooks struct{ fail func() error }

func (b brokenHooks) Gate(context.Context) (*spec.GateResult, bool, error) {
	return nil, false, b.fail()
}

func (b brokenHooks) AddSession(context.Context, string, string, string) error { return b.fail() }

func (b brokenHooks) Finish(context.Context, string, string) error { return b.fail() }

func (b brokenHooks) Close(context.Context) (*registry.CloseResult, error) { return nil, b.fail() }

func (b brokenHooks) Setup(context.Context, install.Options) ([]install.FileResult, error) {
	return nil, b.fail()
}

func (b brokenHooks) Install(context.Context, install.Options) (*install.HooksResult, error) {
	return nil, b.fail()
}

// A hook turns every failure of ken into one line, and lets the commit pass.
func TestHooksNeverFail(t *testing.T) {
	failures := map[string]func() error{
		"an error": func() error { return errors.New("two\nlines") },
		"a panic":  func() error { panic("broken\nbadly") },
		"a fault": func() error {
			var nodes []string
			return errors.New(nodes[3])
		},
	}
	commands := [][]string{
		{"hook", "pre-commit"},
		{"hook", "prepare-commit-msg", "FILE", "commit", "HEAD"},
		{"hook", "commit-msg", "FILE"},
		{"hook", "post-commit"},
	}
	for _, e := range agenthook.Events {
		commands = append(commands, []string{"hook", string(e)}, []string{"hook", string(e), "--client", "cursor"})
	}
	for name, fail := range failures {
		for _, args := range commands {
			t.Run(name+" in "+args[1], func(t *testing.T) {
				var out, said bytes.Buffer
				deps := Deps{
					OpenHooks:  func(context.Context, string) (GitHooks, error) { return brokenHooks{fail}, nil },
					AnswerHook: func(context.Context, string, agenthook.Event, agenthook.Input) (string, error) { return "", fail() },
					Session:    func() string { return "s-1" },
				}
				err := Run(t.Context(), deps, &term.IO{In: strings.NewReader("{}"), Out: &out, Err: &said}, args)
				if status := ExitStatus(t.Context(), err); status != 0 {
					t.Errorf("exit status %d, want 0", status)
				}
				if strings.Count(said.String(), "\n") != 1 || !strings.HasPrefix(said.String(), "ken: ") || out.Len() > 0 {
					t.Errorf("stderr is %q and stdout %q, want one line on stderr", &said, &out)
				}
			})
		}
	}
}

// A hook of an agent exits with 0 for any input.
func TestAgentHooksAcceptAnyInput(t *testing.T) {
	deps := Deps{AnswerHook: func(_ context.Context, _ string, _ agenthook.Event, c agenthook.Input) (string, error) {
		return "heard " + strings.Join(c.Paths, ","), nil
	}}
	for name, tt := range map[string]struct {
		in       io.Reader
		answered bool
	}{
		"nothing":      {strings.NewReader(""), true},
		"no JSON":      {strings.NewReader("hello"), false},
		"half of it":   {strings.NewReader(`{"cwd": "/`), false},
		"a list":       {strings.NewReader(`[{}]`), false},
		"wrong types":  {strings.NewReader(`{"cwd": 3, "tool_name": [], "tool_input": "x"}`), true},
		"far too much": {io.MultiReader(strings.NewReader(`{"cwd": "`), &endless{}), false},
		"a broken one": {iotest.ErrReader(errors.New("gone")), false},
		"bytes":        {strings.NewReader("{\"tool_name\": \"Read\", \"tool_input\": {\"file_path\": \"\xff\\u0000\"}}"), true},
	} {
		for _, e := range agenthook.Events {
			var out, said bytes.Buffer
			err := Run(t.Context(), deps, &term.IO{In: tt.in, Out: &out, Err: &said}, []string{"hook", string(e), "--unheard-of"})
			if status := ExitStatus(t.Context(), err); status != 0 {
				t.Errorf("%s, %s: exit status %d, want 0", name, e, status)
			}
			if tt.answered != (out.Len() > 0) || out.Len() > 0 && !json.Valid(out.Bytes()) {
				t.Errorf("%s, %s: answered %q, said %q", name, e, &out, &said)
			}
			if s, ok := tt.in.(*strings.Reader); ok {
				_, _ = s.Seek(0, io.SeekStart)
			}
		}
	}
}

// A hook that an older ken installed says nothing and exits with 0, whatever the client sends: a huge prompt, a flag of
// later, nothing.
func TestRetiredHooks(t *testing.T) {
	deps := Deps{AnswerHook: func(context.Context, string, agenthook.Event, agenthook.Input) (string, error) {
		return "", errors.New("no hook should ask")
	}}
	for _, args := range [][]string{{"hook", "user-prompt-submit"}, {"hook", "stop", "--client", "codex"}, {"hook", "stop", "--client", "bogus", "--unheard-of"}} {
		for name, in := range map[string]io.Reader{
			"nothing": strings.NewReader(""), "no JSON": strings.NewReader("hello"), "a broken one": iotest.ErrReader(errors.New("gone")),
			"a huge prompt": strings.NewReader(`{"prompt": "` + strings.Repeat("x", 1<<20) + `"}`), "no end": &endless{},
		} {
			var out, said bytes.Buffer
			err := Run(t.Context(), deps, &term.IO{In: in, Out: &out, Err: &said}, args)
			if ExitStatus(t.Context(), err) != 0 || out.Len()+said.Len() > 0 {
				t.Errorf("%v, %s: %v, answered %q, said %q; want nothing", args, name, err, &out, &said)
			}
		}
	}
}

// After a timeout, the agent is told what is unknown and which command to run, and stderr has
// one line.
func TestAgentHooksOutOfTime(t *testing.T) {
	const edit = `{"tool_name": "Edit", "tool_input": {"file_path": "a.go"}}`
	for name, tt := range map[string]struct {
		input string // what the client says before it falls silent
		ended bool   // whether it then hangs up
		want  string
	}{
		"a slow ken":    {edit, true, "ken: timed out before it knew which spec governs a.go; run: ken spec owner a.go"},
		"a slow client": {"{", false, "ken: timed out before it knew which spec governs the file; run: ken spec owner PATH"},
	} {
		synctest.Test(t, func(t *testing.T) {
			in, client := io.Pipe()
			defer client.Close()
			go func() {
				_, _ = io.WriteString(client, tt.input)
				if tt.ended {
					client.Close()
				}
			}()
			deps := Deps{
				HookTime: func() (time.Duration, error) { return time.Second, nil },
				AnswerHook: func(ctx context.Context, _ string, _ agenthook.Event, _ agenthook.Input) (string, error) {
					<-ctx.Done()
					return "", ctx.Err()
				},
			}
			var out, said bytes.Buffer
			err := Run(t.Context(), deps, &term.IO{In: in, Out: &out, Err: &said}, []string{"hook", "pre-tool-use"})
			if err != nil || !strings.Contains(out.String(), tt.want) || !json.Valid(out.Bytes()) {
				t.Errorf("%s: answered %q, %v, want %q", name, &out, err, tt.want)
			}
			if strings.Count(said.String(), "\n") != 1 || !strings.HasPrefix(said.String(), "ken: ") {
				t.Errorf("%s: said %q on standard error, want one line", name, &said)
			}
		})
	}
}

// endless is an input that does not end.
type endless struct{}

func (*endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// A spec that blocks stops a commit, and an unknown verdict does so if the policy is strict.
func TestHookGated(t *testing.T) {
	blocked := []spec.BlockedNode{{Node: "a\x1b", Spec: ".spec/a/spec.md", Drift: 3, Paths: []string{"a.go"}}}
	unknown := []fault.Unknown{{What: "b", Why: "shallow"}}
	for _, tt := range []struct {
		name   string
		g      spec.GateResult
		strict bool
		stops  bool
		lines  int
	}{
		{"open", spec.GateResult{}, true, false, 0},
		{"nothing staged", spec.GateResult{Notice: "nothing is staged"}, true, false, 0},
		{"a merge", spec.GateResult{Notice: "a merge", Merge: true}, true, false, 1},
		{"blocked", spec.GateResult{Blocked: blocked}, false, true, 3},
		{"unknown", spec.GateResult{Unknown: unknown}, false, false, 2},
		{"unknown, strictly", spec.GateResult{Unknown: unknown}, true, true, 2},
		{"both", spec.GateResult{Blocked: blocked, Unknown: unknown}, false, true, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said bytes.Buffer
			p := &program{io: &term.IO{Err: &said}}
			if stops := !p.printHookGate(&tt.g, tt.strict); stops != tt.stops {
				t.Errorf("the hook stops the commit: %t, want %t", stops, tt.stops)
			}
			if n := strings.Count(said.String(), "\n"); n != tt.lines || strings.Contains(said.String(), "\x1b") {
				t.Errorf("it said\n%q", &said)
			}
		})
	}
}
