package survey

import (
	"ken/internal/repo"
	"ken/internal/store"
)

// A queue returns directories in the order of the plan. A directory is ready when all queued directories below it
// are done.
type queue struct {
	order    []*DirStatus
	waits    map[*Directory]int // number of queued directories below that are not done
	taken    map[*Directory]bool
	first    int // index in order; all before it are taken
	finished int
	total    int
	waiting  []leasedDir
}

// A leasedDir is a directory that is ready but leased by others.
type leasedDir struct {
	*DirStatus

	by store.Lease
}

// newQueue queues the wanted directories. A directory waits for all queued ones below it, even if their new texts
// do not affect it.
func newQueue(ts *treeStatus, wanted func(*DirStatus) bool) *queue {
	q := &queue{waits: make(map[*Directory]int), taken: make(map[*Directory]bool)}
	in := make(map[*Directory]bool)
	for _, d := range inOrder(ts.order) {
		if s := ts.status[d]; wanted(s) {
			in[d] = true
			q.order = append(q.order, s)
		}
	}
	for _, s := range q.order {
		if up := above(s.Dir, in); up != nil {
			q.waits[up]++
		}
	}
	q.total = len(q.order)
	return q
}

// above returns the nearest directory above that is in the queue.
func above(d *Directory, in map[*Directory]bool) *Directory {
	for up := d.Parent; up != nil; up = up.Parent {
		if in[up] {
			return up
		}
	}
	return nil
}

// next takes the first directory that is ready; nil if there is none.
func (q *queue) next() *DirStatus {
	for q.first < len(q.order) && q.taken[q.order[q.first].Dir] {
		q.first++
	}
	for _, s := range q.order[q.first:] {
		if !q.taken[s.Dir] && q.waits[s.Dir] == 0 {
			q.taken[s.Dir] = true
			return s
		}
	}
	return nil
}

// putAside keeps a taken directory until putBack, because of a lease.
func (q *queue) putAside(s *DirStatus, by store.Lease) {
	q.waiting = append(q.waiting, leasedDir{s, by})
}

// putBack makes the directories that were put aside ready again. It returns the leases that they
// waited for: of the directory itself, or of another one with the same input.
func (q *queue) putBack() []LeasedPath {
	var list []LeasedPath
	listed := make(map[repo.Path]bool)
	for _, a := range q.waiting {
		if a.by.Token == "" {
			a.by.Path = a.Dir.Path
		}
		if at := a.by.Path; !listed[at] {
			listed[at], list = true, append(list, leasedPath(a.by))
		}
		q.taken[a.Dir] = false
	}
	if len(q.waiting) > 0 {
		q.waiting, q.first = nil, 0
	}
	return list
}

// again makes a taken directory ready again.
func (q *queue) again(s *DirStatus) { q.taken[s.Dir], q.first = false, 0 }

// done marks a directory as finished: it was described, or needs no summary.
func (q *queue) done(s *DirStatus) {
	q.finished++
	for up := s.Dir.Parent; up != nil; up = up.Parent {
		if n, ok := q.waits[up]; ok {
			q.waits[up] = n - 1
			break
		}
	}
}

// left returns the number of directories that are not done.
func (q *queue) left() int { return q.total - q.finished }
