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
	"ken/internal/store/postgres"
	"ken/internal/surveyrun"
)

// work has this process describe directories of the repositories that dirs lie in, of dir
// when there are none, until it is told to end.
func work(ctx context.Context, dir string, opts cli.WorkOptions) error {
	dirs := opts.Repositories
	if len(dirs) == 0 {
		dirs = []string{dir}
	}
	shops := make(map[string]*workshop)
	defer func() {
		for _, s := range shops {
			s.wrote(context.WithoutCancel(ctx))
			s.close()
		}
	}()
	var first *workshop
	for _, d := range dirs {
		s, err := openWorkshop(ctx, d, opts, true)
		if err != nil {
			return err
		}
		if old := shops[s.identity]; old != nil {
			s.close() // two clones of one repository
			continue
		}
		shops[s.identity] = s
		if first == nil {
			first = s
		}
		if s.address != first.address {
			return &fault.Error{
				Kind: fault.Usage, Hint: "start a worker for each store",
				Err: fmt.Errorf("%s has another store than %s", d, dirs[0]),
			}
		}
		if s != first {
			s.store = first.store.Beside(s.identity) // nothing is connected yet
		}
	}
	q, err := openQueue(ctx, shops, opts.Jobs)
	if err != nil {
		return err
	}
	defer q.Close()
	describers := make(map[string]queue.Describer, len(shops))
	for name, s := range shops {
		describers[name] = s
	}
	opts.Ready(slices.Sorted(maps.Keys(shops)))
	return q.Work(ctx, queue.WorkOptions{
		Name: workerName(), Repositories: describers, Jobs: opts.Jobs, Lease: opts.Lease, Drain: opts.Drain, UntilIdle: opts.UntilIdle,
		Told: func(e queue.Event) { opts.Told(workEvent(e)) },
	})
}

// workEvent is what a worker tells of, in the words of the command line.
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
		out.What = fates[e.Fate]
	}
	return out
}

var fates = map[surveyrun.Fate]string{
	surveyrun.Again: "again", surveyrun.Refused: "refused", surveyrun.GivenUp: "dead", surveyrun.Back: "returned", surveyrun.Stop: "returned",
}

// workerName is what others see of this worker.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "somewhere"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// openQueue opens the queue that some repositories share.
func openQueue(ctx context.Context, shops map[string]*workshop, jobs int) (*queue.Queue, error) {
	var any *workshop
	for _, any = range shops {
		break
	}
	if _, err := any.store.Pool(ctx); err != nil { // its tables come first
		return nil, err
	}
	return queue.Open(ctx, any.store.Config(), queue.Options{
		Keep: func(ctx context.Context, tx queue.Tx, repository string, directories []*store.DirRecord, files []fresh.Record) error {
			return shops[repository].store.KeepDescribed(ctx, tx, directories, files)
		},
		Fail: func(ctx context.Context, tx queue.Tx, repository string, f store.DirFailure) error {
			return shops[repository].store.KeepFailed(ctx, tx, f)
		},
		// River listens on one and writes on others, and a job uses one at a time.
		Connections: jobs + 6,
		Server:      queueServer{any.store},
	})
}

// A queueServer is the server of a queue, of which the store knows what is wrong with it.
type queueServer struct{ *postgres.Store }

// Lacks implements [queue.Server].
func (s queueServer) Lacks(ctx context.Context, rights []queue.Right) (lacks, err error) {
	list := make([]postgres.Right, len(rights))
	for i, r := range rights {
		list[i] = postgres.Right(r)
	}
	return s.Store.Lacks(ctx, list)
}
