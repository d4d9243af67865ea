// Package worker describes directories of survey runs that several machines share, and gives access to the runs.
//
// A run is rows in the team's PostgreSQL database: package queue leases its directories, and package surveyrun decides
// about them. This package opens the clone, the model and the database for both.
package worker

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/queue"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/surveyrun"
)

// Options tunes a worker.
type Options struct {
	Repositories []string // directories of clones; this one when empty
	Provider     string   // "command" lets runs start the configured program
	Jobs         int
	Lease, Drain time.Duration
	UntilIdle    bool
	Ready        func(repositories []string) // called with the repositories of the worker
	OnEvent      func(Event)
}

// An Event reports what happened to a worker: a directory was described, unchanged,
// refused, dead or returned, or will be tried again; the worker is unable to describe it, the
// server is away, or the worker is draining.
type Event struct {
	What  string
	Run   int64
	Path  repo.Path
	Err   error
	Delay time.Duration // until the next attempt
}

// Work summarises directories of the repositories in opts, or of the one at dir when there are
// none, until the context ends.
func Work(ctx context.Context, dir string, opts Options) error {
	dirs := opts.Repositories
	if len(dirs) == 0 {
		dirs = []string{dir}
	}
	repos := make(map[string]*repository)
	defer func() {
		for _, s := range repos {
			s.markTeamChanged(context.WithoutCancel(ctx))
			s.close()
		}
	}()
	var first *repository
	for _, d := range dirs {
		s, err := openRepository(ctx, d, opts, true)
		if err != nil {
			return err
		}
		if old := repos[s.identity]; old != nil {
			s.close() // another clone of the same repository
			continue
		}
		repos[s.identity] = s
		if first == nil {
			first = s
		}
		if s.address != first.address {
			return &fault.Error{
				Kind: fault.Usage, Hint: "start one worker per database",
				Err: fmt.Errorf("%s uses another database than %s", d, dirs[0]),
			}
		}
		if s != first {
			s.store = first.store.ForRepository(s.identity) // before it connects
		}
	}
	q, err := openQueue(ctx, repos, opts.Jobs)
	if err != nil {
		return err
	}
	defer q.Close()
	describers := make(map[string]queue.Describer, len(repos))
	for name, s := range repos {
		describers[name] = s
	}
	opts.Ready(slices.Sorted(maps.Keys(repos)))
	return q.Work(ctx, queue.WorkOptions{
		Name: workerName(), Repositories: describers, Jobs: opts.Jobs, Lease: opts.Lease, Drain: opts.Drain, UntilIdle: opts.UntilIdle,
		OnEvent: func(e queue.Event) { opts.OnEvent(newEvent(e)) },
	})
}

// newEvent describes an event of the queue.
func newEvent(e queue.Event) Event {
	out := Event{Run: e.Run, Path: e.Path, Err: e.Err, Delay: e.Delay}
	switch {
	case e.Drained:
		out.What = "draining"
	case e.Server:
		out.What = "away"
	case e.Unable:
		out.What = "unable"
	case e.Err == nil && e.Asked:
		out.What = "described"
	case e.Err == nil:
		out.What = "unchanged"
	default:
		out.What = actionNames[e.Action]
	}
	return out
}

var actionNames = map[surveyrun.FailureAction]string{
	surveyrun.ActionRetry: "again", surveyrun.ActionRefuse: "refused", surveyrun.ActionGiveUp: "dead", surveyrun.ActionReturn: "returned", surveyrun.ActionStop: "returned",
}

// workerName returns the name of this worker: host and process id.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "somewhere"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// openQueue opens the queue of the server that the repositories share.
func openQueue(ctx context.Context, repos map[string]*repository, jobs int) (*queue.Queue, error) {
	var any *repository
	for _, any = range repos {
		break
	}
	if _, err := any.store.Pool(ctx); err != nil { // creates the tables of the store first
		return nil, err
	}
	return queue.Open(ctx, any.store.Config(), queue.Options{
		SaveRecords: func(ctx context.Context, tx queue.Tx, repository string, directories []*store.DirRecord, files []fresh.Record) error {
			return repos[repository].store.SaveRecordsTx(ctx, tx, directories, files)
		},
		SaveFailure: func(ctx context.Context, tx queue.Tx, repository string, f store.DirFailure) error {
			return repos[repository].store.SaveFailureTx(ctx, tx, f)
		},
		// River needs several connections, and each job one at a time.
		Connections: jobs + 6,
		Server:      any.store,
	})
}
