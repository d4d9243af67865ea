//go:build unix

package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ken/internal/fault"
	"ken/internal/model"
	"ken/internal/model/provider"
)

// shell returns a model that runs a script.
func shell(t testing.TB, script string, change ...func(*provider.Config, *provider.Options)) *provider.Model {
	t.Helper()
	cfg := provider.Config{Provider: "command", Model: "sh", Command: []string{"sh", "-c", script}}
	opts := provider.Options{}
	for _, f := range change {
		f(&cfg, &opts)
	}
	m, err := provider.New(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func speakJSON(cfg *provider.Config, _ *provider.Options) { cfg.JSON = true }

// A program reads the plain prompt and writes the answer.
func TestCommandText(t *testing.T) {
	m := shell(t, "cat; echo; echo '  and more  '")
	if m.Name() != "command/sh" {
		t.Errorf("the name is %s; want command/sh", m.Name())
	}
	var heard string
	r, err := m.Turn(t.Context(), hello, model.Listener{Text: func(s string) { heard += s }})
	if err != nil {
		t.Fatal(err)
	}
	want := "be brief\n\nhello?\n\n  and more"
	if r.Text != want || heard != want || r.Stop != model.End {
		t.Errorf("Turn returned %+v; want the text %q", r, want)
	}
	if r.Usage.Requests != 1 || !r.Usage.Estimated || r.Usage.Input != 5 || r.Usage.Output == 0 || r.Cost.Known() {
		t.Errorf("the usage is %+v at %v; want one estimated request of unknown cost", r.Usage, r.Cost)
	}

	req := hello
	req.Messages = []model.Message{model.Ask("one"), {Role: model.Assistant, Text: "two"}, model.Ask("three")}
	if r, err = shell(t, "cat").Turn(t.Context(), req, model.Listener{}); err != nil {
		t.Fatal(err)
	}
	if want := "be brief\n\n--- user\n\none\n\n--- assistant\n\ntwo\n\n--- user\n\nthree"; r.Text != want {
		t.Errorf("the text is %q; want %q", r.Text, want)
	}
}

// With JSON, a program gets the whole conversation, including tools.
func TestCommandJSON(t *testing.T) {
	dir := t.TempDir()
	m := shell(t, `cat > '`+dir+`/in'; echo '{"text":"hm","calls":[{"name":"list","arguments":{"a":1}},{"id":"x","name":"list","arguments":[1]}],
		"usage":{"input":100,"cached":60,"output":7},"model":"m-2"}'`, speakJSON)
	req := model.Request{System: "rules", Tools: tools[:1], MaxTokens: 9, Messages: []model.Message{
		model.Ask("go"),
		{Role: model.Assistant, Calls: []model.Call{{ID: "a", Name: "list", Args: args(`{}`)}}},
		model.Answer(model.Result{ID: "a", Text: "no", Failed: true}),
	}}
	r, err := m.Turn(t.Context(), req, model.Listener{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Text != "hm" || r.Stop != model.ToolUse || r.Model != "m-2" || len(r.Calls) != 2 {
		t.Fatalf("Turn returned %+v; want the text hm and two tool calls", r)
	}
	if c := r.Calls[0]; c.ID != "call_0" || string(c.Args) != `{"a":1}` || c.Err != nil {
		t.Errorf("the first call is %+v; want call_0 with its arguments", c)
	}
	if c := r.Calls[1]; c.ID != "x" || c.Err == nil {
		t.Errorf("the second call is %+v; want x with an error", c)
	}
	if want := (model.Usage{Requests: 1, Input: 100, Cached: 60, Output: 7}); r.Usage != want {
		t.Errorf("the usage is %+v; want %+v", r.Usage, want)
	}
	b, err := os.ReadFile(filepath.Join(dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"version":1,"system":"rules","max_tokens":9,
		"tools":[{"name":"read_file","description":"reads","schema":{"type":"object","properties":{"path":{"type":"string"}}}}],
		"messages":[{"role":"user","text":"go"},{"role":"assistant","calls":[{"id":"a","name":"list","arguments":{}}]},
			{"role":"user","results":[{"id":"a","text":"no","error":true}]}]}`), &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the request to the command (-want +got):\n%s", d)
	}
}

// JSON that is not a reply of the protocol counts as text.
func TestCommandOtherJSON(t *testing.T) {
	const summary = `{"summary": "it is so", "files": {"a": "b"}}`
	for _, change := range [][]func(*provider.Config, *provider.Options){nil, {speakJSON}} {
		r, err := shell(t, "echo '"+summary+"'", change...).Turn(t.Context(), hello, model.Listener{})
		if err != nil || r.Text != summary || r.Stop != model.End {
			t.Errorf("Turn returned %+v, %v; want the JSON as text", r, err)
		}
	}
}

// An error of a program is reported once, with the message of the program.
func TestCommandFails(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		reason model.Reason
		says   string
	}{
		"exit status":        {`echo half; printf 'oh\033[31m no\nmore\n' >&2; exit 3`, model.Down, "status 3: oh?[31m no more"},
		"a signal":           {`kill -9 $$`, model.Down, "killed"},
		"nothing":            {`exit 0`, model.BadAnswer, "nothing"},
		"white space":        {`printf ' \n\t\n'`, model.BadAnswer, "nothing"},
		"no text":            {`printf 'a\377b'`, model.BadAnswer, "not text"},
		"a broken reply":     {`echo '{"text": 17}'`, model.BadAnswer, "invalid reply"},
		"calls of nothing":   {`echo '{"calls": "x"}'`, model.BadAnswer, "invalid reply"},
		"too much":           {`head -c 70000 /dev/zero | tr '\0' x`, model.BadAnswer, "65536"},
		"much to complain":   {`head -c 1000000 /dev/zero | tr '\0' y >&2; exit 1`, model.Down, "status 1: yyy"},
		"without end":        {`yes`, model.BadAnswer, "65536"},
		"without end, deaf":  {`trap '' PIPE; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done 2>/dev/null`, model.BadAnswer, "65536"},
		"its keys in stderr": {`echo "key $ANTHROPIC_API_KEY is bad" >&2; exit 1`, model.Down, "key … is bad"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ANTHROPIC_API_KEY", "sk-this-is-a-secret")
			w := &waiter{}
			_, err := shell(t, tt.script, func(c *provider.Config, o *provider.Options) { c.JSON, o.Sleep = true, w.sleep }).
				Turn(t.Context(), hello, model.Listener{})
			if got := reasonOf(t, err); got != tt.reason || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Turn returned the error %[2]v with the reason %[1]v; want %[3]v and %[4]q", got, err, tt.reason, tt.says)
			}
			if len(w.all()) != 0 {
				t.Error("the command was started twice")
			}
		})
	}
	t.Run("not there", func(t *testing.T) {
		m, err := provider.New(provider.Config{Provider: "command", Command: []string{"no-such-program-anywhere"}}, provider.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.Turn(t.Context(), hello, model.Listener{}); reasonOf(t, err) != model.NoModel {
			t.Errorf("Turn returned the error %v; want the reason %v", err, model.NoModel)
		}
	})
}

// A program that does not end is killed with its child processes, by the time limit or by the caller.
func TestCommandKillsChildProcesses(t *testing.T) {
	t.Parallel()
	for name, cancelled := range map[string]bool{"our limit": false, "the caller": true} {
		t.Run(name, func(t *testing.T) {
			pids := filepath.Join(t.TempDir(), "pids")
			if err := syscall.Mkfifo(pids, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			told := make(chan []string, 1)
			go func() {
				b, err := os.ReadFile(pids) // until all have written
				if err != nil {
					t.Error(err)
				}
				if cancelled {
					cancel()
				}
				told <- strings.Fields(string(b))
			}()
			limit := time.Hour
			if !cancelled {
				limit = 2 * time.Second
			}
			m := shell(t, `sh -c 'sleep 1000 & echo $$ $! > "`+pids+`"; wait' & wait`, func(_ *provider.Config, o *provider.Options) { o.Total = limit })
			_, err := m.Turn(ctx, hello, model.Listener{})
			want := model.Down
			if cancelled {
				want = model.Cancelled
			}
			if got := reasonOf(t, err); got != want || cancelled && (!errors.Is(err, context.Canceled) || fault.KindOf(err) != fault.Interrupted) {
				t.Errorf("Turn returned the error %[2]v with the reason %[1]v; want %[3]v", got, err, want)
			}
			for _, s := range <-told {
				pid, err := strconv.Atoi(s)
				if err != nil {
					t.Fatal(err)
				}
				if alive(pid) {
					t.Errorf("process %d is still there", pid)
				}
			}
		})
	}
}

// alive reports whether a process runs. It waits a moment, until the system has removed a killed one.
func alive(pid int) bool {
	for range 6000 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return false
		}
		if b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(b), ") Z ") {
			return false // dead, but not reaped yet
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// A program that exits and leaves a child process with its output open has answered.
func TestCommandLeavesChildProcess(t *testing.T) {
	t.Parallel()
	start := time.Now()
	r, err := shell(t, "sleep 1000 & echo $!").Turn(t.Context(), hello, model.Listener{})
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(r.Text)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	if d := time.Since(start); d > time.Minute {
		t.Errorf("it took %v", d)
	}
}
