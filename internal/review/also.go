package review

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// also adds a line with counts of minor results.
func (j *judge) also() error {
	l := Line{Kind: Also}
	var words []textPart
	if j.DirsAbove > 0 {
		noun := "directories above have"
		if j.DirsAbove == 1 {
			noun = "directory above has"
		}
		words = append(words, prose(fmt.Sprintf("%d %s a stale summary", j.DirsAbove, noun)))
		l.Command = "ken status"
	}
	elsewhere := slices.Sorted(maps.Keys(j.EditedElsewhere))
	if len(elsewhere) > 0 {
		if len(words) > 0 {
			words = append(words, prose(", "))
		}
		noun := "specs that other worktrees edit: "
		if len(elsewhere) == 1 {
			noun = "spec that another worktree edits: "
		}
		words = append(words, prose(fmt.Sprintf("%d %s", len(elsewhere), noun)))
		for i, id := range elsewhere {
			if i > 0 {
				words = append(words, prose(", "))
			}
			words = append(words, data(id), prose(" ("), data(strings.Join(j.EditedElsewhere[id], ", ")), prose(")"))
		}
	}
	l.setText(words...)
	if l.Text != "" {
		j.add(l)
	}
	return nil
}
