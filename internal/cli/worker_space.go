package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"ken/internal/repo"
	"ken/internal/surveyrun"
)

// A RunSpace gives access to the runs of a repository and of its server.
type RunSpace interface {
	// StartRun starts a run: a survey of a commit that workers share.
	StartRun(ctx context.Context, opts StartRunOptions) (*StartedRun, error)
	// Sync fetches what workers wrote.
	Sync(ctx context.Context) error
	Repository() string

	// These are about the runs of a repository, or of all on the server when it is "".
	Run(ctx context.Context, repository string, id int64) (*surveyrun.Run, error)
	Runs(ctx context.Context, repository string, most int) ([]surveyrun.Run, error)
	CancelRun(ctx context.Context, repository string, id int64) error
	Resume(ctx context.Context, repository string, id int64, c surveyrun.Ceiling) error
	Dead(ctx context.Context, repository string, run int64) ([]surveyrun.Dead, error)
	Retry(ctx context.Context, repository string, run int64) (int, error)

	Today(ctx context.Context) (surveyrun.Day, error)
	SetCeiling(ctx context.Context, c surveyrun.Ceiling) error
	Path(arg string) (repo.Path, error)
	Remarks() []string
	Close() error
}

// withRuns opens the runs, calls f, and closes them again.
func (p *program) withRuns(ctx context.Context, f func(RunSpace) error) (err error) {
	s, err := p.OpenRuns(ctx, p.dir)
	if err != nil {
		return err
	}
	defer func() {
		for _, r := range s.Remarks() {
			p.io.Remarkf("ken: %s", r)
		}
		err = errors.Join(err, s.Close())
	}()
	return f(s)
}

// runID parses the number of a run.
func runID(c *cobra.Command, arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, usage(c, fmt.Errorf("invalid run %q: give a number; list runs with: ken worker runs", arg))
	}
	return id, nil
}

// oneRun parses the optional number of a run; it is 0 when left out.
func oneRun(c *cobra.Command, args []string) (int64, error) {
	if len(args) == 0 {
		return 0, nil
	}
	return runID(c, args[0])
}

// scope selects the runs of this repository, or with --all those of the server.
type scope struct{ all bool }

func (f *scope) bind(c *cobra.Command) {
	c.Flags().BoolVar(&f.all, "all", false, "include runs of all repositories on the server")
}

func (f *scope) of(s RunSpace) string {
	if f.all {
		return ""
	}
	return s.Repository()
}
