package board

import "ken/internal/surveyrun"

// Runs are the surveys that workers run, the newest first, and the spending of the
// server.
type Runs struct {
	Runs []surveyrun.Run `json:"runs"`
	Day  surveyrun.Day   `json:"day"`
}

// RunsPart returns runs as a part, or err as the reason why they are unknown.
func RunsPart(runs *Runs, err error) *Part[Runs] {
	p := part("runs", func() (*Runs, error) { return runs, err })
	return &p
}
