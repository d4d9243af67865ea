package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/agenthook"
	"ken/internal/fault"
	"ken/internal/install"
	"ken/internal/term"
)

// hookContext returns a context with the timeout of hooks.
func (p *program) hookContext(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if p.HookTime == nil {
		return ctx, func() {}, nil
	}
	most, err := p.HookTime()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	return ctx, cancel, nil
}

var agentShort = map[agenthook.Event]string{
	agenthook.SessionStart:  "Tell a new session which lines that it reads are stale",
	agenthook.SubagentStart: "Tell a new subagent which lines that it reads are stale",
	agenthook.PreToolUse:    "Tell an agent which spec governs the file that it will edit",
	agenthook.PostToolUse:   "Record what an agent read or edited, and tell it nothing",
}

func (p *program) hookAgent(e agenthook.Event) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   string(e) + " [--client NAME]",
		Short: agentShort[e],
		Long: agentShort[e] + `.

Reads the client's JSON from standard input, and answers in the client's format. It
never blocks an agent and never fails: it prints errors on standard error and exits
with 0. If it runs out of time (KEN_HOOK_TIMEOUT, 2s if unset), the answer says what is
unknown and which command to run.`,
		Example: "  ken hook " + string(e) + "   # answer the JSON on standard input",
		Args:    cobra.ArbitraryArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if _, err := install.FindClient(name); err != nil {
				// Not the status of a usage error: for 2, some clients stop the agent.
				return &fault.Error{Hint: "clients: " + strings.Join(install.ClientNames(), ", "), Err: fmt.Errorf("%w %q", err, name)}
			}
			return nil
		},
		RunE: p.neverFail("the agent", func(c *cobra.Command, _ []string) error {
			ctx, cancel, err := p.hookContext(c.Context())
			if err != nil {
				return err
			}
			defer cancel()
			answer := func(text string) {
				p.io.Printf("%s", agenthook.Dialect(name).Answer(e, term.CleanText(text)))
			}
			input, err := p.readInput(ctx)
			if err != nil {
				if ctx.Err() != nil {
					answer(agenthook.TimedOut(e, nil))
				}
				return err
			}
			call, err := agenthook.Parse(input)
			if err != nil {
				return err
			}
			call.Client = name
			said, err := p.AnswerHook(ctx, p.dir, e, call)
			if err != nil {
				if ctx.Err() != nil {
					answer(agenthook.TimedOut(e, &call))
				}
				return err
			}
			answer(said)
			return nil
		}),
	}
	c.Flags().StringVar(&name, "client", string(agenthook.Claude), "answer in the format of this client: `NAME` as in ken install")
	c.FParseErrWhitelist.UnknownFlags = true
	return c
}

// retiredHook returns the command of hooks that an older ken installed. It reads the client's input and says nothing.
func (p *program) retiredHook() *cobra.Command {
	return &cobra.Command{
		Use:                "user-prompt-submit",
		Aliases:            []string{"stop"},
		Hidden:             true,
		Short:              "Do nothing: an older ken installed this hook",
		Example:            "  ken hook user-prompt-submit   # read standard input, and say nothing",
		Args:               cobra.ArbitraryArgs,
		DisableFlagParsing: true,
		RunE: p.neverFail("the agent", func(c *cobra.Command, _ []string) error {
			ctx, cancel, err := p.hookContext(c.Context())
			if err == nil {
				_, _ = p.readInput(ctx) // a client may not expect that nobody reads
				cancel()
			}
			return nil
		}),
	}
}

// readInput reads the input of a hook. It gives up when the context ends.
func (p *program) readInput(ctx context.Context) ([]byte, error) {
	type reading struct {
		text []byte
		err  error
	}
	done := make(chan reading, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(p.io.In, agenthook.MaxInput+1))
		done <- reading{text, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, fmt.Errorf("read the client's input: %w", r.err)
		}
		if len(r.text) > agenthook.MaxInput {
			return nil, fmt.Errorf("the client's input exceeds %d bytes", agenthook.MaxInput)
		}
		return r.text, nil
	case <-ctx.Done():
		return nil, errors.New("the client did not send all of its input in time")
	}
}
