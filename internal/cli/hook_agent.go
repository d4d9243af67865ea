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
)

// hookContext returns a context that ends when a hook has kept an agent or a commit waiting
// for long enough.
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
	agenthook.SessionStart:  "Tell a session how far what is known can be trusted, and the first of it",
	agenthook.SubagentStart: "Tell a subagent the same",
	agenthook.PreToolUse:    "Tell which spec governs a file that is about to be edited",
	agenthook.PostToolUse:   "Remember what the agent saw, and tell what its edit made stale",
	agenthook.Stop:          "Tell what is left stale",
}

func (p *program) hookAgent(e agenthook.Event) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   string(e) + " [--client NAME]",
		Short: agentShort[e],
		Long: agentShort[e] + `.

Reads what the client tells its hooks, as JSON, from standard input, and answers in
the client's own form. It never blocks an agent and never fails: where something
goes wrong, that is a line on standard error. If its time is over first (KEN_HOOK_TIMEOUT,
2s if unset), it tells what is not known, and the command to ask.`,
		Args: cobra.ArbitraryArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if _, err := install.FindClient(name); err != nil {
				// Not the status of a wrong request: from 2, some clients take that the agent
				// is to be stopped.
				return &fault.Error{Hint: "one of: " + strings.Join(install.ClientNames(), ", "), Err: fmt.Errorf("%w %q", err, name)}
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
				p.io.Printf("%s", agenthook.Dialect(name).Answer(e, plain(text)))
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
	c.Flags().StringVar(&name, "client", string(agenthook.Claude), "whose `NAME` the answer is for, as in ken install")
	c.FParseErrWhitelist.UnknownFlags = true
	return c
}

// heard reads what the client says, all of it or nothing, and does not wait for ever.
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
			return nil, fmt.Errorf("read what the client says: %w", r.err)
		}
		if len(r.text) > agenthook.MaxInput {
			return nil, fmt.Errorf("what the client says is more than %d bytes", agenthook.MaxInput)
		}
		return r.text, nil
	case <-ctx.Done():
		return nil, errors.New("the client did not finish what it says")
	}
}
