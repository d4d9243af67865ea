package survey

import (
	"ken/internal/repo"
	"ken/internal/store"
)

// A queue hands out directories in the order of the plan, each once all below it that
// are to be worked on are done.
type queue struct {
	order    []*DirStatus // of those to be worked on
	waits    map[*Directory]int
	taken    map[*Directory]bool
	first    int // of order: all before it are taken
	finished int
	total    int
	waiting  []heldStanding
}

// A heldStanding is a directory that is ready and in other hands.
type heldStanding struct {
	*DirStatus

	by store.Lease
}

// newQueue queues the directories that are to be worked on. Those above one of them
// wait for it, whether or not they turn out to be touched by it.
func newQueue(j *judgement, wanted func(*DirStatus) bool) *queue {
	q := &queue{waits: make(map[*Directory]int), taken: make(map[*Directory]bool)}
	in := make(map[*Directory]bool)
	for _, d := range inOrder(j.order) {
		if s := j.at[d]; wanted(s) {
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

// next takes the first directory that is ready, nil when none is.
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

// putAside has a directory that was taken wait until putBack.
func (q *queue) putAside(s *DirStatus, by store.Lease) {
	q.waiting = append(q.waiting, heldStanding{s, by})
}

// putBack makes the directories that were put aside ready again. It returns the leases that they
// waited for: of the directory itself, or of another one with the same input.
func (q *queue) putBack() []HeldPath {
	var list []HeldPath
	told := make(map[repo.Path]bool)
	for _, a := range q.waiting {
		if a.by.Token == "" {
			a.by.Path = a.Dir.Path
		}
		if at := a.by.Path; !told[at] {
			told[at], list = true, append(list, heldPath(a.by))
		}
		q.taken[a.Dir] = false
	}
	if len(q.waiting) > 0 {
		q.waiting, q.first = nil, 0
	}
	return list
}

// again has a directory that was taken be ready again.
func (q *queue) again(s *DirStatus) { q.taken[s.Dir], q.first = false, 0 }

// done says that a directory was worked on, or need not be.
func (q *queue) done(s *DirStatus) {
	q.finished++
	for up := s.Dir.Parent; up != nil; up = up.Parent {
		if n, ok := q.waits[up]; ok {
			q.waits[up] = n - 1
			break
		}
	}
}

// left is how many are not done.
func (q *queue) left() int { return q.total - q.finished }
