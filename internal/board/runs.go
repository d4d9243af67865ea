package board

import "ken/internal/surveyrun"

// Runs are the surveys that were handed out to workers, the newest first, and what their
// server may spend.
type Runs struct {
	Runs []surveyrun.Run `json:"runs"`
	Day  surveyrun.Day   `json:"day"`
}

// RunsPart is what was learnt of runs, or why it could not be.
func RunsPart(runs *Runs, err error) *Part[Runs] {
	p := part(func() (*Runs, error) { return runs, err })
	return &p
}

// Running are the runs that are under way, or stopped before the end.
func (r *Runs) Running() []surveyrun.Run {
	var list []surveyrun.Run
	for _, run := range r.Runs {
		if run.State != surveyrun.Done && run.State != surveyrun.Cancelled {
			list = append(list, run)
		}
	}
	return list
}
