// Package queuetest makes task lists for the tests and the benchmark of a queue.
package queuetest

import (
	"fmt"
	"path"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
)

// Tree returns the tasks of a tree of directories that all need a summary: widths[0] in the root,
// widths[1] in each of those, and so on. Their names are name0, name1 and so on.
func Tree(name string, widths ...int) *survey.TaskList {
	out := &survey.TaskList{}
	var add func(p repo.Path, widths []int)
	add = func(p repo.Path, widths []int) {
		here := survey.DirTask{Path: p, Work: true, Above: p.Dir(), Top: p == "", Rank: survey.RankNormal, Band: survey.RankNormal, Verdict: fresh.Verdict{State: fresh.None}}
		if len(widths) > 0 {
			here.Waits = widths[0]
			for i := range widths[0] {
				add(repo.Path(path.Join(string(p), fmt.Sprint(name, i))), widths[1:])
			}
		}
		out.Tasks, out.Work = append(out.Tasks, here), out.Work+1
	}
	add("", widths)
	return out
}
