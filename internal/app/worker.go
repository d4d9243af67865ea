package app

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/queue"
	"ken/internal/store"
	"ken/internal/surveyrun"
)

// work summarises directories of the repositories in opts, or of the one at dir when there are
// none, until the context ends.
func work(ctx context.Context, dir string, opts cli.WorkOptions) error {
	dirs := opts.Repositories
	if len(dirs) == 0 {
		dirs = []string{dir}
	}
	repos := make(map[string]*workerRepo)
	defer func() {
		for _, s := range repos {
			s.markTeamChanged(context.WithoutCancel(ctx))
			s.close()
		}
	}()
	var first *workerRepo
	for _, d := range dirs {
		s, err := openWorkerRepo(ctx, d, opts, true)
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
		OnEvent: func(e queue.Event) { opts.OnEvent(workEvent(e)) },
	})
}

// workEvent translates an event of the queue for the command line.
func workEvent(e queue.Event) cli.WorkEvent {
	out := cli.WorkEvent{Run: e.Run, Path: e.Path, Err: e.Err, Delay: e.Delay}
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
func openQueue(ctx context.Context, repos map[string]*workerRepo, jobs int) (*queue.Queue, error) {
	var any *workerRepo
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
