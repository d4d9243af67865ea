// Package app is the assembly: it alone sees both the faces and the facts, and
// plugs them together. Each part is built when it is first needed, so a command
// pays for what it uses.
package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"ken/internal/cli"
	"ken/internal/env"
	"ken/internal/mcp"
	"ken/internal/term"
)

// Version names this build; the linker sets it for releases.
var Version = "dev"

// Main runs one command line on the process's own streams and returns the exit
// status.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process
	deps := cli.Deps{
		Open: func(ctx context.Context, dir string, progress func(done, total int)) (cli.Workspace, error) {
			return openHere(ctx, openOptions{dir: dir, progress: progress})
		},
		OpenCommits:   func(ctx context.Context, dir string) (cli.Commits, error) { return openCommits(ctx, dir) },
		OpenAddresses: func(ctx context.Context, dir string) (cli.AddressSpace, error) { return openCommits(ctx, dir) },
		OpenState: func(ctx context.Context, opts cli.StateOptions) (cli.StateSpace, error) {
			return openState(ctx, stateOptions{from: opts.From, dir: opts.Dir, wait: opts.Wait})
		},
		OpenHooks:   func(ctx context.Context, dir string) (cli.HookSpace, error) { return openHooks(ctx, dir) },
		OpenRuns:    func(ctx context.Context, dir string) (cli.RunSpace, error) { return openRuns(ctx, dir) },
		Board:       makeBoard,
		Serve:       serve,
		Work:        work,
		AnswerHook:  answerHook,
		HookTime:    func() (time.Duration, error) { return env.Timeout("KEN_HOOK_TIMEOUT", 2*time.Second) },
		Diagnose:    diagnose,
		ToolFiles:   findToolFiles,
		OpenClients: func(ctx context.Context, dir string) (cli.ClientSpace, error) { return openClients(ctx, dir) },
		ServeMCP:    serveMCP,
		Session:     session,
		Version:     Version,
	}
	err := cli.Run(ctx, deps, term.Std(), args)
	return cli.ExitStatus(ctx, err)
}

func serveMCP(ctx context.Context, dir string) error {
	return mcp.ServeStdio(ctx, mcpDeps(dir), os.Stdin, os.Stdout)
}

// mcpDeps is what agents are answered with, for dir unless they name another.
func mcpDeps(dir string) mcp.Deps {
	return mcp.Deps{
		Version: Version,
		Session: session,
		Open: func(ctx context.Context, root, author string) (mcp.Workspace, error) {
			if root == "" {
				root = dir
			}
			w, err := openHere(ctx, openOptions{dir: root, author: author, recipe: "agent"})
			if err != nil {
				return nil, err
			}
			return agentSpace{w}, nil
		},
		OpenState: func(ctx context.Context, root, named, author string) (mcp.StateSpace, error) {
			if root == "" {
				root = dir
			}
			return openState(ctx, stateOptions{from: root, dir: named, author: author})
		},
	}
}
