// Package app connects the features with facts and faces: it opens the repository, builds features and starts a face.
// It builds each part on first use, so that a command pays only for what it uses.
package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"ken/internal/cli"
	"ken/internal/env"
	"ken/internal/ken"
	"ken/internal/mcp"
	"ken/internal/session"
	"ken/internal/statedir"
	"ken/internal/term"
	"ken/internal/workflow"
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
		OpenHooks:     func(ctx context.Context, dir string) (cli.GitHooks, error) { return openHooks(ctx, dir) },
		Runs:          lastRuns,
		Serve:         serve,
		AnswerHook:    answerHook,
		HookTime:      func() (time.Duration, error) { return env.Timeout("KEN_HOOK_TIMEOUT", 2*time.Second) },
		Diagnose:      diagnose,
		InstallClient: installClient,
		ServeMCP:      serveMCP,
		Session:       session.ID,
		Version:       Version,
	}
	err := cli.Run(ctx, deps, term.Std(), args)
	return cli.ExitStatus(ctx, err)
}

func serveMCP(ctx context.Context, dir string) error {
	return mcp.ServeStdio(ctx, mcpDeps(dir), os.Stdin, os.Stdout)
}

// mcpDeps returns the functions of the MCP server, for dir unless an agent names another directory.
func mcpDeps(dir string) mcp.Deps {
	return mcp.Deps{
		Version: Version,
		Session: session.ID,
		Open: func(ctx context.Context, root, author string) (*ken.Repository, error) {
			if root == "" {
				root = dir
			}
			return ken.OpenWithTeam(ctx, ken.Options{Dir: root, Author: author, Recipe: "agent"})
		},
		OpenState: func(ctx context.Context, root, named, author string) (*workflow.Manager, error) {
			if root == "" {
				root = dir
			}
			return statedir.Open(ctx, statedir.Options{From: root, Dir: named, Author: author})
		},
	}
}
