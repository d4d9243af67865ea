// Package queuetest makes work for a queue, for its tests and its benchmark.
package queuetest

import (
	"fmt"
	"path"

	"ken/internal/repo"
	"ken/internal/survey"
)

// Tree returns a tree of directories, all of which are to be described: so many in the root,
// so many in each of those, and so on. They are called name0, name1 and so on.
func Tree(name string, widths ...int) *survey.Handout {
	out := &survey.Handout{}
	var add func(p repo.Path, widths []int)
	add = func(p repo.Path, widths []int) {
		here := survey.Portion{Path: p, Work: true, Above: p.Dir(), Top: p == "", Rank: survey.RankNormal, Band: survey.RankNormal, Verdict: survey.None}
		if len(widths) > 0 {
			here.Waits = widths[0]
			for i := range widths[0] {
				add(repo.Path(path.Join(string(p), fmt.Sprint(name, i))), widths[1:])
			}
		}
		out.Portions, out.Work = append(out.Portions, here), out.Work+1
	}
	add("", widths)
	return out
}
