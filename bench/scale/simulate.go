package scale

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// Days says what is played.
type Days struct {
	Days  int
	Slots int // workers' jobs at once
	Seed  uint64
}

// Played is what came of it. Times are in seconds.
type Played struct {
	Commits int
	Fresh   int // commits of which everything that they made stale was written anew
	Looked  int // directories that were ready and needed nobody
	Calls   int // directories that the provider was asked about
	Early   int // of these: begun while one below was stale
	Own     float64
	Above   float64 // directories above, of a commit; both as drawn

	P50, P95, P99, Worst float64 // from the commit until everything is fresh
	WorstP95             float64 // of the repository that fared worst, among those with 20 commits or more
	WorstCommits         int     // of it
	QuietP95             float64 // of the repositories with a commit a day or less

	Backlog    int     // the most that were ready and had no slot
	PeakBusy   float64 // share of the slots, in the busiest hour
	Busy       float64 // the same, of all time
	MeanInside float64 // jobs ready or under way, by integration over time
	MeanStay   float64 // how long a job was that
	Rate       float64 // jobs in a second
}

// A tree of directories is not drawn but computed: the directory above i is (i-1)/branches,
// the root is 0.
const branches = 8

// Simulate plays days of commits, until everything is fresh again.
//
// Sizes of repositories are lognormal; a commit falls on one by its files to the power of
// CommitLean, at times that follow the hours of a working day, on directories near each
// other. It makes these stale and all above. Directories are described leaf first by so many
// slots; one that comes free goes to the repository that has the fewest, among equals to the
// one that was served least recently, as in ken worker. A directory above needs nobody when
// no text below it has changed its words. One that is stale again before it was begun is
// described once, one that is under way is described again.
func Simulate(a Assumptions, d Days) Played {
	s := &simulation{a: a, slots: d.Slots, free: d.Slots, rand: rand.New(rand.NewPCG(d.Seed, 1))}
	s.found()
	s.plan(d.Days)
	for len(s.events) > 0 {
		e := heap.Pop(&s.events).(event)
		s.pass(e.at)
		if e.node == nil {
			s.commit(e.commit)
		} else {
			s.end(e.node)
		}
		s.ripen()
		s.serve()
	}
	return s.played()
}

type simulation struct {
	a     Assumptions
	days  int
	slots int
	rand  *rand.Rand

	repos  []*repository
	weight []float64 // of repositories, summed up

	now    float64
	events events
	order  int // of what happens at the same time

	free    int
	waiting parties
	clock   int
	ripe    []*node // that may be ready

	commits []commit
	out     Played
	own     int
	above   int

	ready    int // without a slot
	inside   int // ready or under way
	integral float64
	stay     float64
	hours    []float64 // seconds of slots, by hour
}

type repository struct {
	id      int
	dirs    int
	nodes   map[int]*node
	queue   []*node // that are ready; what is not any more is passed over
	queued  int     // that really are
	running int
	served  int
	index   int // in the heap, -1 when it is in none
}

// A node is a directory that is stale.
type node struct {
	of      *repository
	dir     int
	state   state
	waits   int  // stale directories right below
	asks    bool // a provider has to be asked
	since   float64
	begun   float64
	waiters []int // commits that wait for it
	again   bool  // it became stale once more while it was under way
	next    []int
}

type state int

const (
	waits state = iota
	isReady
	running
)

type commit struct {
	at    float64
	repo  int
	left  int
	until float64
}

// found draws the repositories.
func (s *simulation) found() {
	n := int(s.a.Repositories)
	sum := 0.0
	for i := range n {
		// One of each part of the distribution: the sum of all files is then what was asked for, and
		// no draw decides how large the largest is.
		z := math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/float64(n)-1)
		files := s.a.median() * math.Exp(s.a.Spread*z)
		sum += math.Pow(files, s.a.CommitLean)
		s.weight = append(s.weight, sum)
		s.repos = append(s.repos, &repository{id: i, dirs: max(1, int(files/s.a.FilesPerDirectory)), nodes: make(map[int]*node), index: -1})
	}
}

// plan draws when commits come: over a part of the day that is as long as the peak is high.
func (s *simulation) plan(days int) {
	s.days = days
	window := min(2/s.a.Peak, 1) * day // the area of cos² is half of its width
	for d := range days {
		for range poisson(s.rand, s.a.Developers*s.a.Commits) {
			u := 0.0
			for {
				u = s.rand.Float64() - 0.5
				if c := math.Cos(math.Pi * u); s.rand.Float64() < c*c {
					break
				}
			}
			at := float64(d)*day + day/2 + u*window
			r, _ := slices.BinarySearch(s.weight, s.rand.Float64()*s.weight[len(s.weight)-1])
			s.push(event{at: at, commit: len(s.commits)})
			s.commits = append(s.commits, commit{at: at, repo: min(r, len(s.repos)-1)})
		}
	}
	s.hours = make([]float64, 24*days+1)
}

func poisson(r *rand.Rand, mean float64) int {
	return max(0, int(math.Round(mean+math.Sqrt(mean)*r.NormFloat64()))) // means are in the thousands
}

// commit makes directories stale.
func (s *simulation) commit(id int) {
	c := &s.commits[id]
	r := s.repos[c.repo]
	own := map[int]bool{}
	dir := s.rand.IntN(r.dirs)
	var list []int
	for {
		if !own[dir] {
			own[dir] = true
			list = append(list, dir)
		}
		if s.rand.Float64() < 1/s.a.Own || len(own) == r.dirs {
			break
		}
		dir = s.near(r, dir)
	}
	seen := map[int]bool{}
	for _, d := range list {
		s.touch(r, d, id, true, seen)
		for d > 0 {
			d = (d - 1) / branches
			if !own[d] {
				s.touch(r, d, id, false, seen)
			}
		}
	}
	s.own += len(list)
	s.above += len(seen) - len(list)
	s.out.Commits++
}

// near returns a directory beside another one: right above it, below it, or next to it.
func (s *simulation) near(r *repository, dir int) int {
	switch s.rand.IntN(3) {
	case 0:
		if dir > 0 {
			return (dir - 1) / branches
		}
	case 1:
		if below := dir*branches + 1 + s.rand.IntN(branches); below < r.dirs {
			return below
		}
	}
	if dir == 0 {
		return s.rand.IntN(r.dirs)
	}
	first := (dir-1)/branches*branches + 1
	return min(first+s.rand.IntN(branches), r.dirs-1)
}

// touch makes a directory stale, by its own files or by what lies below, for a commit.
func (s *simulation) touch(r *repository, dir, commit int, own bool, seen map[int]bool) {
	if seen[dir] {
		return
	}
	seen[dir] = true
	s.commits[commit].left++
	n := s.stale(r, dir)
	if n.state == running {
		n.again = true
		n.next = append(n.next, commit)
		if own {
			n.asks = true // the next time; this one is under way
		}
		return
	}
	n.waiters = append(n.waiters, commit)
	n.asks = n.asks || own
}

// stale returns a directory's node, and makes it and those above it if need be.
func (s *simulation) stale(r *repository, dir int) *node {
	if n := r.nodes[dir]; n != nil {
		return n
	}
	n := &node{of: r, dir: dir}
	r.nodes[dir] = n
	if dir > 0 {
		above := s.stale(r, (dir-1)/branches)
		above.waits++
		switch above.state {
		case isReady: // not any more
			above.state = waits
			r.queued--
			s.ready--
			s.leave(above)
			s.place(r)
		case running:
			above.again = true
		case waits:
		}
	}
	s.ripe = append(s.ripe, n)
	return n
}

// ripen makes those ready that wait for none any more, and ends those about which nobody has
// to be asked. It comes last of what happens at a moment: then all is known that a commit
// made stale.
func (s *simulation) ripen() {
	for len(s.ripe) > 0 {
		n := s.ripe[0]
		s.ripe = s.ripe[1:]
		if n.state != waits || n.waits > 0 || n.of.nodes[n.dir] != n {
			continue
		}
		if !n.asks {
			s.out.Looked++
			s.done(n, false)
			continue
		}
		n.state, n.since = isReady, s.now
		n.of.queue = append(n.of.queue, n)
		n.of.queued++
		s.ready++
		s.inside++
		s.out.Backlog = max(s.out.Backlog, s.ready-s.free)
		s.place(n.of)
	}
}

// serve gives free slots away.
func (s *simulation) serve() {
	for s.free > 0 && len(s.waiting) > 0 {
		r := s.waiting[0]
		n := r.queue[0]
		r.queue = r.queue[1:]
		if n.state != isReady || r.nodes[n.dir] != n {
			continue
		}
		if n.waits > 0 {
			s.out.Early++
		}
		s.free--
		s.clock++
		r.served, r.running, r.queued = s.clock, r.running+1, r.queued-1
		s.ready--
		s.place(r)
		n.state, n.begun, n.asks = running, s.now, false
		s.out.Calls++
		s.push(event{at: s.now + s.call(), node: n})
	}
}

// call draws how long a provider takes: a sum of two, so that short ones are rare and long
// ones are not.
func (s *simulation) call() float64 {
	return s.a.Latency / 2 * (s.rand.ExpFloat64() + s.rand.ExpFloat64())
}

// end ends a call.
func (s *simulation) end(n *node) {
	s.free++
	n.of.running--
	s.leave(n)
	s.spend(n.begun, s.now)
	s.place(n.of)
	n.state = waits
	changed := s.rand.Float64() >= s.a.Cutoff
	if !n.again {
		s.done(n, changed)
		return
	}
	s.release(n.waiters)
	n.waiters, n.next, n.again = n.next, nil, false
	if changed && n.dir > 0 {
		n.of.nodes[(n.dir-1)/branches].asks = true // which waits for this one still
	}
	s.ripe = append(s.ripe, n)
}

// done ends a directory: whoever waits for it hears of it.
func (s *simulation) done(n *node, changed bool) {
	delete(n.of.nodes, n.dir)
	s.release(n.waiters)
	if n.dir == 0 {
		return
	}
	above := n.of.nodes[(n.dir-1)/branches]
	above.waits--
	above.asks = above.asks || changed
	s.ripe = append(s.ripe, above)
}

func (s *simulation) release(commits []int) {
	for _, id := range commits {
		c := &s.commits[id]
		if c.left--; c.left == 0 {
			c.until = s.now
			s.out.Fresh++
		}
	}
}

// leave takes a job out of those that are ready or under way.
func (s *simulation) leave(n *node) {
	s.inside--
	s.stay += s.now - n.since
}

// pass lets time pass.
func (s *simulation) pass(now float64) {
	s.integral += float64(s.inside) * (now - s.now)
	s.now = now
}

// spend puts a slot's time down to the hours it fell in.
func (s *simulation) spend(from, to float64) {
	for from < to {
		h := int(from / 3600)
		until := min(to, float64(h+1)*3600)
		for h >= len(s.hours) {
			s.hours = append(s.hours, 0)
		}
		s.hours[h] += until - from
		from = until
	}
}

func (s *simulation) played() Played {
	p := s.out
	var all []float64
	by := make(map[int][]float64)
	for _, c := range s.commits {
		all = append(all, c.until-c.at)
		by[c.repo] = append(by[c.repo], c.until-c.at)
	}
	slices.Sort(all)
	p.P50, p.P95, p.P99, p.Worst = rank(all, 0.5), rank(all, 0.95), rank(all, 0.99), rank(all, 1)
	var quiet []float64
	for _, r := range s.repos {
		list := by[r.id]
		if len(list) <= s.days {
			quiet = append(quiet, list...)
		}
		if len(list) < 20 {
			continue
		}
		slices.Sort(list)
		if v := rank(list, 0.95); v > p.WorstP95 {
			p.WorstP95, p.WorstCommits = v, len(list)
		}
	}
	slices.Sort(quiet)
	p.QuietP95 = rank(quiet, 0.95)
	p.Own, p.Above = float64(s.own)/float64(p.Commits), float64(s.above)/float64(p.Commits)
	busy := 0.0
	for _, h := range s.hours {
		busy += h
		p.PeakBusy = max(p.PeakBusy, h/3600/float64(s.slots))
	}
	p.Busy = busy / s.now / float64(s.slots)
	p.MeanInside = s.integral / s.now
	p.MeanStay = s.stay / float64(p.Calls)
	p.Rate = float64(p.Calls) / s.now
	return p
}

// rank returns the nearest rank of a sorted list, 0 for none.
func rank(list []float64, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return list[max(0, int(math.Ceil(q*float64(len(list))))-1)]
}

// An event is a commit, or the end of a call.
type event struct {
	at     float64
	order  int
	commit int
	node   *node // whose call ends
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if e[i].at != e[j].at {
		return e[i].at < e[j].at
	}
	return e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (s *simulation) push(e event) {
	s.order++
	e.order = s.order
	heap.Push(&s.events, e)
}

// parties are the repositories that have something ready, whose turn it is first.
type parties []*repository

func (p parties) Len() int { return len(p) }
func (p parties) Less(i, j int) bool {
	if p[i].running != p[j].running {
		return p[i].running < p[j].running
	}
	if p[i].served != p[j].served {
		return p[i].served < p[j].served
	}
	return p[i].id < p[j].id
}

func (p parties) Swap(i, j int) {
	p[i], p[j] = p[j], p[i]
	p[i].index, p[j].index = i, j
}

func (p *parties) Push(x any) {
	r := x.(*repository)
	r.index = len(*p)
	*p = append(*p, r)
}

func (p *parties) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	last.index = -1
	return last
}

// place puts a repository where it belongs among those that wait.
func (s *simulation) place(r *repository) {
	switch {
	case r.queued > 0 && r.index < 0:
		heap.Push(&s.waiting, r)
	case r.queued > 0:
		heap.Fix(&s.waiting, r.index)
	case r.index >= 0:
		heap.Remove(&s.waiting, r.index)
	}
}
