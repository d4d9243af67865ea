package review

import (
	"cmp"
	"fmt"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/repo"
)

// drift lists the specs that fail the gate.
func (j *judge) drift() error {
	if j.Gate == nil {
		return nil
	}
	for _, b := range j.Gate.Blocked {
		l := Line{Kind: Drift, Command: "ken spec show " + fault.Quote(b.Node)}
		l.place(repo.Path(b.Spec), 0)
		l.Subject = b.Node
		words := []textPart{prose("its files are")}
		switch more := len(b.Paths) - 1; {
		case more == 0:
			words = []textPart{data(b.Paths[0]), prose(" is")}
		case more > 0:
			words = []textPart{data(b.Paths[0]), prose(fmt.Sprintf(" and %d more are", more))}
		}
		words = append(words, prose(fmt.Sprintf(" %s ahead of the spec; the gate refuses the commit", english.Count(b.Drift, "commit"))))
		l.setText(words...)
		j.add(l)
	}
	for _, u := range j.Gate.Unknown {
		j.unknown(Drift, "drift is unknown: "+u.String(), cmp.Or(u.Command, "ken spec gate"))
	}
	return nil
}
