package board

import "ken/internal/crew"

// Runs are the surveys that were handed out to workers, the newest first, and what their
// server may spend.
type Runs struct {
	Runs []crew.Run `json:"runs"`
	Day  crew.Day   `json:"day"`
}

// RunsPart is what was learnt of runs, or why it could not be.
func RunsPart(runs *Runs, err error) *Part[Runs] {
	p := part(func() (*Runs, error) { return runs, err })
	return &p
}

// Running are the runs that are under way, or stopped before the end.
func (r *Runs) Running() []crew.Run {
	var list []crew.Run
	for _, run := range r.Runs {
		if run.State != crew.Done && run.State != crew.Cancelled {
			list = append(list, run)
		}
	}
	return list
}
