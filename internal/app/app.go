// Package app is the assembly: it alone sees both the faces and the facts, and
// plugs them together. Each part is built when it is first needed, so a command
// pays for what it uses.
package app

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"ken/internal/board"
	"ken/internal/cli"
	"ken/internal/mcp"
	"ken/internal/term"
)

// Version names this build; the linker sets it for releases.
var Version = "dev"

// Main runs one command line on the process's own streams and returns the exit
// status.
func Main(args []string) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	deps := cli.Deps{
		Open: func(ctx context.Context, dir string, progress func(done, total int)) (cli.Workspace, error) {
			if slices.ContainsFunc(args, func(a string) bool { return a == "survey" || a == "up" }) {
				onInterrupt(cancel) // money may be spent from the first moment on
			} else {
				time.AfterFunc(short, func() { onInterrupt(cancel) })
			}
			return openHere(ctx, openOptions{dir: dir, progress: progress})
		},
		OpenCommits: func(ctx context.Context, dir string) (cli.Commits, error) {
			time.AfterFunc(short, func() { onInterrupt(cancel) })
			return openCommits(ctx, dir)
		},
		OpenAddresses: func(ctx context.Context, dir string) (cli.AddressSpace, error) { return openCommits(ctx, dir) },
		OpenState: func(ctx context.Context, opts cli.StateOptions) (cli.StateSpace, error) {
			time.AfterFunc(short, func() { onInterrupt(cancel) })
			return openState(ctx, stateOptions{from: opts.From, dir: opts.Dir, wait: opts.Wait})
		},
		OpenHooks: func(ctx context.Context, dir string) (cli.HookSpace, error) {
			time.AfterFunc(short, func() { onInterrupt(cancel) })
			return openHooks(ctx, dir)
		},
		Board: func(ctx context.Context, dir string, all bool) (*board.Board, error) {
			time.AfterFunc(short, func() { onInterrupt(cancel) })
			return makeBoard(ctx, dir, all)
		},
		Serve: func(ctx context.Context, dir string, opts cli.ServeOptions) error {
			onInterrupt(cancel)
			return serve(ctx, dir, opts)
		},
		OpenCrew: func(ctx context.Context, dir string) (cli.CrewSpace, error) {
			onInterrupt(cancel)
			return openCrew(ctx, dir)
		},
		Work: func(ctx context.Context, dir string, opts cli.WorkOptions) error {
			onInterrupt(cancel)
			return work(ctx, dir, opts)
		},
		Hear:        hear,
		Diagnose:    diagnose,
		Litter:      findLitter,
		OpenClients: func(ctx context.Context, dir string) (cli.ClientSpace, error) { return openClients(ctx, dir) },
		ServeMCP: func(ctx context.Context, dir string) error {
			onInterrupt(cancel)
			return serveMCP(ctx, dir)
		},
		Session: session,
		Version: Version,
	}
	err := cli.Run(ctx, deps, term.Std(), args)
	return cli.ExitStatus(ctx, err)
}

// short is a run that is over before anybody could interrupt it.
const short = 30 * time.Millisecond

// onInterrupt calls cancel when the user or the system asks the process to end.
// Listening costs a thread, which short runs do without: there, a signal simply
// ends the process, and leaves nothing half-written.
func onInterrupt(cancel func()) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-asked
		signal.Stop(asked) // a second one ends the process
		cancel()
	}()
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
			return openHere(ctx, openOptions{dir: root, author: author, recipe: "agent"})
		},
		OpenState: func(ctx context.Context, root, named, author string) (mcp.StateSpace, error) {
			if root == "" {
				root = dir
			}
			return openState(ctx, stateOptions{from: root, dir: named, author: author})
		},
	}
}
